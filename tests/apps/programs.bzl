# SPDX-License-Identifier: Apache-2.0
"""The two kinds of programs in this folder."""

load("//scripts/bazel:defs.bzl", "PTDS_COPTS")

_CODE = [
    "-gencode arch=compute_75,code=sm_75",
    "-gencode arch=compute_90,code=sm_90",
    "-gencode arch=compute_75,code=compute_75",  # PTX, for every other GPU
]

def driver_program(name, more = []):
    """name.c, linked to libcuda.so.1 through a stub; and name_twice, which launches each kernel twice (twice.h)."""
    native.cc_binary(
        name = name,
        srcs = [name + ".c"] + more,
        copts = PTDS_COPTS,
        deps = [
            ":app",
            "@cuda//:driver_stub",
            "@cuda//:headers",
        ],
    )
    native.cc_binary(
        name = name + "_twice",
        testonly = True,
        srcs = [name + ".c", "twice.h"] + more,
        copts = PTDS_COPTS + ["-include", "tests/apps/twice.h"],
        deps = [
            ":app_twice",
            "@cuda//:driver_stub",
            "@cuda//:headers",
        ],
    )

def cudart_program(name, src, options = []):
    """A .cu program, compiled by nvcc and linked to the static cudart of its toolkit."""
    native.genrule(
        name = name + "_object",
        srcs = [src],
        outs = [name + ".o"],
        cmd = " ".join(
            ["$(execpath @cuda//:nvcc) -c -O2 -std=c++17 -Xcompiler -fPIC"] +
            _CODE + options + ["$(location %s) -o $@" % src],
        ),
        tags = ["manual"],
        tools = ["@cuda//:nvcc"],
    )
    native.cc_binary(
        name = name,
        srcs = [name + ".o"],
        tags = ["manual"],
        deps = ["@cuda//:nvcc_cudart_static"],
    )

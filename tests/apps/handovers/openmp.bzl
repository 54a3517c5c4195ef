# SPDX-License-Identifier: Apache-2.0
"""handovers_openmp.c by a compiler of its own, whichever the rest is built with: gcc and clang each have their OpenMP library."""

load("//scripts/bazel:defs.bzl", "PTDS_COPTS")

# Whether the compiler has OpenMP, its library included.
_TRY = "echo '#include <omp.h>\nint main(void) { return omp_get_thread_num(); }' | $$with -fopenmp -x c -o try - 2>try.log"

# Built for another architecture: its gcc alone.
_CROSS = "aarch64-linux-gnu-gcc"

def _either(command, compiler):
    """`command` with two %s: the compiler that has OpenMP, and the one that has it not."""
    return select({
        "//scripts/bazel:aarch64": command % (_CROSS if compiler == "gcc" else "false", _CROSS),
        "//conditions:default": command % (compiler, "cc"),
    })

def openmp_program(name, compiler, linkopts = [], libraries = []):
    """A program; where there is no such compiler, it says so when it runs."""
    native.genrule(
        name = name + "_object",
        srcs = [
            "handovers.h",
            "handovers_openmp.c",
            "//tests/apps:app.h",
            "@cuda//:driver_header",
        ],
        outs = [name + ".o"],
        cmd = _either(" ".join([
            "with=%s; without=%s;",
            "if", _TRY, ";",
            "then compiler=\"$$with -fopenmp\"; else compiler=\"$$without -Wno-unknown-pragmas\"; fi;",
            "$$compiler -std=gnu11 -O2 -fPIC -Wall -Wextra -Werror -I. -isystem $$(dirname $(location @cuda//:driver_header))",
            "-c $(location handovers_openmp.c) -o $@",
        ]), compiler),
    )
    native.cc_binary(
        name = name,
        srcs = [name + ".o"] + libraries,
        copts = PTDS_COPTS,
        linkopts = linkopts,
        deps = [
            ":table",
            "@cuda//:driver_stub",
        ],
    )

def openmp_library(name, compiler, soname):
    """The compiler's shared OpenMP library; an empty one of that name where there is none."""
    native.genrule(
        name = name,
        outs = [soname],
        cmd = _either(" ".join([
            "with=%s; without=%s;",
            "if", _TRY, ";",
            "then cp -L $$(ldd ./try | sed -n 's/.*" + soname + " => \\([^ ]*\\).*/\\1/p') $@;",
            "else $$without -shared -Wl,-soname," + soname + " -x c /dev/null -o $@; fi",
        ]), compiler),
    )

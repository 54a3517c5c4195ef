# SPDX-License-Identifier: Apache-2.0
"""What the build takes of CUDA as a repository: headers, the runtime, a library to link against; and nvcc where there is one.

Headers and runtime are those that scripts/setup unpacked into .cuda/, whatever else is installed, so that every machine builds the
same. PTDS_CUDA_HEADERS names a toolkit whose are taken instead. nvcc comes from a toolkit, with the runtime of that toolkit.
"""

_MINIMUM = 13000
_UNPACKED = "CUDA's headers are not here: run scripts/setup, or set PTDS_CUDA_HEADERS to a toolkit's folder"

def _version(ctx, home):
    header = home.get_child("include").get_child("cuda.h")
    if not header.exists:
        return 0
    after = ctx.read(header).partition("#define CUDA_VERSION ")[2]
    return int(after.partition("\n")[0].strip() or "0")

def _libraries(home):
    """The files of a toolkit's, or the packages', library folder."""
    for name in ["lib64", "lib"]:
        if home.get_child(name).get_child("libcudart_static.a").exists:
            return home.get_child(name).readdir()
    return []

def _headers(ctx):
    named = ctx.os.environ.get("PTDS_CUDA_HEADERS")
    if named:
        if _version(ctx, ctx.path(named)) < _MINIMUM or not _libraries(ctx.path(named)):
            fail("PTDS_CUDA_HEADERS: no headers and runtime of CUDA 13.0 or later in " + named)
        return ctx.path(named)
    pins = ctx.path(Label("//scripts/cuda:requirements.txt"))
    home = pins.dirname.dirname.dirname.get_child(".cuda")
    unpacked = home.get_child("requirements.txt")
    if not unpacked.exists or ctx.read(unpacked) != ctx.read(pins):
        fail(_UNPACKED)
    return home

def _nvcc(ctx):
    homes = [ctx.path(ctx.os.environ["CUDA_HOME"])] if ctx.os.environ.get("CUDA_HOME") else []
    in_path = ctx.which("nvcc")
    if in_path:
        homes.append(in_path.realpath.dirname.dirname)
    homes.append(ctx.path("/usr/local/cuda"))
    others = [home.basename for home in ctx.path("/usr/local").readdir() if home.basename.startswith("cuda-")]
    homes += [ctx.path("/usr/local/" + name) for name in sorted(others, reverse = True)]
    for home in homes:
        if _version(ctx, home) >= _MINIMUM and home.get_child("bin").get_child("nvcc").exists:
            return home
    return None

_WRAPPER = """#!/bin/sh
# nvcc finds its parts beside itself, so it is called where it is.
exec {} "$@"
"""

_WITHOUT = """#!/bin/sh
echo "no nvcc here: not in CUDA_HOME, PATH or /usr/local/cuda" >&2
exit 1
"""

def _cuda_impl(ctx):
    headers = _headers(ctx)
    nvcc = _nvcc(ctx)
    ctx.symlink(headers.get_child("include"), "include")
    ctx.file("BUILD", ctx.read(ctx.attr._build_file))

    # Only these: a glob over the whole folder would walk gigabytes of maths libraries.
    for library in _libraries(headers):
        # libcudart.so.13, the SONAME; not the longer libcudart.so.13.0.48 that it points to.
        soname = library.basename.startswith("libcudart.so.") and library.basename.count(".") == 2
        if soname or library.basename == "libcudart_static.a":
            ctx.symlink(library, "lib/" + library.basename)

    archives = [library for library in _libraries(nvcc or headers) if library.basename == "libcudart_static.a"]
    archives += [library for library in _libraries(headers) if library.basename == "libcudart_static.a"]
    ctx.symlink(archives[0], "toolkit/libcudart_static.a")
    ctx.file("toolkit/nvcc", _WRAPPER.format(nvcc.get_child("bin").get_child("nvcc")) if nvcc else _WITHOUT, executable = True)
    ctx.file("nvcc.bzl", "HAVE_NVCC = %s\n" % bool(nvcc))

cuda = repository_rule(
    implementation = _cuda_impl,
    attrs = {
        "_build_file": attr.label(default = "//scripts/bazel:cuda.BUILD", allow_single_file = True),
    },
    doc = "nvcc.bzl in it says whether there is an nvcc: HAVE_NVCC.",
    environ = [
        "CUDA_HOME",
        "PATH",
        "PTDS_CUDA_HEADERS",
    ],
    local = True,
)

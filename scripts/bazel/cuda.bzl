# SPDX-License-Identifier: Apache-2.0
"""The CUDA toolkit (headers, cudart, driver stub) as a repository."""

_WANTED = "the CUDA toolkit 13.0 or later was not found: set CUDA_HOME, or run scripts/setup"

def _candidates(ctx):
    found = []
    home = ctx.os.environ.get("CUDA_HOME")
    if home:
        found.append(ctx.path(home))
    found.append(ctx.path("/usr/local/cuda"))
    nvcc = ctx.which("nvcc")
    if nvcc:
        found.append(nvcc.realpath.dirname.dirname)
    return found

def _version(ctx, home):
    header = home.get_child("include").get_child("cuda.h")
    if not header.exists:
        return 0
    after = ctx.read(header).partition("#define CUDA_VERSION ")[2]
    return int(after.partition("\n")[0].strip() or "0")

def _library_folder(home):
    for name in ["lib64", "lib"]:
        if home.get_child(name).get_child("libcudart_static.a").exists:
            return home.get_child(name)
    return None

def _cuda_toolkit_impl(ctx):
    fits = [home for home in _candidates(ctx) if _version(ctx, home) >= 13000 and _library_folder(home)]
    if not fits:
        fail(_WANTED)
    libraries = _library_folder(fits[0])
    ctx.symlink(fits[0].get_child("include"), "include")
    ctx.file("BUILD", ctx.read(ctx.attr._build_file))

    # Only these: a glob over the whole folder would walk gigabytes of maths libraries.
    for library in libraries.readdir():
        # libcudart.so.13, the SONAME; not the longer libcudart.so.13.0.48 that it points to.
        soname = library.basename.startswith("libcudart.so.") and library.basename.count(".") == 2
        if soname or library.basename == "libcudart_static.a":
            ctx.symlink(library, "lib/" + library.basename)
    ctx.symlink(libraries.get_child("stubs").get_child("libcuda.so"), "lib/stubs/libcuda.so")

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    attrs = {
        "_build_file": attr.label(default = "//scripts/bazel:cuda.BUILD", allow_single_file = True),
    },
    doc = "Looks in CUDA_HOME, /usr/local/cuda and beside nvcc.",
    environ = ["CUDA_HOME"],
    local = True,
)

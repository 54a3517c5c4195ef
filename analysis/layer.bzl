# SPDX-License-Identifier: Apache-2.0
"""A layer of analysis/: a folder whose files may include what its `deps` hold, and nothing else."""

load("//scripts/bazel:defs.bzl", "PTDS_COPTS")

def layer(name, deps, srcs = None, hdrs = None, private = [], gnu = False, copts = [], **kwargs):
    """A library of a folder of that name, or of the files given.

    Compilation sees only declared headers (the sandbox has no others), so an include from a layer that is not among `deps`, directly
    or through them, does not build.

    Args:
      name: of the target, and of the folder where no files are given.
      deps: the layers above, and libraries.
      srcs: files; the folder's by default.
      hdrs: files; the folder's by default, but for the private ones.
      private: headers for the layer's own files only.
      gnu: whether it may use more than POSIX; what the shim links may not.
      copts: more options.
      **kwargs: of cc_library.
    """
    native.cc_library(
        name = name,
        srcs = (native.glob([name + "/**/*.c"]) if srcs == None else srcs) + private,
        hdrs = native.glob([name + "/**/*.h"], exclude = private) if hdrs == None else hdrs,
        # Millions of records a second go through it.
        copts = PTDS_COPTS + (["-D_GNU_SOURCE"] if gnu else []) + copts + select({
            "//analysis:opt": [
                "-O3",
                "-fomit-frame-pointer",
            ],
            "//conditions:default": [],
        }),
        # Static, because rules are found through a linker section of the binary they are in.
        linkstatic = True,
        deps = deps,
        **kwargs
    )

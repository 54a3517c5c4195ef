# SPDX-License-Identifier: Apache-2.0
"""Links what leaves this machine so that a glibc as old as 2.17 takes it, however new the one here is.

Two means, because archives of other projects have to follow, too. What has another name today (stat, fcntl64, __isoc23_strtol)
the linker sends to a function of this folder. What was in another library then (pthread_create, dlopen) the linker finds first
in a library without code, made here, that has it as old systems have it. What has a new version in the same library (exp) the
linker finds in command.c.

In which library is not a matter of taste: before 2.30 the loader looks for a version's symbols up to the library that they were
found in here, and no further.
"""

load("//scripts/bazel:defs.bzl", "PTDS_COPTS")

def _wrapped(names):
    return ["-Wl,--wrap=" + name for name in names]

_FILES = _wrapped([
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "__isoc23_sscanf",
    "fcntl64",
    "fstat",
    "fstat64",
    "lstat",
    "lstat64",
    "stat",
    "stat64",
])

# The shim refers to no thread and no function of the loader. It goes with //scripts/glibc:files.
FLOOR_OF_LIBRARY = _FILES

# 64-bit Arm has had every function from one version on.
_FIRST_ON_ARM = "GLIBC_2.17"

# Where old systems have them, by version, on x86-64.
OLD_THREADS = {
    "GLIBC_2.2.5": [
        "pthread_create",
        "pthread_detach",
        "pthread_join",
        "pthread_mutex_trylock",
        "pthread_mutexattr_destroy",
        "pthread_mutexattr_init",
        "pthread_mutexattr_settype",
        "pthread_once",
        "pthread_rwlock_destroy",
        "pthread_rwlock_init",
        "pthread_rwlock_rdlock",
        "pthread_rwlock_tryrdlock",
        "pthread_rwlock_unlock",
        "pthread_rwlock_wrlock",
    ],
}
OLD_LOADER = {
    "GLIBC_2.2.5": [
        "dladdr",
        "dlclose",
        "dlerror",
        "dlopen",
        "dlsym",
        "dlvsym",
    ],
    "GLIBC_2.3.3": ["dlinfo"],
}

# With FLOOR_OF_COMMAND_FILES beside the command, and with //scripts/glibc:command. Names of C++ are read by the archive's function.
FLOOR_OF_COMMAND_FILES = ["//scripts/glibc:libpthread.so.0", "//scripts/glibc:libdl.so.2"]
FLOOR_OF_COMMAND = _FILES + ["-Wl,--wrap=main", "-l:libstdc++.a", "-Wl,--no-as-needed"] + [
    "$(location %s)" % file
    for file in FLOOR_OF_COMMAND_FILES
] + ["-lm", "-Wl,--as-needed"]

def old_library(name, versions):
    """A library without code that has these functions under these versions; only linkers see it.

    Args:
      name: its file name and its SONAME.
      versions: functions by version, on x86-64.
    """
    source = name + ".c"
    script = name + ".lds"
    functions = [function for names in versions.values() for function in names]
    native.genrule(
        name = name + "_files",
        outs = [source, script],
        cmd = "\n".join(
            ["case $$($(CC) -dumpmachine) in aarch64*) echo '%s { global: %s; };' >$(location %s) ;; *)" % (_FIRST_ON_ARM, "; ".join(functions), script)] +
            ["echo '%s { global: %s; };' >>$(location %s)" % (version, "; ".join(names), script) for version, names in versions.items()] +
            ["esac"] +
            ["echo 'void %s(void); void %s(void) {}' >>$(location %s)" % (function, function, source) for function in functions],
        ),
        toolchains = ["@bazel_tools//tools/cpp:current_cc_toolchain"],
    )
    native.cc_binary(
        name = name,
        srcs = [source],
        additional_linker_inputs = [script],
        # Everything is visible, and nobody's prototypes matter.
        copts = PTDS_COPTS + ["-fno-builtin", "-fvisibility=default"],
        linkopts = [
            "-nostdlib",
            "-Wl,-soname," + name,
            "-Wl,--version-script,$(location %s)" % script,
        ],
        linkshared = True,
    )

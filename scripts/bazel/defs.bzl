# SPDX-License-Identifier: Apache-2.0
"""Compiler and linker options that every target of the project uses."""

PTDS_VERSION = "1.0.0"

# What packages say of themselves: who made it, and where it is published ("https://...", no slash at the end; empty: they do not say).
PTDS_AUTHOR = "The libptds maintainers"
PTDS_URL = ""

# local_defines of the file that prints it.
PTDS_VERSION_DEFINES = ["PTDS_VERSION=\\\"" + PTDS_VERSION + "\\\""]

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Werror",
]

# C, built as gnu11 (.bazelrc).
PTDS_COPTS = _WARNINGS + [
    "-Wmissing-prototypes",
    "-Wstrict-prototypes",
    "-fvisibility=hidden",
]

# C++, built as c++17 (.bazelrc).
PTDS_CXXOPTS = _WARNINGS + [
    "-fvisibility=hidden",
]

# Shared objects: an undefined symbol is a link error, not a surprise at load.
PTDS_LINKOPTS = [
    "-Wl,-z,defs",
    "-Wl,--as-needed",
]

# Shared objects: other projects' functions inside them are theirs alone. The program may have other versions of these.
HIDE_SYSTEM_ARCHIVES = ["-Wl,--exclude-libs,liblz4.a:libzstd.a"]

# SPDX-License-Identifier: Apache-2.0
"""Targets built with other projects' libraries inside them, as scripts/dist builds what leaves this machine, for tests of that."""

_ARCHIVES = "@system_libs//:archives"
_MODE = "//command_line_option:compilation_mode"

def _portable(settings, attr):
    return {_ARCHIVES: True, _MODE: "opt"}

_to_portable = transition(
    implementation = _portable,
    inputs = [],
    outputs = [
        _ARCHIVES,
        _MODE,
    ],
)

def _portable_files(ctx):
    files = depset(transitive = [target[DefaultInfo].files for target in ctx.attr.srcs])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

portable_files = rule(
    implementation = _portable_files,
    attrs = {
        "srcs": attr.label_list(cfg = _to_portable),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)

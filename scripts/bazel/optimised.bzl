# SPDX-License-Identifier: Apache-2.0
"""Targets built with -c opt whatever the build is, for tests that measure."""

def _opt(settings, attr):
    return {"//command_line_option:compilation_mode": "opt"}

_to_opt = transition(
    implementation = _opt,
    inputs = [],
    outputs = ["//command_line_option:compilation_mode"],
)

def _optimised_files(ctx):
    files = depset(transitive = [target[DefaultInfo].files for target in ctx.attr.srcs])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

optimised_files = rule(
    implementation = _optimised_files,
    attrs = {
        "srcs": attr.label_list(cfg = _to_opt),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)

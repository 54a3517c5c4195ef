# SPDX-License-Identifier: Apache-2.0
"""A choice on Bazel's command line, which a transition can make, too."""

def _flag(ctx):
    return []

bool_flag = rule(
    implementation = _flag,
    build_setting = config.bool(flag = True),
)

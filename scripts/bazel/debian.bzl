# SPDX-License-Identifier: Apache-2.0
"""Repositories for Debian's bazel-bootstrap 4.2.3, which must not download.

That build carries no version ("" or "no_version"); a released Bazel names its own and brings or fetches the released rules instead.
"""

_FROM_PACKAGES = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "platforms": "/usr/share/bazel/platforms",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

# Debian's rules_cc does not load in its own Bazel; coverage tools are not packaged.
_STAND_INS = ["remote_coverage_tools", "rules_cc"]

def _is_distribution_build():
    version = getattr(native, "bazel_version", "")
    return not version or not version[0].isdigit()

def debian_repositories():
    if not _is_distribution_build():
        return
    for name, path in _FROM_PACKAGES.items():
        native.local_repository(name = name, path = path)
    for name in _STAND_INS:
        native.local_repository(name = name, path = "scripts/bazel/" + name)

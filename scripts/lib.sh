# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder: source it first.
# It moves to the root of the checkout, so that every script works from any folder.
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

BAZEL=${BAZEL:-bazel}

say() { printf '%s\n' "$*"; }

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

project_version() { sed -n 's/^PTDS_VERSION = "\(.*\)"$/\1/p' scripts/bazel/defs.bzl; }

# A folder that goes away when the script ends.
scratch_folder() {
    SCRATCH=$(mktemp -d)
    trap 'rm -rf "$SCRATCH"' EXIT
}

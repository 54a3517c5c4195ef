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

# Whether CUDA's headers are in this folder, 13.0's or later ones.
has_cuda() {
    local version
    version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$1/include/cuda.h" 2>/dev/null || true)
    [[ -n $version && $version -ge 13000 ]]
}

# Prints the folder of a CUDA toolkit, or nothing: where scripts/bazel/cuda.bzl looks for nvcc.
find_toolkit() {
    local nvcc home
    nvcc=$(command -v nvcc || true)
    for home in "${CUDA_HOME:-}" "${nvcc:+$(dirname "$(dirname "$(readlink -f "$nvcc")")")}" /usr/local/cuda /usr/local/cuda-*; do
        if [[ -n $home ]] && has_cuda "$home"; then
            echo "$home"
            return
        fi
    done
}

# As the build sees it (scripts/bazel/cuda.bzl); after scripts/setup.
have_nvcc() { "$BAZEL" run --noshow_progress --show_result=0 @cuda//:nvcc -- --version >/dev/null 2>&1; }

# A folder that goes away when the script ends.
scratch_folder() {
    SCRATCH=$(mktemp -d)
    trap 'rm -rf "$SCRATCH"' EXIT
}

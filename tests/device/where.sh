# SPDX-License-Identifier: Apache-2.0
# Finds the shim, the programs and the driver, in a checkout that Bazel has built and in an unpacked tarball alike.
# Sourced by scripts/gpu, scripts/bench and scripts/demo; moves to the root.
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

# The first of its arguments that exists, as an absolute path; nothing if none does.
first_of() {
    local path
    for path in "$@"; do
        if [[ -e $path ]]; then
            realpath -s "$path"
            return 0
        fi
    done
    return 1
}

find_shim() { first_of "${PTDS_LIBRARY:-}" lib/libptds.so interpose/libptds.so bazel-bin/interpose/libptds.so; }
find_command() { first_of bin/ptds analysis/ptds bazel-bin/analysis/ptds; }

# A shim that is built with a sanitizer cannot be preloaded into plain programs.
is_sanitized() { grep -aqE '__(a|t)san_init' "$1"; }

# A test program by its path below tests/; BUILT is where scripts/gpu puts what it compiled itself.
find_program() { first_of "tests/$1" "bazel-bin/tests/$1" ${BUILT:+"$BUILT/$(basename "$1")"}; }

find_simulator() {
    local library
    library=$(first_of tests/sim/libcuda.so.1 bazel-bin/tests/sim/libcuda.so.1) && dirname "$library"
}

# LD_LIBRARY_PATH as it is, and where the toolkit keeps libcupti.so.
path_with_cupti() {
    local path=${LD_LIBRARY_PATH:-} folder
    for folder in /usr/local/cuda*/extras/CUPTI/lib64 /usr/local/cuda*/targets/*/lib; do
        [[ ! -e $folder/libcupti.so ]] || path+=${path:+:}$folder
    done
    echo "$path"
}

# Whether ordinary CUDA programs run here as things are.
have_gpu() {
    [[ -e /dev/nvidia0 || -e /dev/dxg ]] || nvidia-smi -L >/dev/null 2>&1 || return 1
    timeout 60 "$(find_program apps/overlap)" 1 1 1000 2>/dev/null | grep -q '^OK'
}

# Without a GPU: the simulated driver instead, for every program from here on.
use_simulator() {
    local folder
    folder=$(find_simulator) || return 1
    export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

gpu_name() {
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1 | sed 's/, / with driver /' || true
}

# with_policy POLICY [VARIABLE=value...] program args...: `bare` runs without the shim.
with_policy() {
    local policy=$1
    shift
    if [[ $policy == bare ]]; then
        env -u LD_PRELOAD "$@"
    else
        env "LD_PRELOAD=$SHIM${LD_PRELOAD:+:$LD_PRELOAD}" "PTDS_POLICY=$policy" "$@"
    fi
}

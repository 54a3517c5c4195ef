# SPDX-License-Identifier: Apache-2.0
# scripts/bench programs: whole programs. One that is compiled with --default-stream per-thread is the yardstick of the
# unmodified one under the shim; and a PyTorch training step, recorded and not.
# shellcheck shell=bash

PROGRAMS_IN=(bare per-thread/off guarded/off)

# one_program ROW CONFIGURATION REPETITION program arguments...
one_program() {
    local row=$1 configuration=$2 repetition=$3
    shift 3
    attempt "${configuration/#recompiled/bare}" "$@" || return 0
    sample "programs.$ON" "$row" "$configuration" "$repetition" "$(said time_ms)"
}

# overlap ROW REPETITION THREADS KERNELS NS ONLY_KERNELS
overlap() {
    local row=$1/$3 repetition=$2 configuration
    shift 2
    [[ -z $recompiled ]] || one_program "$row" recompiled "$repetition" "$recompiled" "$@"
    for configuration in "${PROGRAMS_IN[@]}"; do
        one_program "$row" "$configuration" "$repetition" "$program" "$@"
    done
}

torch_steps() {
    local repetition configuration
    if ! python3 -c 'import numpy, torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        left_out "programs: no PyTorch step: python3 has no numpy and torch that see a GPU"
        return 0
    fi
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for configuration in bare observe; do
            one_program "torch-step" "$configuration" "$repetition" python3 tests/bench/torch_steps.py "$(of_size 200 10)"
        done
    done
}

part_programs() {
    local ON=$1 program recompiled repetition threads
    [[ $ON != alone ]] || return 0
    if ! { program=$(find_program apps/overlap_cudart) && recompiled=$(find_program apps/overlap_cudart_per_thread); } ||
        [[ $ON == simulated ]]; then
        left_out "programs: nothing recompiled to compare with: no nvcc where this was built, or no GPU"
        program=$(needed apps/overlap) recompiled=''
    fi
    for ((repetition = 1; repetition <= $(few); repetition++)); do
        for threads in $(of_size "1 2 4 8 16 32 64" "1 4"); do
            overlap overlap "$repetition" "$threads" "$(of_size 50 4)" "$(of_size 200000 20000)" 0
        done
    done
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for threads in $(of_size "1 8 64" 1); do
            overlap launches "$repetition" "$threads" "$(of_size 1000 10)" 1000 1
        done
    done
    torch_steps
}

# SPDX-License-Identifier: Apache-2.0
# scripts/bench cupti: the recorder beside CUPTI, which is what people have today: an empty callback for every driver call, and
# activity records of driver calls and kernels that are dropped. On a driver that loads it.
# shellcheck shell=bash

# Whether CUPTI really was in the last run.
cupti_came() {
    local count words
    if ! read -r count words <"$scratch/cupti"; then
        left_out "cupti: $1 not measured: the driver did not load CUDA_INJECTION64_PATH"
        return 1
    fi
    [[ $count != 0 ]] || left_out "cupti: $1 not measured: ${words/#came/CUPTI started and delivered nothing}"
    [[ $count != 0 ]]
}

# With BENCH_CUPTI_STAND_IN set, on the empty driver and with a libcupti that does nothing: for bench_test.sh.
part_cupti() {
    local repetition configuration peers=()
    if [[ $1 != gpu && ($1 != alone || -z ${BENCH_CUPTI_STAND_IN:-}) ]]; then
        [[ $1 == alone ]] || left_out "cupti: not measured on this driver: CUPTI needs a GPU's"
        return 0
    fi
    CUPTI_PEER=$(needed bench/libbench_cupti.so)
    export BENCH_CUPTI_LOG=$scratch/cupti
    for configuration in cupti-callbacks cupti-activity; do
        : >"$scratch/cupti"
        attempt "$configuration" "$calls" 1 2 0 elf launch && cupti_came "$configuration" && peers+=("$configuration")
    done
    [[ ${#peers[@]} != 0 ]] || return 0
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for configuration in bare per-thread guarded "${peers[@]}"; do
            run_calls "cupti.$1" "$configuration" "$repetition" 1 "$batches" elf \
                launch,memcpy-htod-async,event-record,stream-query,ctx-get-current
        done
    done
}

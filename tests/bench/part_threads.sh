# SPDX-License-Identifier: Apache-2.0
# scripts/bench threads: the same from 1 to 128 threads at once. What the shim adds should be flat.
# shellcheck shell=bash

THREADS_IN=(bare per-thread/off guarded/off guarded)

# Threads that all call as fast as they can: what they pay for meeting in the shim.
together() {
    local threads configuration
    for threads in $(of_size "1 2 4 8 16 32 64 128" "1 4"); do
        for configuration in bare per-thread/off guarded/off; do
            attempt "$configuration" "$sustain" together launch-four "$threads" "$(of_size 100 20)" || return 0
            sample "together.$1" "launch-four/$threads" "$configuration" "$2" "$(said ns)"
        done
    done
}

part_threads() {
    local repetition configuration threads count
    [[ $1 != simulated ]] || return 0 # whose own times would drown the shim's
    for ((repetition = 1; repetition <= $(few); repetition++)); do
        for threads in $(of_size "1 4 16 64 128" "1 4"); do
            # Every thread's batches count, so few are enough for many threads.
            count=$((batches / threads > 4 ? batches / threads : 4))
            for configuration in "${THREADS_IN[@]}"; do
                run_calls "threads.$1" "$configuration" "$repetition" "$threads" "$count" elf \
                    launch,launch-four,memcpy-htod-async,stream-query
            done
        done
    done
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        together "$1" "$repetition"
    done
}

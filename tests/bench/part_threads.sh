# SPDX-License-Identifier: Apache-2.0
# scripts/bench threads: the same from 1 to 128 threads at once. What the shim adds should be flat.
# shellcheck shell=bash

THREADS_IN=(bare per-thread/off guarded/off guarded)

part_threads() {
    local repetition configuration threads count
    [[ $1 != simulated ]] || return 0 # whose own times would drown the shim's
    for ((repetition = 1; repetition <= $(few); repetition++)); do
        for threads in $(of_size "1 4 16 64 128" "1 4"); do
            # Every thread's batches count, so few are enough for many threads.
            count=$((batches / threads > 4 ? batches / threads : 4))
            for configuration in "${THREADS_IN[@]}"; do
                run_calls "threads.$1" "$configuration" "$repetition" "$threads" "$count" elf \
                    launch,memcpy-htod-async,stream-query
            done
        done
    done
}

# SPDX-License-Identifier: Apache-2.0
# scripts/bench calls: single calls of one thread, by every door, in every configuration; also what a transition costs.
# shellcheck shell=bash

CALLS_IN=(bare none per-thread/off guarded/off stream/off observe per-thread guarded)

part_calls() {
    local repetition configuration
    [[ $1 != simulated ]] || return 0 # whose own times would drown the shim's
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for configuration in "${CALLS_IN[@]}"; do
            run_calls "calls.$1" "$configuration" "$repetition" 1 "$batches" all all
        done
    done
}

# SPDX-License-Identifier: Apache-2.0
# scripts/bench calls: single calls of one thread, by every door, in every configuration; also what a transition costs. Then
# some of them again (part `lanes`) while another thread lives whose work is in a lane of its own.
# shellcheck shell=bash

CALLS_IN=(bare none per-thread/off guarded/off stream/off observe per-thread guarded)

part_calls() {
    local repetition configuration
    [[ $1 != simulated ]] || return 0 # whose own times would drown the shim's
    for ((repetition = 1; repetition <= repetitions; repetition++)); do
        for configuration in "${CALLS_IN[@]}"; do
            run_calls "calls.$1" "$configuration" "$repetition" 1 "$batches" all all
        done
        for configuration in bare guarded/off guarded; do
            COMPANY=1 run_calls "lanes.$1" "$configuration" "$repetition" 1 "$batches" elf \
                launch,launch-four,launch-four-own,memcpy-htod-async,memset-async,event-record,stream-query,ctx-get-current
        done
    done
}

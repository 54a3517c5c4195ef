# SPDX-License-Identifier: Apache-2.0
# scripts/gpu bench: what the shim adds to single calls (scripts/bench); the whole table in the log, the JSON beside it.
# shellcheck shell=bash

section_bench() {
    attempt 240 bench scripts/bench -r "${BENCH_REPETITIONS:-3}" -b "${BENCH_BATCHES:-60}" -o "$RESULTS/bench.json" calls
    [[ $STATUS == 0 ]] || fail "bench ended with status $STATUS"
    while IFS= read -r line; do
        note "$line"
    done <"$WORK/bench.out"
}

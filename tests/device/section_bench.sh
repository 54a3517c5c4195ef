# SPDX-License-Identifier: Apache-2.0
# scripts/gpu bench: what the shim adds to single calls, and what recording GPU times adds (scripts/bench); the whole tables in
# the log, the JSON beside it.
# shellcheck shell=bash

# bench_part PART JSON
bench_part() {
    local line
    attempt 240 "bench-$1" scripts/bench -r "${BENCH_REPETITIONS:-3}" -b "${BENCH_BATCHES:-60}" -o "$RESULTS/$2" "$1"
    [[ $STATUS == 0 ]] || fail "bench $1 ended with status $STATUS"
    while IFS= read -r line; do
        note "$line"
    done <"$WORK/bench-$1.out"
}

section_bench() {
    bench_part calls bench.json
    bench_part times times.json
}

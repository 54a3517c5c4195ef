#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scale_test.sh: what is done over and over again neither grows nor slows down under the guard: launches, streams, events, threads,
# contexts and allocations that come and go; streams that stay; streams that come and go among many threads. On the empty driver,
# whose own part in it is nothing. Limits are far above what is measured and far below what a thing that stays, or is looked
# through, comes to. Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/bench/configurations.sh

scratch=${TEST_TMPDIR:-$(mktemp -d)}
on_empty_driver
status=0

sustain() { under "$1" "$(find_program bench/sustain)" "${@:2}" 2>"$scratch/err" >"$scratch/out" || { cat "$scratch/err" >&2; return 1; }; }
said() { sed -n "s/^$1 //p" "$scratch/out"; }

# judge CONDITION text
judge() {
    if [[ $1 == 1 ]]; then
        echo "ok   ${*:2}"
    else
        echo "FAIL ${*:2}"
        status=1
    fi
}

# grows WHAT COUNT MOST: kB more than without the shim.
grows() {
    local bare more line
    for line in growth again; do
        [[ $line == growth || $1 == allocations ]] || continue
        sustain bare growth "$1" "$2"
        bare=$(said $line)
        sustain "$configuration" growth "$1" "$2"
        more=$(($(said $line) - bare))
        [[ $1.$line != allocations.growth ]] || continue # those live
        judge $((more <= $3)) "$configuration: $2 $1 leave $more kB, at most $3"
    done
}

# slows WHAT COUNT: at most three times as much and half a microsecond. Three tries: a busy machine disturbs all of one now and then.
slows() {
    local first last flat=0 try
    for try in 1 2 3; do
        sustain "$configuration" flat "$1" "$2"
        first=$(said first) last=$(said last)
        flat=$(awk -v f="$first" -v l="$last" 'BEGIN { print l <= 3 * f + 500 }')
        [[ $flat == 0 ]] || break
    done
    judge "$flat" "$configuration: $1 at first $first ns, with $2 $last ns, try $try"
}

for configuration in guarded/off stream/off; do
    grows launches 200000 512
    grows streams 20000 2048
    grows events 50000 512
    grows threads 2000 2048
    grows contexts 2000 1024
    grows allocations 20000 512
done
for configuration in guarded/off stream/off guarded; do
    slows streams 40000
    slows kept 20000
    slows live 20000
    slows turn 1000
    slows threads 500
done
exit $status

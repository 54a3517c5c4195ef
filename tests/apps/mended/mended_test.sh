#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The programs of this folder on the simulated driver: as they are and mended they end alike; a report of the one as it is names a
# rule at the calls that mending takes away, and one of the mended program doesn't. How long they take is for `scripts/gpu savings`
# alone to judge, since other processes run here. Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
source tests/device/section_savings.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator
begin_results
SHIM=$(find_shim)
PTDS=$(find_command)
SAVINGS_PROGRAM=$(find_program apps/mended/mended)

# mended_rules NAME as-is|mended CLAIM: the rules that a report names at the claim's calls; what the default stream costs.
mended_rules() {
    local label=rules.$1.$2
    run_as 60 "$label" observe "$SAVINGS_SIMULATED" "PTDS_TRACE=$WORK/$label.ptds" "$SAVINGS_PROGRAM" "$1" "$2" 20
    attempt 60 "$label.report" "$PTDS" report --format json "$WORK/$label.ptds"
    python3 tests/device/savings_words.py "$WORK/$label.report.out" "$3"
}

# mended_says NAME CLAIM RULE: of the program as it is, and not of the mended one.
mended_says() {
    local name=$1 claim=$2 says=$3 status=0 as_is mended
    as_is=$(mended_rules "$name" as-is "$claim")
    mended=$(mended_rules "$name" mended "$claim")
    [[ ", $as_is," == *", $says,"* && $(checksum "rules.$name.as-is") == "$(checksum "rules.$name.mended")" ]] || status=1
    said_ok "rules.$name.as-is" && said_ok "rules.$name.mended" || status=1
    [[ $says == 'no finding' || ", $mended," != *", $says,"* ]] || status=1
    verdict "$status" "$name: as it is $as_is, mended $mended"
}

declare -A RULES=(
    [sync_copy]=sync-copy [pageable_copy]=pageable-copy [pageable_async]=pageable-async-copy
    [pageable_async_behind_work]=pageable-async-copy [wait_in_loop]=useless-sync [wait_before_copy]="no finding"
    [device_wait]=device-wide-sync [device_wait_apart]=device-wide-sync [query_loop]=query-spin
    [alloc_in_loop]=blocking-free [free_behind_work]=blocking-free [pin_in_loop]=slow-call
    [load_in_loop]=slow-call [stream_in_loop]=slow-call [pool_trims]="no finding"
    [event_on_zero]=up-to [memset_on_zero]=up-to [blocking_stream]=up-to [threads_on_zero]=up-to)

while read -r name claim; do
    mended_says "$name" "$claim" "${RULES[$name]:-a case that this test does not know}"
done < <("$SAVINGS_PROGRAM")
end_results || { tail -n 200 "$LOG"; exit 1; }

# SPDX-License-Identifier: Apache-2.0
# scripts/gpu savings: what a report says that mending a program saves, against what mending it saves. The programs of
# tests/apps/mended run as they are and mended, without the shim, in rounds; the one as it is runs three times more, recorded under
# observe; on a GPU as often with times from CUPTI. The goal: each claim within a factor of two, or "unknown"; medians of both.
# SAVINGS="sync_copy load_in_loop": only these. REPETITIONS=N rounds. What comes after SAVINGS_SECONDS (500) is left out.
# shellcheck shell=bash

SAVINGS_ROUNDS=${REPETITIONS:-5}
SAVINGS_RECORDED=3
SAVINGS_SECONDS=${SAVINGS_SECONDS:-500}

# What the calls cost on the simulated driver, which takes no time for most; about as on a GPU.
SAVINGS_SIMULATED=SIM_DELAY=cuModuleLoadData:300000,cuStreamCreate:60000,cuStreamDestroy_v2:20000,cuMemHostAlloc:150000
SAVINGS_SIMULATED+=,cuMemFreeHost:100000,cuMemAlloc_v2:60000,cuMemFree_v2:40000,cuMemcpyHtoD_v2:700000

# savings_rounds NAME: the times of both programs into SAVINGS_TIMES, which must end alike.
savings_rounds() {
    local name=$1 round which
    declare -gA SAVINGS_TIMES=()
    for ((round = 1; round <= SAVINGS_ROUNDS; round++)); do
        for which in as-is mended; do
            run_as 60 "savings.$name.$which" bare "$SAVINGS_SIMULATED" "$SAVINGS_PROGRAM" "$name" "$which"
            said_ok "savings.$name.$which" || return 1
            SAVINGS_TIMES[$which]+=" $(milliseconds "savings.$name.$which")"
        done
        [[ $(checksum "savings.$name.as-is") == $(checksum "savings.$name.mended") ]] || return 1
    done
}

# savings_recorded NAME LABEL TIMES: the program as it is, recorded, and its report to $RESULTS/LABEL.json.
savings_recorded() {
    local name=$1 label=$2 times=$3
    rm -f "$WORK/$label.ptds"
    run_as 60 "$label" observe "$SAVINGS_SIMULATED" "PTDS_TRACE=$WORK/$label.ptds" "PTDS_DEVICE_TIMES=$times" "$SAVINGS_PROGRAM" "$name" as-is
    said_ok "$label" || return 1
    attempt 60 "$label.report" "$PTDS" report --format json -o "$RESULTS/$label.json" "$WORK/$label.ptds"
    rm -f "$WORK/$label.ptds"
}

# savings_claim NAME CLAIM TIMES: what its reports say, compared with the times.
savings_claim() {
    local name=$1 claim=$2 times=$3 reports=() run
    for ((run = 1; run <= SAVINGS_RECORDED; run++)); do
        savings_recorded "$name" "savings.$name.$times.$run" "$times" || return 1
        reports+=("$RESULTS/savings.$name.$times.$run.json")
    done
    # shellcheck disable=SC2086 # a word each
    python3 tests/device/savings_words.py "${reports[@]}" "$claim" ${SAVINGS_TIMES[as-is]} -- ${SAVINGS_TIMES[mended]}
}

# savings NAME CLAIM: a line of the table for each way to record.
savings() {
    local name=$1 claim=$2 times said
    savings_rounds "$name" || { fail "$name: as it is $(outcome "savings.$name.as-is"), mended $(outcome "savings.$name.mended")"; return 0; }
    for times in $SAVINGS_DEVICE_TIMES; do
        said=$(savings_claim "$name" "$claim" "$times") || { fail "$name: recorded $(outcome "savings.$name.$times.1")"; continue; }
        SAVINGS_OFF=$((SAVINGS_OFF + $(grep -c '^OFF' <<<"$said" || true)))
        SAVINGS_ALL=$((SAVINGS_ALL + 1))
        note "     $(printf '%-27s%-7s' "$name" "$([[ $times == off ]] || echo "$times")") $said"
    done
}

section_savings() {
    local name claim path began=$SECONDS
    SAVINGS_OFF=0 SAVINGS_ALL=0 SAVINGS_DEVICE_TIMES=off
    path=$(path_with_cupti)
    local -x LD_LIBRARY_PATH=$path
    PTDS=$(find_command) || { fail "no ptds"; return 0; }
    SAVINGS_PROGRAM=$(find_program apps/mended/mended) || { fail "mended: not here"; return 0; }
    ! compgen -G '/dev/nvidia[0-9]*' >/dev/null || SAVINGS_DEVICE_TIMES="off cupti"
    while read -r name claim; do
        [[ -z ${SAVINGS:-} || " $SAVINGS " == *" $name "* ]] || continue
        ((SECONDS - began < SAVINGS_SECONDS)) || { note "     $name: no time left"; continue; }
        savings "$name" "$claim"
    done < <("$SAVINGS_PROGRAM")
    verdict "$SAVINGS_OFF" "savings: $SAVINGS_OFF of $SAVINGS_ALL claims are off by more than a factor of two"
}

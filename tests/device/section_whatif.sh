# SPDX-License-Identifier: Apache-2.0
# scripts/gpu whatif: what `ptds report --what-if` predicts of a run recorded under policy observe, against the program under
# each policy. The goals: nine intervals of ten hold the measured gain, and the replay of the run as it was misses it by at
# most 5 % (the median over the programs). From a program's first work on, as the command counts. Needs CUPTI.
# shellcheck shell=bash

# Five runs under each policy, or three where five would take more than the program's part of the time. What comes when the time
# is over is left out.
WHATIF_ROUNDS=${WHATIF_ROUNDS:-5}
WHATIF_FEWER=3
WHATIF_SECONDS=${WHATIF_SECONDS:-470}
WHATIF_POLICIES=(guarded per-thread stream)

# whatif_trace NAME POLICY DEVICE_TIMES program...: one recorded run; its what-if goes to $WORK/NAME.json.
whatif_trace() {
    local name=$1 policy=$2 times=$3
    shift 3
    rm -f "$WORK/$name.ptds"
    run_as 60 "$name" "$policy" "PTDS_TRACE=$WORK/$name.ptds" PTDS_TRACE_LIMIT=256M "PTDS_DEVICE_TIMES=$times" "$@"
    "$PTDS" report --what-if --format json -o "$WORK/$name.json" "$WORK/$name.ptds" >>"$LOG" 2>&1 || true
    rm -f "$WORK/$name.ptds"
}

# whatif_rounds SECOND: how many rounds a program makes that began then and has made the fewest by now.
whatif_rounds() {
    local part=$(((WHATIF_SECONDS - $1 + WHATIF_BEGAN) / (WHATIF_LEFT > 0 ? WHATIF_LEFT : 1)))
    echo $(((SECONDS - $1) * WHATIF_ROUNDS <= part * WHATIF_FEWER ? WHATIF_ROUNDS : WHATIF_FEWER))
}

whatif_field() { python3 tests/device/whatif_words.py "$WORK/$1.json" "$2"; }

# whatif NAME program...: a line of the table.
whatif() {
    local name=$1 policy round line doubt began=$SECONDS rounds=$((WHATIF_ROUNDS < WHATIF_FEWER ? WHATIF_ROUNDS : WHATIF_FEWER))
    declare -A times=()
    shift
    [[ -e $1 ]] || command -v "$1" >/dev/null || { note "     $name: not here"; return 0; }
    ((SECONDS - WHATIF_BEGAN < WHATIF_SECONDS)) || { note "     $name: no time left"; return 0; }
    for ((round = 1; round <= rounds; round++)); do
        for policy in observe "${WHATIF_POLICIES[@]}"; do
            whatif_trace "whatif.$policy" "$policy" off "$@"
            times[$policy]+=" $(whatif_field "whatif.$policy" recorded)"
        done
        ((round != WHATIF_FEWER)) || rounds=$(whatif_rounds "$began")
    done
    whatif_trace whatif.timed observe cupti "$@"
    [[ $STATUS == 0 ]] || { note "     $name: does not run here, status $STATUS"; return 0; }
    cp "$WORK/whatif.timed.json" "$RESULTS/whatif.$name.json" 2>/dev/null || true
    doubt=$(whatif_field whatif.timed doubt)
    # shellcheck disable=SC2086
    line="$name $(median ${times[observe]}) ms ($rounds runs)"
    if [[ $doubt != none ]]; then
        WHATIF_ABSTAINED=$((WHATIF_ABSTAINED + 1))
        note "     $line: no prediction: $doubt"
        return 0
    fi
    WHATIF_ERRORS+=" $(whatif_field whatif.timed error)"
    line+=", replay $(whatif_field whatif.timed error) % off"
    for policy in "${WHATIF_POLICIES[@]}"; do
        # shellcheck disable=SC2086
        line+="; $policy $(python3 tests/device/whatif_words.py "$WORK/whatif.timed.json" holds "$policy" \
            ${times[observe]} -- ${times[$policy]})"
    done
    WHATIF_WIDTHS+=" $(whatif_field whatif.timed widths)"
    WHATIF_HELD=$((WHATIF_HELD + $(grep -o "(held)" <<<"$line" | wc -l)))
    WHATIF_NEAR=$((WHATIF_NEAR + $(grep -o "(scatters)" <<<"$line" | wc -l)))
    WHATIF_ALL=$((WHATIF_ALL + ${#WHATIF_POLICIES[@]}))
    note "     $line"
}

WHATIF_LIST=("overlap 8 50 200000 0" "overlap 8 50 200000 1" "overlap 32 30 100000 0" "overlap 4 200 20000 0"
    "overlap 1 200 100000 0" "overlap_cudart 6 40 80000" "speed/conflict 8 100 100000" "speed/conflict 8 500 0"
    "speed/apart_streams 200 50000 0" "speed/apart_streams 200 50000 1" "speed/chains 4 200 0" "speed/shared_table"
    mixed_threads mixed_streams thread_handover threads_apart stream_handover "random/random_adders 11 4"
    cupy_threads cuda_bindings_threads cuda_core_threads numba_threads jax_threads warp_loop
    torch_threads torch_step torch_loader)

# One of tests/device by its name, if the machine has what it imports, or one of tests/apps with its arguments.
whatif_program() {
    local program=$1
    if [[ -e tests/device/$program.py ]]; then
        ! python3 -c "import ${program%%_*}" 2>/dev/null || whatif "$program" python3 "tests/device/$program.py"
    else
        # shellcheck disable=SC2046
        whatif "$(tr " /" ".." <<<"$program")" "$(find_program "apps/${program%% *}")" $([[ $program != *" "* ]] || echo "${program#* }")
    fi
}

section_whatif() {
    local program error near widths path
    WHATIF_HELD=0 WHATIF_NEAR=0 WHATIF_ALL=0 WHATIF_ABSTAINED=0 WHATIF_ERRORS="" WHATIF_WIDTHS="" WHATIF_BEGAN=$SECONDS
    path=$(path_with_cupti)
    local -x LD_LIBRARY_PATH=$path
    PTDS=$(find_command) || { fail "no ptds"; return 0; }
    [[ -z ${WHATIF_PROGRAMS:-} ]] || IFS=, read -ra WHATIF_LIST <<<"$WHATIF_PROGRAMS"
    WHATIF_LEFT=${#WHATIF_LIST[@]}
    for program in "${WHATIF_LIST[@]}"; do
        whatif_program "$program"
        WHATIF_LEFT=$((WHATIF_LEFT - 1))
    done
    # shellcheck disable=SC2086
    error=$(median ${WHATIF_ERRORS:-nan})
    # shellcheck disable=SC2086
    widths=$(printf '%s\n' ${WHATIF_WIDTHS:-nan} | awk '{ sum += $1 } END { if (NR) printf "%.2f", sum / NR; else print "nan" }')
    near=$((WHATIF_HELD + WHATIF_NEAR))
    note "     $WHATIF_ABSTAINED programs without a prediction; an interval's ends are $widths times each other (mean)"
    verdict "$(at_most "$error" 5 && echo 0 || echo 1)" "the replays miss the runs by $error % (median; goal <= 5)"
    verdict "$((WHATIF_ALL == 0 || near * 10 < WHATIF_ALL * 9))" "nine predictions of ten hold: $WHATIF_HELD of $WHATIF_ALL by the" \
        "runs' medians, $near of $WHATIF_ALL within what the runs scatter by (twice the standard error; this one counts)"
}

# SPDX-License-Identifier: Apache-2.0
# scripts/gpu apps: acceptance. The multi-threaded programs remapped against recompiled ones, and the programs that depend on
# legacy order, on hand-overs between threads and on capture codes, compared with their runs without the shim.
# shellcheck shell=bash

REPETITIONS=${REPETITIONS:-11} # copies of eight threads at once scatter by 15 %

# Programs with nvcc's code: carried, or compiled here.
cudart_program() {
    local name=$1
    shift
    if ! find_program "apps/$name" >/dev/null && command -v nvcc >/dev/null && [[ -e tests/apps/overlap_cudart.cu ]]; then
        attempt 120 "nvcc.$name" nvcc -O2 -std=c++17 "$@" -gencode arch=compute_75,code=compute_75 \
            tests/apps/overlap_cudart.cu -o "$BUILT/$name"
    fi
    find_program "apps/$name"
}

# "name policy program recorded", one a line; the yardstick is recompiled.
overlap_configurations() {
    cat <<LIST
legacy bare $1
recompiled bare $2
per-thread per-thread $1
guarded guarded $1
stream stream $1
LIST
    [[ -z ${3:-} ]] || cat <<LIST
observe+rec observe $1 PTDS_REPORT=summary
per-thread+rec per-thread $1 PTDS_REPORT=summary
guarded+rec guarded $1 PTDS_REPORT=summary
LIST
}

# Interleaved, so that what drifts drifts for all.
overlap_rounds() {
    local repetition name policy program variables
    for ((repetition = 1; repetition <= REPETITIONS; repetition++)); do
        while read -r name policy program variables; do
            # shellcheck disable=SC2086
            run_as 60 "overlap.$name" "$policy" ${variables:-PTDS_REPORT=off} "$program" "$@"
            TIMES[$name]+=" $(milliseconds "overlap.$name")"
            SUMS[$name]="$(outcome "overlap.$name") $(checksum "overlap.$name")"
            [[ ${SUMS[$name]} == right* ]] || WRONG[$name]=1
        done <"$WORK/configurations"
    done
}

# overlap_row NAME GOAL: the goal is a share of the yardstick's speed; empty where there is none. Where the programs copy, single runs
# scatter by a fifth: a row says how far off it may be by chance, and a miss by less is still one, which more rounds decide.
overlap_row() {
    local name=$1 goal=${2:-} middle speed chance status=0 times
    read -ra times <<<"${TIMES[$name]}"
    middle=$(median "${times[@]}")
    speed=$(ratio "$YARDSTICK" "$middle")
    chance=$(awk -v r="$speed" -v a="$YARDSTICK_SPREAD" -v b="$(spread "${times[@]}")" \
        'BEGIN { printf "%.3f", r * sqrt(a * a + b * b) }')
    [[ -z $goal ]] || at_least "$speed" "$goal" || status=1
    [[ $status == 0 ]] || ! at_least "$(awk -v r="$speed" -v c="$chance" 'BEGIN { print r + c }')" "$goal" ||
        goal+=", missed by less than chance: REPETITIONS=50 tells more"
    [[ -z ${WRONG[$name]:-} && ${SUMS[$name]} == "${SUMS[legacy]}" ]] || status=1
    verdict "$status" "$(printf '%-15s %8.1f ms  %s +-%s of recompiled%s  %s' "$name" "$middle" "$speed" "$chance" \
        "${goal:+ (goal $goal)}" "${SUMS[$name]%% *}")"
}

overlap_table() {
    local title=$1 name rest stream_goal
    declare -gA TIMES=() SUMS=() WRONG=()
    shift
    overlap_rounds "$@"
    # shellcheck disable=SC2086
    YARDSTICK=$(median ${TIMES[recompiled]}) YARDSTICK_SPREAD=$(spread ${TIMES[recompiled]})
    # shellcheck disable=SC2086 # stream must not be slower than legacy, within what single runs scatter
    stream_goal=$(awk -v y="$YARDSTICK" -v l="$(median ${TIMES[legacy]})" 'BEGIN { printf "%.3f", 0.97 * y / l }')
    note "overlap_cudart $title, medians of $REPETITIONS:"
    while read -r name rest; do
        case $name in
            per-thread) overlap_row "$name" 0.97 ;;
            guarded) overlap_row "$name" 0.95 ;;
            stream) YARDSTICK_SPREAD=0 overlap_row "$name" "$stream_goal" ;; # its goal is legacy's
            *) overlap_row "$name" ;;
        esac
    done <"$WORK/configurations"
}

apps_overlap() {
    local legacy recompiled
    if ! legacy=$(cudart_program overlap_cudart) ||
        ! recompiled=$(cudart_program overlap_cudart_per_thread --default-stream per-thread); then
        fail "overlap_cudart: not carried, and no nvcc here"
        return 0
    fi
    overlap_configurations "$legacy" "$recompiled" recorded >"$WORK/configurations"
    overlap_table "8 threads x 50 kernels, copies" 8 50 200000 0
    overlap_configurations "$legacy" "$recompiled" >"$WORK/configurations"
    overlap_table "8 x 50, kernels only" 8 50 200000 1
    overlap_table "32 x 100, copies" 32 100 200000 0
}

# differing_lines NAME POLICY: how many of a program's lines differ from those without the shim; times left out.
differing_lines() {
    diff <(grep -v '^time_ms' "$WORK/$1.bare.out") <(grep -v '^time_ms' "$WORK/$1.$2.out") >"$WORK/differences" || true
    cat "$WORK/differences" >>"$LOG"
    grep -c '^[<>]' "$WORK/differences" || true
}

# apps_same NAME "policies that must print the same" "others": the others, in brackets, are shown and not judged.
apps_same() {
    local name=$1 program policy line status=0 count
    program=$(find_program "apps/$name") || { fail "$name: not here"; return 0; }
    run_as 60 "$name.bare" bare "$program"
    said_ok "$name.bare" || status=1
    line=" bare $(outcome "$name.bare"), $(grep -c . "$WORK/$name.bare.out") lines;"
    for policy in $2; do
        run_as 60 "$name.$policy" "$policy" "$program"
        count=$(differing_lines "$name" "$policy")
        [[ $count == 0 ]] || status=1
        line+=" $policy $([[ $count == 0 ]] && echo same || echo "$count lines differ");"
    done
    for policy in ${3:-}; do
        run_as 60 "$name.$policy" "$policy" "$program"
        line+=" ($policy $(differing_lines "$name" "$policy") lines differ)"
    done
    verdict "$status" "$name:$line"
}

# apps_right NAME "policies that must be right" "others": right results and the time beside the bare one.
apps_right() {
    local name=$1 program policy line="" status=0
    program=$(find_program "apps/$name") || { fail "$name: not here"; return 0; }
    for policy in bare $2; do
        run_as 60 "$name.$policy" "$policy" "$program"
        said_ok "$name.$policy" || status=1
        line+=" $policy $(outcome "$name.$policy") $(milliseconds "$name.$policy") ms;"
    done
    for policy in ${3:-}; do
        run_as 60 "$name.$policy" "$policy" "$program"
        line+=" ($policy $(outcome "$name.$policy") $(milliseconds "$name.$policy") ms)"
    done
    verdict "$status" "$name:$line"
}

# apps_wrong NAME "policies that must be wrong": else the program would show nothing about the others.
apps_wrong() {
    local name=$1 program policy
    program=$(find_program "apps/$name") || { fail "$name: not here"; return 0; }
    for policy in $2; do
        run_as 60 "$name.$policy" "$policy" "$program"
        verdict "$([[ $(outcome "$name.$policy") == wrong ]] && echo 0 || echo 1)" \
            "$name: $policy gives its order up: $(outcome "$name.$policy")"
    done
}

# apps_kept NAME...: recorded under guarded, which keeps the order that these programs rely on. The report must not say
# that any of it is gone.
apps_kept() {
    local name program command status said
    command=$(find_command) || { fail "no ptds here"; return 0; }
    for name in "$@"; do
        status=0 said="of no order that it is gone"
        program=$(find_program "apps/$name") || { fail "$name: not here"; continue; }
        run_as 60 "$name.recorded" guarded "PTDS_TRACE=$WORK/$name.ptds" "$program"
        said_ok "$name.recorded" || status=1
        attempt 60 "$name.report" "$command" report --all "$WORK/$name.ptds"
        [[ $STATUS -eq 0 ]] && grep -q 'Implicit orders' "$WORK/$name.report.out" || status=1
        ! grep -q '^#[0-9]* order-given-up' "$WORK/$name.report.out" || status=1 said="that order is gone"
        verdict "$status" "$name: recorded $(outcome "$name.recorded"), the report says $said"
    done
}

# Threads that hand over nothing run side by side; without the shim they must not, or the program shows nothing.
apps_apart() {
    apps_wrong threads_apart bare
    local program policy status
    program=$(find_program apps/threads_apart) || return 0
    for policy in per-thread guarded; do
        status=0
        run_as 60 "threads_apart.$policy" "$policy" "$program"
        said_ok "threads_apart.$policy" || status=1
        verdict "$status" "threads_apart: $policy $(grep -c ' apart$' "$WORK/threads_apart.$policy.out") of 2 side by side"
    done
}

# What names the legacy stream (0x1), moved with the rest: right where each thread's work is apart, and where 0x1 and a
# thread's own default stream are two things.
apps_named() {
    local program way policy status line
    program=$(find_program apps/named_legacy) || { fail "named_legacy: not here"; return 0; }
    for way in apart both; do
        status=0 line=""
        for policy in bare guarded stream strict; do
            run_as 60 "named_legacy.$way.$policy" "$policy" PTDS_EXPLICIT_LEGACY=remap "$program" "$way"
            said_ok "named_legacy.$way.$policy" || status=1
            line+=" $policy $(outcome "named_legacy.$way.$policy") $(milliseconds "named_legacy.$way.$policy") ms;"
        done
        verdict "$status" "named_legacy $way, 0x1 moved:$line"
    done
}

# apps_simulated NAME: without the shim, the simulated driver prints what this GPU prints.
apps_simulated() {
    local name=$1 folder count
    folder=$(find_simulator) || { note "     $1: no simulated driver to compare with"; return 0; }
    run_as 60 "$name.bare" bare "$(find_program "apps/$name")"
    run_as 60 "$name.simulated" bare "LD_LIBRARY_PATH=$folder" "$(find_program "apps/$name")"
    count=$(differing_lines "$name" simulated)
    verdict "$count" "$name: simulated and real driver, $count of $(grep -c . "$WORK/$name.bare.out") lines differ"
}

section_apps() {
    apps_overlap
    apps_right overlap "none observe per-thread guarded stream"
    apps_same mixed_streams "none observe guarded" "per-thread stream"
    apps_right mixed_threads "guarded" "per-thread stream"
    apps_right stream_handover "guarded stream" "per-thread"
    apps_right thread_handover "observe guarded" "stream"
    apps_wrong thread_handover "per-thread"
    apps_right random_order "observe guarded" "stream"
    apps_wrong random_order "per-thread"
    apps_right own_allocator "observe guarded stream"
    apps_kept random_order thread_handover stream_handover
    apps_apart
    apps_named
    apps_same capture "none observe guarded stream" "per-thread"
    apps_same errors "none observe guarded stream" "per-thread"
    apps_simulated mixed_streams
    apps_simulated capture
}

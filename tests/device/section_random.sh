# SPDX-License-Identifier: Apache-2.0
# scripts/gpu random: random programs whose threads take turns, so that legacy order determines all that they read (tests/apps/random).
# What the simulated driver gives without the shim decides: the bare GPU itself lets small copies from pinned memory overtake.
# SEEDS=N of them, from FIRST_SEED, SEEDS_AT_ONCE a process.
# shellcheck shell=bash

FIRST_SEED=${FIRST_SEED:-1}
SEEDS_AT_ONCE=${SEEDS_AT_ONCE:-50}
MOST_ENDS=5 # processes that hang or crash, before the rest is left

# random_lines PROGRAM NAME SEEDS POLICY [VARIABLE=value...]: its "seed N digest" lines into $WORK/NAME.lines. Where a process hangs
# or crashes, the next one goes on behind that seed. Sets ENDS: how many did.
random_lines() {
    local program name=$2 last=$((FIRST_SEED + $3 - 1)) policy=$4 at=$FIRST_SEED count done_to
    program=$(find_program "apps/random/$1")
    shift 4
    ENDS=0
    : >"$WORK/$name.lines"
    : >"$WORK/$name.wrong"
    while ((at <= last && ENDS < MOST_ENDS)); do
        count=$((last - at + 1 < SEEDS_AT_ONCE ? last - at + 1 : SEEDS_AT_ONCE))
        run_as 300 "$name" "$policy" "$@" "$program" "$at" "$count"
        grep -E '^seed [0-9]+ [0-9a-f]{16}$' "$WORK/$name.out" >>"$WORK/$name.lines" || true
        grep -E ' wrong| hangs|^WRONG .*->' "$WORK/$name.out" >>"$WORK/$name.wrong" || true
        if grep -q '^time_ms' "$WORK/$name.out"; then
            at=$((at + count))
        else
            ENDS=$((ENDS + 1))
            done_to=$(sed -n 's/^seed \([0-9]*\) [0-9a-f]\{16\}$/\1/p' "$WORK/$name.out" | tail -1)
            at=$((${done_to:-$((at - 1))} + 2))
        fi
    done
}

# random_reference PROGRAM SEEDS [VARIABLE=value...]: the digests that decide; right in themselves, all of them.
random_reference() {
    local program=$1 seeds=$2 status=0
    shift 2
    random_lines "$program" "$program.reference" "$seeds" bare "$@"
    [[ $ENDS == 0 && ! -s $WORK/$program.reference.wrong ]] || status=1
    [[ $(grep -c . "$WORK/$program.reference.lines") == "$seeds" ]] || status=1
    verdict "$status" "$program: $seeds seeds on the simulated driver, $(wc -l <"$WORK/$program.reference.wrong") wrong"
}

# random_differ PROGRAM NAME SEEDS: how many of the reference's first SEEDS lines it lacks.
random_differ() { head -n "$3" "$WORK/$1.reference.lines" | grep -vxFf "$WORK/$2.lines" | grep -c . || true; }

# random_same PROGRAM SEEDS NAME POLICY [VARIABLE=value...]: none may differ.
random_same() {
    local program=$1 seeds=$2 name=$1.$3 policy=$4 differ shown=$3
    shift 4
    random_lines "$program" "$name" "$seeds" "$policy" "$@"
    differ=$(random_differ "$program" "$name" "$seeds")
    verdict "$([[ $differ == 0 && $ENDS == 0 && ! -s $WORK/$name.wrong ]] && echo 0 || echo 1)" \
        "$program: $shown, $differ of $seeds seeds differ, $ENDS processes hang or crash"
    head -3 "$WORK/$name.wrong" | while read -r line; do note "       $line"; done
}

# A policy that is not there, or that moves nothing, would make nothing wrong.
random_moves() {
    local status=0
    run_as 60 "random_moves.$1" "$@" PTDS_REPORT=summary "$(find_program apps/random/random_turns)" 1 4
    grep -q -E ' [1-9][0-9]* (default-stream operations? )?moved' "$WORK/random_moves.$1.err" || status=1
    verdict "$status" "random_turns: $1 moves work"
}

# random_shaken PROGRAM SEEDS "VARIABLE=value...": the same with work that starts late at random (PTDS_SHAKE), a third of the seeds, 200
# at most. Few a process, since a thread's first operations are delayed most.
random_shaken() {
    local -r program=$1 seeds=$((($2 + 2) / 3 < 200 ? ($2 + 2) / 3 : 200))
    # shellcheck disable=SC2086
    {
        SEEDS_AT_ONCE=4 random_same "$program" "$seeds" "guarded, shaken" guarded PTDS_SHAKE=$FIRST_SEED ${3:-}
        SEEDS_AT_ONCE=4 random_same "$program" "$seeds" "guarded, 4 lanes, shaken" guarded PTDS_LANES=4 PTDS_SHAKE=$FIRST_SEED ${3:-}
    }
}

# random_policies SEEDS "VARIABLE=value...": under every policy that promises to be right.
random_policies() {
    local program
    random_moves guarded
    random_moves stream
    for program in random_turns random_adders; do
        # shellcheck disable=SC2086
        {
            random_same "$program" "$1" guarded guarded ${2:-}
            random_same "$program" "$1" "guarded, 4 lanes" guarded PTDS_LANES=4 ${2:-}
            random_same "$program" "$1" stream stream PTDS_STREAM=blocking ${2:-}
        }
        random_shaken "$program" "$1" "${2:-}"
    done
}

# On a GPU a stream that waits for a value may keep others back that share its channel, so none waits for one that another stream
# has yet to write.
section_random() {
    local folder seeds=${SEEDS:-1000} program
    local -r without=RANDOM_TURNS_WITHOUT=crossed
    for program in random_turns random_adders; do
        find_program "apps/random/$program" >/dev/null || { fail "$program: not here"; return 0; }
    done
    folder=$(find_simulator) || { fail "random: no simulated driver to compare with"; return 0; }
    for program in random_turns random_adders; do
        random_reference "$program" "$seeds" "LD_LIBRARY_PATH=$folder" "$without"
        random_lines "$program" "$program.bare" "$seeds" bare "$without"
        note "     $program: bare on this driver, $(random_differ "$program" "$program.bare" "$seeds") of $seeds seeds differ"
    done
    random_policies "$seeds" "$without"
}

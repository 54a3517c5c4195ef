# SPDX-License-Identifier: Apache-2.0
# scripts/gpu pointers: kernels that get at memory in every way that their parameters do not plainly name (tests/apps/pointers), a row
# each, and random programs of such kernels (tests/apps/pointers_random), under every policy that keeps legacy order. First without
# the shim: what is wrong then says nothing about it, and is left out.
# POINTERS="guarded lanes one-thread stream machine-code machine-code-one-thread": which of these; the last two, where the driver links the
# kernels' text before it is loaded, only if they are asked for. SEEDS=N of the random programs, from FIRST_SEED,
# SEEDS_AT_ONCE a process. POINTERS_WITHOUT=NAME,...: ways that these leave out.
# shellcheck shell=bash

POINTERS=${POINTERS:-guarded lanes one-thread stream}
POINTERS_SPIN_NS=${POINTERS_SPIN_NS:-20000000} # how long the operation takes that another one must come after
POINTERS_SIMULATED=${POINTERS_SIMULATED:-}     # not empty: rows that need a GPU need not be there
FIRST_SEED=${FIRST_SEED:-1}
SEEDS_AT_ONCE=${SEEDS_AT_ONCE:-100}
POINTERS_SEEDS_WITH=${POINTERS_SEEDS_WITH:-}   # variables for the random programs
MOST_ENDS=${MOST_ENDS:-5} # processes that hang or crash, before the rest is left

# What each row is to be, a line each: right; limit: right or wrong; gpu: right where there is one.
pointers_expected() { cat tests/apps/pointers/expected; }

# pointers_begin: nothing is known to be wrong without the shim.
pointers_begin() {
    : >"$WORK/pointers.bare.wrong"
    : >"$WORK/pointers_random.bare.wrong"
}

# pointers_rows NAME CONFIGURATION [options]: a line for each row into $WORK/NAME.rows. Where a process ends early, the next one goes
# on behind the row that ended it. Sets ENDS: how many did.
pointers_rows() {
    local name=$1 configuration=$2 program left
    shift 2
    program=$(find_program apps/pointers/pointers)
    mapfile -t left < <(pointers_expected | cut -d ' ' -f 1)
    ENDS=0
    : >"$WORK/$name.rows"
    while ((${#left[@]} > 0 && ENDS < MOST_ENDS)); do
        # shellcheck disable=SC2086 # a policy and its variables
        run_as 400 "$name" $configuration "$program" --spin-ns "$POINTERS_SPIN_NS" "$@" "${left[@]}"
        grep -E '^[a-z0-9-]+: (right|WRONG|not here)' "$WORK/$name.out" >>"$WORK/$name.rows" || true
        ! grep -q '^time_ms' "$WORK/$name.out" || break
        ENDS=$((ENDS + 1))
        mapfile -t left < <(printf '%s\n' "${left[@]}" | grep -vxFf <(cut -d : -f 1 "$WORK/$name.rows") || true)
        if ((${#left[@]} > 0)) && ! tail -1 "$WORK/$name.rows" | grep -q ': hangs$'; then
            echo "${left[0]}: WRONG: ends the process, status $STATUS" >>"$WORK/$name.rows"
            left=("${left[@]:1}")
        fi
    done
}

# pointers_bad NAME: the rows that are not as expected.
pointers_bad() {
    local row word got
    while read -r row word; do
        got=$(sed -n "s/^$row: //p" "$WORK/$1.rows" | head -1)
        case $word:$got in
        *:right* | limit:WRONG*) ;;
        gpu:"not here"*) [[ -n $POINTERS_SIMULATED ]] || echo "$row" ;;
        *) grep -qxF "$row" "$WORK/pointers.bare.wrong" || echo "$row" ;;
        esac
    done < <(pointers_expected)
}

# pointers_verdict NAME "what": how many rows are right, and the first that are not.
pointers_verdict() {
    local name=$1 what=$2 right limits bad count row
    right=$(grep -c ': right' "$WORK/$name.rows" || true)
    limits=$(grep -c 'WRONG.*(a known limit)$' "$WORK/$name.rows" || true)
    bad=$(pointers_bad "$name")
    count=$(grep -c . <<<"$bad" || true)
    verdict "$([[ $count == 0 && $right != 0 && $ENDS == 0 ]] && echo 0 || echo 1)" \
        "pointers, $what: $right rows right, $limits known limits, $count not as expected$([[ $count == 0 ]] || echo ": $(head -12 <<<"$bad" | paste -sd ' ')")"
    while read -r row; do
        [[ -z $row ]] || grep "^$row: " "$WORK/$name.rows" >>"$LOG" || detail "$row: did not run"
    done <<<"$bad"
}

# pointers_seeds NAME CONFIGURATION [options]: `seed N: ...` lines into $WORK/NAME.lines. Where a process ends early, the next one goes
# on behind that seed. Sets ENDS: how many did.
pointers_seeds() {
    local name=$1 configuration=$2 program last=$((FIRST_SEED + SEEDS - 1)) at=$FIRST_SEED count done_to
    shift 2
    program=$(find_program apps/pointers_random/pointers_random)
    ENDS=0
    : >"$WORK/$name.lines"
    while ((at <= last && ENDS < MOST_ENDS)); do
        count=$((last - at + 1 < SEEDS_AT_ONCE ? last - at + 1 : SEEDS_AT_ONCE))
        # shellcheck disable=SC2086 # a policy and its variables
        run_as 300 "$name" $configuration $POINTERS_SEEDS_WITH "$program" --seed "$at" --count "$count" \
            ${POINTERS_WITHOUT:+--without "$POINTERS_WITHOUT"} "$@"
        grep -E '^seed [0-9]+: ' "$WORK/$name.out" >>"$WORK/$name.lines" || true
        if grep -q '^time_ms' "$WORK/$name.out"; then
            at=$((at + count))
            continue
        fi
        ENDS=$((ENDS + 1))
        done_to=$(sed -n 's/^seed \([0-9]*\): .*/\1/p' "$WORK/$name.out" | tail -1)
        done_to=${done_to:-$((at - 1))}
        if ! tail -1 "$WORK/$name.lines" | grep -q ': WRONG: hangs'; then
            done_to=$((done_to + 1))
            echo "seed $done_to: WRONG: ends the process, status $STATUS" >>"$WORK/$name.lines"
        fi
        at=$((done_to + 1))
    done
}

pointers_seeds_verdict() {
    local name=$1 what=$2 right wrong
    right=$(grep -c ': right$' "$WORK/$name.lines" || true)
    wrong=$(grep ': WRONG' "$WORK/$name.lines" | grep -vFf "$WORK/pointers_random.bare.wrong" || true)
    verdict "$([[ -z $wrong && $right != 0 && $ENDS == 0 ]] && echo 0 || echo 1)" \
        "pointers_random, $what: $right of $SEEDS seeds right, $ENDS processes end early$([[ -z $wrong ]] || echo "; $(head -1 <<<"$wrong")")"
    [[ -z $wrong ]] || head -20 <<<"$wrong" >>"$LOG"
}

pointers_bare() {
    pointers_rows pointers.bare bare
    pointers_verdict pointers.bare bare
    pointers_bad pointers.bare >"$WORK/pointers.bare.bad"
    mv "$WORK/pointers.bare.bad" "$WORK/pointers.bare.wrong"
    pointers_seeds pointers_random.bare bare
    pointers_seeds_verdict pointers_random.bare bare
    sed -n 's/^\(seed [0-9]*:\) WRONG.*/\1/p' "$WORK/pointers_random.bare.lines" >"$WORK/pointers_random.bare.wrong"
}

# pointers_configuration CONFIGURATION [--lanes] [--linked]: both programs under it.
pointers_configuration() {
    local configuration=$1 label words
    shift
    label="${configuration// /.}$*"
    label=${label// /}
    words="$configuration${*:+ $*}"
    pointers_rows "pointers.$label" "$configuration" "$@"
    pointers_verdict "pointers.$label" "$words"
    pointers_seeds "pointers_random.$label" "$configuration" "$@"
    pointers_seeds_verdict "pointers_random.$label" "$words"
}

# A policy that gives the order up must be wrong, or the programs would show nothing.
pointers_lost() {
    local wrong
    run_as 60 pointers.lost per-thread "$(find_program apps/pointers/pointers)" --spin-ns "$POINTERS_SPIN_NS" plain halves variable-copied
    wrong=$(grep -c '^[a-z-]*: WRONG' "$WORK/pointers.lost.out" || true)
    verdict "$((wrong != 3))" "pointers: per-thread gives the order up, $wrong of 3 rows are wrong"
    run_as 60 pointers_random.lost per-thread "$(find_program apps/pointers_random/pointers_random)"
    verdict "$([[ $STATUS != 0 && $STATUS != 124 ]] && echo 0 || echo 1)" \
        "pointers_random: per-thread gives the order up, $(grep -c ': right$' "$WORK/pointers_random.lost.out" || true) of 20 seeds are right"
}

# What a name in POINTERS stands for.
pointers_part() {
    case $1 in
    guarded) pointers_configuration guarded ;;
    lanes) pointers_configuration "guarded PTDS_LANES=8" ;;
    one-thread) pointers_configuration "guarded PTDS_LANES=8" --lanes ;;
    stream) pointers_configuration stream ;;
    machine-code) pointers_configuration guarded --linked ;;
    machine-code-one-thread) pointers_configuration "guarded PTDS_LANES=8" --lanes --linked ;;
    *) fail "pointers: no part $1" ;;
    esac
}

section_pointers() {
    local program part
    SEEDS=${SEEDS:-1000}
    for program in pointers/pointers pointers_random/pointers_random; do
        find_program "apps/$program" >/dev/null || { fail "$program: not here"; return 0; }
    done
    pointers_begin
    pointers_bare
    for part in $POINTERS; do
        pointers_part "$part"
    done
    pointers_lost
}

# SPDX-License-Identifier: Apache-2.0
# scripts/gpu handovers: unfinished work handed from thread to thread in every way there is, and what legacy order promises besides,
# without the shim and under every policy that keeps legacy order; and that order itself, as the tests of the guard have it.
# shellcheck shell=bash

HANDOVER_PROGRAMS=(handovers handovers_cpp handovers_openmp handovers_openmp_clang)
HANDOVER_PAIRS=${HANDOVER_PAIRS:-all} # or spread, or default: the things that need no stream beside the default stream

# One library of `promises` keeps the legacy stream.
PROMISES_WITH="PTDS_EXCLUDE=libexcluded.so"

# The policies that keep legacy order, each with its variables, one a line. The things to-blocking, event-to-nonblocking and
# from-blocking are about order with streams of the program's own; a policy that does not promise that runs `default` instead.
handover_configurations() {
    cat <<LIST
guarded
guarded PTDS_LANES=4
stream
LIST
}

# handover_run NAME CONFIGURATION PROGRAM args...: a policy that this library does not know runs nothing remapped, which would
# prove nothing, so that counts as failed.
handover_run() {
    local name=$1 configuration=$2
    shift 2
    # shellcheck disable=SC2086 # a policy and its variables
    run_as 400 "$name" $configuration "$@"
    ! grep -q 'PTDS_POLICY' "$WORK/$name.err" || STATUS=unknown
}

# handover_verdict NAME "what": the number of lines, and the first that are not right.
handover_verdict() {
    local name=$1 what=$2 right bad skipped driver
    if [[ -n $(said_skip "$name") ]]; then
        note "     $what: $(said_skip "$name")"
        return 0
    fi
    right=$(grep -c ' right$' "$WORK/$name.out" || true)
    bad=$(grep -E ' (stale|wrong|hang)$' "$WORK/$name.out" | head -3 | paste -sd, || true)
    skipped=$(grep -c ' skip ' "$WORK/$name.out" || true)
    driver=$(grep -c ' driver$' "$WORK/$name.out" || true)
    verdict "$([[ $STATUS == 0 ]] && said_ok "$name" && [[ $right != 0 ]] && echo 0 || echo 1)" \
        "$what: $right right, $skipped not here, $driver as the driver gets them${bad:+; $bad}$([[ $STATUS == 0 ]] || echo " (status $STATUS)")"
}

# handover_programs CONFIGURATION: all programs under it; `promises` with what the driver itself may get wrong only under a policy.
handover_programs() {
    local configuration=$1 name program label
    label=${configuration// /.}
    for name in "${HANDOVER_PROGRAMS[@]}"; do
        program=$(find_program "apps/handovers/$name") || { fail "$name: not here"; continue; }
        handover_run "$name.$label" "$configuration" "$program" "$HANDOVER_PAIRS"
        handover_verdict "$name.$label" "$name $HANDOVER_PAIRS, $configuration"
    done
    program=$(find_program apps/handovers/promises) || { fail "promises: not here"; return 0; }
    # shellcheck disable=SC2046 # a word or none
    handover_run "promises.$label" "$configuration $PROMISES_WITH" "$program" $([[ $configuration == bare ]] || echo strict)
    handover_verdict "promises.$label" "promises, $configuration"
}

# A policy that gives the order up must be wrong, or the programs would show nothing.
handover_lost() {
    local name program
    for name in handovers handovers_cpp; do
        program=$(find_program "apps/handovers/$name") || continue
        run_as 60 "$name.lost" per-thread "$program" "$(handover_plain_way "$name")" kernel
        verdict "$([[ $(outcome "$name.lost") == wrong ]] && echo 0 || echo 1)" \
            "$name: per-thread gives its order up: $(outcome "$name.lost")"
    done
}

# Hardware queues: what is released without a shim is released with one. What hangs without one says nothing.
HANGS_QUEUES=${HANGS_QUEUES:-1 8 32} # of CUDA_DEVICE_MAX_CONNECTIONS; own: not set, which is 8
HANGS_WAITERS=${HANGS_WAITERS:-1 8 31}

hangs_configurations() {
    handover_configurations
    echo guarded PTDS_LANES=8
}

# hangs_of CONFIGURATION [FILE]: sets STATUS; all lines to $WORK/hangs.CONFIGURATION. Of the cases that are right in the file, or of all.
hangs_of() {
    local configuration=$1 program queues waiters name=hangs.${1// /.} status=0
    program=$(find_program apps/handovers/hangs) || { fail "hangs: not here"; return 1; }
    : >"$WORK/$name"
    for queues in $HANGS_QUEUES; do
        for waiters in $HANGS_WAITERS; do
            handover_run "$name.$queues.$waiters" "$configuration" "$program" "$queues" "$waiters" "${@:2}"
            [[ $STATUS == 0 ]] && said_ok "$name.$queues.$waiters" || status=$STATUS-$queues-$waiters
            grep '^waiters-' "$WORK/$name.$queues.$waiters.out" >>"$WORK/$name" || true
        done
    done
    STATUS=$status
}

# Lines of the first that are right and of the second that are not.
hangs_new() { comm -23 <(grep ' right$' "$1" | sort) <(grep ' right$' "$2" | sort); }

handover_hangs() {
    local configuration name bad count
    hangs_of bare || return 0
    count=$(grep -c ' right$' "$WORK/hangs.bare" || true)
    verdict "$([[ $STATUS == 0 && $count != 0 ]] && echo 0 || echo 1)" "hangs, bare: $count of $(
        wc -l <"$WORK/hangs.bare") cases end$([[ $STATUS == 0 ]] || echo " (status $STATUS)")"
    while read -r configuration; do
        name=hangs.${configuration// /.}
        hangs_of "$configuration" "$WORK/hangs.bare"
        bad=$(hangs_new "$WORK/hangs.bare" "$WORK/$name")
        count=$(grep -c . <<<"$bad" || true)
        verdict "$([[ $STATUS == 0 && $count == 0 ]] && echo 0 || echo 1)" \
            "hangs, $configuration: $count cases hang that did not$(head -3 <<<"$bad" | paste -sd, | sed 's/^./; &/')$(
                [[ $STATUS == 0 ]] || echo " (status $STATUS)")"
    done < <(hangs_configurations)
}

# Legacy order as the guard's tests have it written down is this driver's, without the shim.
handover_relation() {
    local program
    program=$(find_program guard/relation) || { fail "relation: not here"; return 0; }
    run_as 300 relation bare "$program" 4 "${RELATION_PROGRAMS:-2000}"
    verdict "$([[ $STATUS == 0 ]] && said_ok relation && echo 0 || echo 1)" \
        "relation: $(grep ' differ$' "$WORK/relation.out" || echo "ended early, status $STATUS")"
}

handover_plain_way() { [[ $1 == handovers ]] && echo sem_wait || echo promise-future; }

section_handovers() {
    local configuration
    handover_programs bare
    while read -r configuration; do
        handover_programs "$configuration"
    done < <(handover_configurations)
    handover_hangs
    handover_lost
    handover_relation
}

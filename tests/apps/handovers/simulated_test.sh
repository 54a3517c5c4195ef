#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simulated_test.sh bare|policies|queues: the programs of this folder on the simulated driver, by the same steps as `scripts/gpu handovers`.
# Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
source tests/device/section_handovers.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
HANDOVER_PAIRS=spread # scripts/gpu runs the whole product
use_simulator

test_bare() {
    SHIM=''
    handover_programs bare
}

test_policies() {
    local configuration
    SHIM=$(find_shim)
    while read -r configuration; do
        handover_programs "$configuration"
        promises_on_a_gpus_driver "$configuration"
    done < <(handover_configurations)
    handover_lost
    footprints_known
    defects_show
}

# Work that may touch everything is in order whatever threads share, so hardly any of this may be.
footprints_known() {
    local most=2 all
    run_as 60 footprints guarded PTDS_REPORT=summary "$(find_program apps/handovers/handovers)" mutex
    all=$(sed -n 's/.* \([0-9]*\) operations* may touch any memory:.*/\1/p' "$WORK/footprints.err")
    grep -q '^ptds: [0-9]* default-stream operations moved' "$WORK/footprints.err" || all=1000
    verdict "$((${all:-0} > most))" "handovers mutex: ${all:-0} operations may touch any memory"
}

# With what a GPU's driver does wrong, and the simulated one only on demand.
DEFECTS="SIM_SMALL_COPIES=overtake SIM_THREAD_END=hang"

promises_on_a_gpus_driver() {
    local name=promises.defects.${1// /.} said
    handover_run "$name" "$1 $PROMISES_WITH $DEFECTS" "$(find_program apps/handovers/promises)" strict
    handover_verdict "$name" "promises, $1, with a GPU's defects"
    said=$(grep -c 'the host waits' "$WORK/$name.err" || true) # of the crowd alone: elsewhere lanes must do
    verdict "$((said != 2))" "promises, $1: $said cases find no lane"
}

# Without the shim the copies are wrong, and recompiled for per-thread streams the program hangs; else the above would show nothing.
defects_show() {
    local program bad
    program=$(find_program apps/handovers/promises)
    # shellcheck disable=SC2086
    run_as 60 defects.bare bare $DEFECTS "$program" strict
    bad=$(grep -v -e ' right$' -e ' skip ' -e '^WRONG' -e '^time_ms' "$WORK/defects.bare.out" | cut -d ' ' -f 1 | paste -sd,)
    verdict "$([[ $bad == small-copy-blocking-to-0,small-copy-0-to-blocking,small-copy-0-to-per-thread ]] && echo 0 || echo 1)" \
        "promises, bare, with a GPU's defects: wrong are $bad"
    # shellcheck disable=SC2086
    run_as 3 defects.hang per-thread $DEFECTS "$program" pool-memory-left-by-thread
    verdict "$([[ $STATUS == 124 ]] && echo 0 || echo 1)" "pool-memory-left-by-thread, per-thread: $(outcome defects.hang)"
}

test_queues() {
    SHIM=$(find_shim)
    export SIM_QUEUES=8
    HANGS_QUEUES="own 8"
    HANGS_WAITERS="8 31"
    handover_hangs
}

begin_results
"test_$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

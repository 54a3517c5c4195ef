#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simulated_test.sh bare|policies|old_drivers: the programs of this folder on the simulated driver, by the same steps as
# `scripts/gpu apps`: right without the shim; under the policies, as right as each promises; and on drivers of all ages. Run
# by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
source tests/device/section_apps.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator

test_bare() {
    SHIM=''
    apps_right overlap ''
    apps_right mixed_threads ''
    apps_right stream_handover ''
    apps_right thread_handover ''
    apps_right random_order ''
    apps_right own_allocator ''
    apps_same mixed_streams ''
    apps_same capture ''
    apps_same errors ''
}

test_policies() {
    SHIM=$(find_shim)
    apps_right overlap "none observe per-thread guarded stream"
    apps_same mixed_streams "none observe guarded"
    apps_right mixed_threads "none observe guarded"
    apps_right stream_handover "none observe guarded stream"
    apps_right thread_handover "none observe guarded"
    apps_wrong thread_handover "per-thread"
    apps_right random_order "none observe guarded"
    apps_wrong random_order "per-thread"
    apps_right own_allocator "observe guarded stream"
    apps_kept random_order thread_handover stream_handover
    apps_apart
    apps_named
    apps_same capture "none observe guarded stream"
    apps_same errors "none observe guarded stream"
    refused_events
}

# The driver refuses one of the events that policy guarded makes: still right, on the legacy stream or by a wait of the host.
refused_events() {
    local n status
    for n in 1 2 3 4 5 6; do
        status=0
        run_as 60 "refused.$n" guarded "SIM_FAIL=cuEventCreate:$n:2" "$(find_program apps/mixed_threads)"
        said_ok "refused.$n" || status=1
        verdict "$status" "mixed_threads, event $n refused: $(outcome "refused.$n")"
        status=0
        run_as 60 "refused_handover.$n" guarded "SIM_FAIL=cuEventCreate:$n:2" "$(find_program apps/thread_handover)"
        said_ok "refused_handover.$n" || status=1
        verdict "$status" "thread_handover, event $n refused: $(outcome "refused_handover.$n")"
        status=0
        run_as 60 "refused_random.$n" guarded "SIM_FAIL=cuEventCreate:$((n + 1)):2" "$(find_program apps/random_order)"
        said_ok "refused_random.$n" || status=1
        verdict "$status" "random_order, event $n refused: $(outcome "refused_random.$n")"
    done
}

# The drivers 450 to 580, by the CUDA version of each: what came later is not there. Each line also says that work moved.
test_old_drivers() {
    local version summary
    SHIM=$(find_shim)
    for version in 11000 11020 11040 11060 11080 12000 12030 12050 12080 13000; do
        export SIM_DRIVER_VERSION=$version
        apps_right overlap "none observe per-thread guarded stream"
        apps_right mixed_threads "guarded"
        apps_right thread_handover "guarded"
        apps_right random_order "guarded"
        run_as 60 "moved.$version" guarded PTDS_REPORT=summary "$(find_program apps/overlap)" 2 4 1000 0
        summary=$(grep -c -E ' [1-9][0-9]* (default-stream operations? )?moved' "$WORK/moved.$version.err" || true)
        verdict "$([[ $summary == 1 ]] && echo 0 || echo 1)" "CUDA $version: work was remapped"
    done
}

begin_results
"test_$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

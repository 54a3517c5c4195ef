#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simulated_test.sh bare|policies: the programs of this folder on the simulated driver, by the same steps as `scripts/gpu apps`:
# right without the shim; under the policies, as right as each promises. Run by Bazel.
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
    apps_same mixed_streams ''
    apps_same capture ''
}

test_policies() {
    SHIM=$(find_shim)
    apps_right overlap "none observe per-thread ordered stream"
    apps_same mixed_streams "none observe ordered"
    apps_right mixed_threads "none observe ordered"
    apps_right stream_handover "none observe ordered stream"
    apps_same capture "none observe ordered stream"
}

begin_results
"test_$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

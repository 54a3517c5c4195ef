#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simulated_test.sh bare|policies: the programs of this folder on the simulated driver, by the same steps as `scripts/gpu handovers`.
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
    done < <(handover_configurations)
    handover_lost
}

begin_results
"test_$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

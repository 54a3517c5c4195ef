#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# random_test.sh bare|policies: the random programs of this folder on the simulated driver, by the same steps as `scripts/gpu random`:
# the same without the shim every time, and the same under the policies that promise to be right. SEEDS, FIRST_SEED for long runs
# (`bazel test --test_env=SEEDS=20000`). Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
source tests/device/section_random.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator

test_bare() {
    local program
    for program in random_turns random_adders; do
        random_reference "$program" "${SEEDS:-$([[ $program == random_turns ]] && echo 300 || echo 40)}"
    done
    random_same random_turns "${SEEDS:-300}" again bare
}

test_policies() {
    local program
    SHIM=$(find_shim)
    for program in random_turns random_adders; do
        random_reference "$program" "${SEEDS:-200}"
    done
    random_policies "${SEEDS:-200}"
}

begin_results
"test_$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

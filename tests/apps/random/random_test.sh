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
        random_reference "$program" "${SEEDS:-120}"
    done
    random_policies "${SEEDS:-120}"
    random_with_defects "${SEEDS:-120}"
    random_with_parts "${SEEDS:-120}"
}

# Allocations that lie far apart: only then a pointer into one means that one alone, and a kernel part of it. A launch that
# touches more than that ends the process.
random_with_parts() {
    random_same random_turns "$1" "guarded, far apart" guarded SIM_SPACING=262144
    random_same random_turns "$1" "guarded, 4 lanes, far apart" guarded PTDS_LANES=4 SIM_SPACING=262144
    random_same random_turns "$1" "strict, far apart" strict SIM_SPACING=262144
}

# With what a GPU's driver does wrong, and the simulated one only on demand: the digests that decide are those without it. The
# program itself must differ, or this would show nothing.
random_with_defects() {
    local -r defects="SIM_SMALL_COPIES=overtake SIM_THREAD_END=hang"
    local differ
    # shellcheck disable=SC2086
    {
        random_lines random_turns random_turns.defects "$1" bare $defects
        random_same random_turns "$1" "guarded, defects" guarded $defects
        random_same random_turns "$1" "guarded, 4 lanes, defects" guarded PTDS_LANES=4 $defects
        random_same random_turns "$1" "stream, defects" stream $defects
    }
    differ=$(random_differ random_turns random_turns.defects "$1")
    verdict "$([[ $differ != 0 ]] && echo 0 || echo 1)" "random_turns: bare on a driver with a GPU's defects, $differ of $1 seeds differ"
}

begin_results
"test_$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

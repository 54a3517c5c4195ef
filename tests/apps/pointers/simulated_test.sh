#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simulated_test.sh bare|guarded|lanes|stream: kernels that get at memory in every way, on the simulated driver, by the same
# steps as `scripts/gpu pointers`. SEEDS, FIRST_SEED for long runs (`bazel test --test_env=SEEDS=5000`). Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
source tests/device/section_pointers.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
POINTERS_SPIN_NS=5000000
POINTERS_SIMULATED=1
export SIM_CLAIMS=tell          # of the known limits among the rows
POINTERS_SEEDS_WITH=SIM_CLAIMS= # more than the shim says that a launch touches is an error at once
SEEDS=${SEEDS:-500}
use_simulator

test_bare() {
    pointers_bare
}

test_guarded() {
    pointers_part guarded
}

test_lanes() {
    pointers_part lanes
    pointers_part one-thread
}

test_stream() {
    pointers_part stream
    pointers_lost
}

begin_results
[[ $1 == bare ]] && SHIM='' || SHIM=$(find_shim)
pointers_begin
"test_$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

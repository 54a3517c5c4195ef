#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kit_test.sh CASE: one case of the kit on the simulated driver, by the same steps as `scripts/gpu kit`. Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
source tests/device/section_kit.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator
SHIM=$(find_shim)

begin_results
kit_case "$1" || fail "$1"
end_results || { tail -n 200 "$LOG"; exit 1; }

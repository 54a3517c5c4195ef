#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kit_test.sh CASE: one case of the kit on the simulated driver, by the same steps as `scripts/gpu kit`. Run by Bazel.
# A shim that is built with a sanitizer cannot be preloaded: then the program alone is run, and the rest is said to be left out.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
source tests/device/section_kit.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator
export KIT_SIMULATED=1
SHIM=$(find_shim)

begin_results
if is_sanitized "$SHIM"; then
    kit_alone "$1" || fail "$1"
    note "SKIPPED $1: recording and report, the shim is built with a sanitizer"
else
    kit_case "$1" || fail "$1"
fi
end_results || { tail -n 200 "$LOG"; exit 1; }

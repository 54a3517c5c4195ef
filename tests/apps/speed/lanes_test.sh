#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# lanes_test.sh: a thread that chooses its lanes by itself tries more than one where some of its work is independent, and only there. On
# the simulated driver; whether more lanes stay depends on the machine, that they are tried does not. Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator
begin_results
SHIM=$(find_shim)

# streams WANTED WHAT VARIABLE=value chains' arguments...: how many streams of the shim's the run had work on.
streams() {
    local wanted=$1 what=$2 setting=$3 seen
    shift 3
    rm -f "$WORK/lanes.ptds"
    run_as 60 lanes guarded "$setting" "PTDS_TRACE=$WORK/lanes.ptds" "$(find_program apps/speed/chains)" "$@"
    seen=$("$(first_of analysis/ptds bin/ptds)" report --all "$WORK/lanes.ptds" | sed -n 's/^  streams .* \([0-9]*\) for moved work.*/\1/p')
    verdict "$([[ $(outcome lanes) == right && $seen == "$wanted" ]] && echo 0 || echo 1)" "$what: $(outcome lanes), $seen streams (wanted: $wanted)"
}

streams 8 "four chains, rounds of 8 kernels" PTDS_LANES=auto 4 2 0 12
streams 8 "unset is auto" PTDS_LANES= 4 2 0 12
streams 1 "one chain" PTDS_LANES=auto 1 8 0 12
streams 1 "four chains, a wait after each kernel" PTDS_LANES=auto 4 2 0 12 1
streams 1 "four chains, never a wait" PTDS_LANES=auto 4 24 0 1
streams 1 "four chains on one lane" PTDS_LANES=1 4 2 0 12
end_results || { tail -n 60 "$LOG"; exit 1; }

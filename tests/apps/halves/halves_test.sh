#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halves_test.sh: kernels on two halves of one allocation go side by side under guarded, by two threads and by two lanes, and those
# that share words do not: by what the simulated driver is asked, and by the words. Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator
SHIM=$(find_shim)
begin_results
halves=$(find_program apps/halves/halves)

# logged VARIABLE=value arguments...: what the driver is asked; the results are right.
logged() {
    local variable=$1
    shift
    rm -f "$WORK/asked.log"
    run_as 60 asked guarded "$variable" SIM_LOG="$WORK/asked.log" "$halves" "$@"
    verdict "$([[ $(outcome asked) == right ]] && echo 0 || echo 1)" "right under guarded, $variable: halves $*"
}

logged PTDS_LANES=1 2 50 100000
waits=$(grep -c '^cuStreamWaitEvent ' "$WORK/asked.log" || true)
verdict "$((waits < 10 ? 0 : 1))" "two threads wait $waits times for each other"
logged PTDS_LANES=2 1 50 100000
second=$(awk '$1 == "cuLaunchKernel" { n[$2]++ } END { for (s in n) print n[s] }' "$WORK/asked.log" | sort -rn | sed -n 2p)
verdict "$((${second:-0} >= 30 ? 0 : 1))" "${second:-0} launches of one thread go to its second lane"
logged PTDS_LANES=1 2 100 0 64
logged PTDS_LANES=2 2 100 0 64
logged PTDS_LANES=2 1 100 0 64

end_results

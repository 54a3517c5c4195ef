#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# speed_test.sh: the programs of this folder are right on the simulated driver, without the shim and under guarded; and what
# can run side by side there does: by far less time than one after the other. The kernels take long enough that
# a loaded machine tells the same. The rounds and rows are those of `scripts/gpu speed`. Run by Bazel.
set -euo pipefail
source tests/device/where.sh
source tests/device/steps.sh
REPETITIONS=3
source tests/device/section_speed.sh

OUT=${TEST_UNDECLARED_OUTPUTS_DIR:-$TEST_TMPDIR}
use_simulator
SHIM=$(find_shim)
begin_results

spreads="$(spread 10 10 10) $(spread 9 10 11) $(spread 90 130 100 110) $(spread)"
verdict "$([[ $spreads == "0.000 0.215 0.186 nan" ]] && echo 0 || echo 1)" "how far off medians may be by chance: $spreads"

conflict=$(find_program apps/speed/conflict)
streams=$(find_program apps/speed/apart_streams)
chains=$(find_program apps/speed/chains)

speed_rounds "legacy bare - $conflict 4 50 0" "guarded guarded - $conflict 4 50 0" "lanes guarded PTDS_LANES=4 $conflict 4 50 0"
speed_row "all share all" guarded legacy time 20
speed_row "all share all, four lanes each" lanes legacy time 20

speed_rounds "legacy bare - $streams 30 1000000 0" "by-hand bare - $streams 30 1000000 1" "guarded guarded - $streams 30 1000000 0"
speed_row "streams apart" guarded legacy time 0.75
speed_row "streams apart, to show that there is something to gain" by-hand legacy time 0.75

speed_rounds "legacy bare - $chains 4 50 0" "guarded guarded PTDS_LANES=4 $chains 4 50 0" "one-lane guarded - $chains 4 50 0"
speed_row "four chains" guarded legacy time 0.6
speed_row "one lane is one stream" one-lane guarded time 20

end_results

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# launchers_test.sh APP: the lines of docs/launchers.md that start MPI programs, and one as Slurm would start its ranks, leave a trace a
# rank that make one report, on the simulated driver. Run by Bazel.
set -euo pipefail
app=$PWD/$1 page=$PWD/docs/launchers.md
# shellcheck source=tests/device/where.sh
source "$(dirname "${BASH_SOURCE[0]}")/../device/where.sh"
SHIM=$(find_shim) PTDS=$(find_command)
use_simulator
! is_sanitized "$SHIM" || exit 0
export HOME=$TEST_TMPDIR OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
cd "$TEST_TMPDIR"
ln -s "$app" app
mkdir bin && ln -s "$PTDS" bin/ptds
export PTDS_LIBRARY=$SHIM PATH=$PWD/bin:$PATH
status=0 lines=0

# leaves WHAT RANKS: what is in traces/ are those ranks' traces, and one report.
leaves() {
    local report
    [[ $(cd traces && echo *) == "$2" ]] || { echo "$1: left $(ls traces)"; status=1; }
    report=$(ptds report --no-pager traces)
    grep -q "^$(wc -w <<<"$2") processes, ran" <<<"$report" || { echo "$1: $report"; status=1; }
    rm -r traces
}

while read -r line; do
    lines=$((lines + 1))
    line=${line//\/opt\/ptds\/lib\/libptds.so/$SHIM}
    mkdir traces
    timeout 100 bash -c "${line/.\/app/.\/app 2 2 1000}" </dev/null >out 2>&1 || { echo "$line: $(<out)"; status=1; }
    leaves "$line" "app-0.ptds app-1.ptds app-2.ptds app-3.ptds"
done < <(grep '^mpirun' "$page")
[[ $lines == 2 ]] || { echo "$lines lines with mpirun"; status=1; }

# What srun starts on each node: the words after its own.
line=$(grep -m1 '^srun -n 4 ptds' "$page") && line=${line#srun -n 4 }
mkdir traces
for rank in 0 1 2; do
    SLURM_PROCID=$rank bash -c "${line/.\/app/.\/app 2 2 1000}" </dev/null >out 2>&1 || { echo "$line: $(<out)"; status=1; }
done
leaves "$line" "app-0.ptds app-1.ptds app-2.ptds"
exit $status

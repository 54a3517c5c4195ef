#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# count.sh [RUNS 50] [RUNS OF THE BASELINE 5] [PROGRAM...]: how often `ptds check` fails an unchanged program against its own
# baseline, and how often it notices that each kernel is launched twice. On the simulated driver. For each of the programs of
# tests/apps, by default all, under `observe` and `guarded`: a baseline; then RUNS runs, each checked by itself; then RUNS of
# the program built with twice.h. And RUNS under `guarded` against the baseline of `observe`: an identity survives the policy.
# A line each; fails unless all are 0 of RUNS and the doubled ones RUNS of RUNS. Takes half an hour with 50; gate_test has a few.
#
#   bazel build -c opt //interpose:libptds.so //analysis:ptds //tests/sim:libcuda.so.1 //tests/apps:all && tests/gate/count.sh
set -euo pipefail
# shellcheck source=tests/device/where.sh
source "$(dirname "${BASH_SOURCE[0]}")/../device/where.sh"

RUNS=${1:-50} BASELINE=${2:-5}
PROGRAMS=("${@:3}")
[[ ${#PROGRAMS[@]} != 0 ]] || PROGRAMS=(overlap mixed_threads own_allocator capture stream_handover random_order thread_handover
    mixed_streams threads_apart)
WORK=${TEST_TMPDIR:-$(mktemp -d)}
[[ -n ${TEST_TMPDIR:-} ]] || trap 'rm -rf "$WORK"' EXIT
export SHIM
SHIM=$(find_shim) # for with_policy
PTDS=$(find_command)
use_simulator
FAILED=0

# record TRACE POLICY PROGRAM: what the program finds of its own results is not the matter here.
record() {
    with_policy "$2" PTDS_TRACE="$1" PTDS_REPORT=off timeout 60 "$3" >/dev/null 2>"$WORK/program.err" || true
    [[ -s $1 ]] || { echo "no trace of $3: $(cat "$WORK/program.err")"; exit 1; }
}

# make_baseline FILE POLICY PROGRAM
make_baseline() {
    local i
    for ((i = 0; i < BASELINE; i++)); do
        record "$WORK/run.ptds" "$2" "$3"
        "$PTDS" check --update --baseline "$1" "$WORK/run.ptds" >/dev/null
        rm "$WORK/run.ptds"
    done
}

# count FILE POLICY PROGRAM STATUS: how many of RUNS runs end with this status of `ptds check`, each by itself. The rest goes
# to the log.
count() {
    local i status hits=0
    for ((i = 0; i < RUNS; i++)); do
        status=0
        record "$WORK/run.ptds" "$2" "$3"
        "$PTDS" check --baseline "$1" "$WORK/run.ptds" >"$WORK/check.out" 2>&1 || status=$?
        rm "$WORK/run.ptds"
        if [[ $status == "$4" ]]; then hits=$((hits + 1)); else { echo "$3 $2: $status"; cat "$WORK/check.out"; } >>"$WORK/log"; fi
    done
    echo "$hits"
}

# row NAME WHAT PASSED: all of RUNS must have.
row() {
    printf '%-16s %-42s %3d of %d%s\n' "$1" "$2" "$3" "$RUNS" "$([[ $3 == "$RUNS" ]] || echo '  WRONG')"
    [[ $3 == "$RUNS" ]] || FAILED=1
}

# A doubled program is checked as what it is a new version of: under the same name.
mkdir -p "$WORK/once" "$WORK/twice"
: >"$WORK/log"
for name in "${PROGRAMS[@]}"; do
    once=$WORK/once/$name twice=$WORK/twice/$name
    cp "$(find_program "apps/$name")" "$once"
    cp "$(find_program "apps/${name}_twice")" "$twice"
    for policy in observe guarded; do
        make_baseline "$WORK/$name.$policy.json" "$policy" "$once"
        row "$name" "$policy, unchanged: passes" "$(count "$WORK/$name.$policy.json" "$policy" "$once" 0)"
        row "$name" "$policy, kernels doubled: caught" "$(count "$WORK/$name.$policy.json" "$policy" "$twice" 1)"
    done
    row "$name" "guarded, baseline of observe: passes" "$(count "$WORK/$name.observe.json" guarded "$once" 0)"
done
[[ $FAILED == 0 ]] || { echo; cat "$WORK/log"; exit 1; }

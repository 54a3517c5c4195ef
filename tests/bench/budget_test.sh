#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# budget_test.sh [--write]: what the shim adds to a call, in instructions, is within budget.tsv; and a table of less than was
# measured is refused. Run by Bazel, on optimised code; the empty driver makes the figures the same on every machine.
set -euo pipefail
source tests/device/where.sh
source tests/bench/configurations.sh

scratch=${TEST_TMPDIR:-$(mktemp -d)}
on_empty_driver
# What a call costs once its thread has chosen; while a thread measures, each call goes the guard's long way.
export PTDS_LANES=1

measure() {
    local name calls
    calls=$(awk '!/^#/ && NR > 2 { print $1 }' tests/bench/budget.tsv | sort -u | paste -sd,)
    for name in bare none per-thread/off guarded/off stream/off observe per-thread guarded; do
        under "$name" "$(find_program bench/instructions)" "$calls" 2>"$scratch/err" | sed "s|^|$name |" ||
            { cat "$scratch/err" >&2; return 1; }
    done
}

met() { python3 tests/bench/budget.py tests/bench/budget.tsv "$scratch/measured"; }

measure >"$scratch/measured"
if [[ ${1:-} == --write ]]; then
    grep '^#' tests/bench/budget.tsv
    exec python3 tests/bench/budget.py tests/bench/budget.tsv "$scratch/measured" --write
fi
# One process in a hundred has addresses that share a place in a cache; three in a row have not.
for _ in 2 3; do
    met || measure >>"$scratch/measured"
done
met || {
    echo "the hot path has grown. If it must: tests/bench/README.md, \"The budget\"" >&2
    exit 1
}

# Halved figures of the recorded launch are no longer met, so the test does measure.
awk 'BEGIN { FS = OFS = "\t" } /^launch\telf/ { $NF = int($NF / 2) } { print }' tests/bench/budget.tsv >"$scratch/halved"
if python3 tests/bench/budget.py "$scratch/halved" "$scratch/measured" >"$scratch/said"; then
    echo "a budget of half of what is measured was met" >&2
    exit 1
fi
grep -q '^launch by elf, guarded: [0-9]* instructions added' "$scratch/said"

# Of several figures the least counts.
awk '{ $NF *= 2 } { print }' "$scratch/measured" >"$scratch/doubled"
cat "$scratch/doubled" >>"$scratch/measured"
met

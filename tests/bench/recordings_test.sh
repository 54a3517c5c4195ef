#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# recordings_test.sh: scripts/bench recordings records every program of recording.c, whole, and reads each trace to the end; a
# file that is no trace is an error. Says nothing of how fast that is. Run by Bazel.
set -euo pipefail
source tests/device/where.sh

scratch=${TEST_TMPDIR:-$(mktemp -d)}
if is_sanitized interpose/libptds.so; then
    echo "SKIPPED: the shim is built with a sanitizer"
    exit 0
fi

fail() {
    cat "$scratch/out"
    echo "FAILED: $*" >&2
    exit 1
}

scripts/bench recordings 4000 guarded >"$scratch/out" 2>&1 || fail "scripts/bench recordings"
for workload in train pool async events graphs tables live; do
    # NAME RECORDS "records", then read, merge, model, verdicts, report: millions a second, as many as there are.
    awk -v name="$workload.ptds" '
        $1 == name { found = $2 >= 4000 && $3 == "records" && NF == 8; for (i = 4; i <= NF; i++) found = found && $i > 0 }
        END { exit !found }' "$scratch/out" || fail "no line, or no number, or not all calls of $workload"
done

echo "this is no trace" >"$scratch/none.ptds"
if scripts/bench analysis 1 report "$scratch/none.ptds" >"$scratch/out" 2>&1; then
    fail "a file that is no trace was accepted"
fi
grep -q 'none.ptds: offset 0: ' "$scratch/out" || fail "the message does not name the file"

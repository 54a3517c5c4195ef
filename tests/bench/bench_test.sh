#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench_test.sh: scripts/bench measures every part, as far as the empty and the simulated driver go, says what it left out,
# and fails where a program fails. Little of each, since nothing here is about how long it takes. Run by Bazel.
set -euo pipefail
source tests/device/where.sh

scratch=${TEST_TMPDIR:-$(mktemp -d)}
if is_sanitized interpose/libptds.so; then
    echo "SKIPPED: the shim is built with a sanitizer"
    exit 0
fi

fail() {
    cat "$scratch/out" "$scratch/err"
    echo "FAILED: $*" >&2
    exit 1
}

bench() {
    scripts/bench -q -o "$scratch/bench.json" "$@" >"$scratch/out" 2>"$scratch/err"
}

# A row of every part, and what a machine without a GPU must leave out.
bench || fail "scripts/bench"
for line in 'calls, the shim alone' 'launch/elf/1 ' 'launch/cuGetProcAddress/1 ' 'transition/elf/1 ' 'threads, the shim alone' \
    'lanes, the shim alone' 'launch-four/elf/1 ' 'together, the shim alone' 'launch-four/4 ' 'growth, ' 'streams/2000 ' \
    'allocations-again/2000 ' \
    'launch/elf/4 ' 'programs, on the simulated driver' 'overlap/4 ' 'startup, on' 'true ' 'python ' 'bytes, ' 'rate, ' \
    'records-lost ' 'memory, ' 'kB/20 ' 'cupti: not measured on this driver' \
    'times: not measured on this driver' 'programs: nothing recompiled'; do
    grep -q "^$line" "$scratch/out" || fail "no line that begins with $line"
done

# The JSON has the same, with numbers that can be true; times are not judged.
python3 - "$scratch/bench.json" <<'CHECK' || fail "bench.json"
import json, sys
run = json.load(open(sys.argv[1], encoding="utf-8"))
parts = {(p["part"], p["driver"]): {r["row"]: r["configurations"] for r in p["rows"]} for p in run["parts"]}
launch = parts["calls", "alone"]["launch/elf/1"]
assert launch["guarded"]["median"] > 0 and "extra" in launch["per-thread/off"], launch
lanes = parts["lanes", "alone"]
assert lanes["launch-four/elf/1"]["guarded/off"]["extra"] > lanes["launch/elf/1"]["guarded/off"]["extra"] > 0, lanes
assert parts["together", "alone"]["launch-four/4"]["guarded/off"]["extra"] > 0
growth = parts["growth", "alone"]
assert growth["allocations/2000"]["guarded/off"]["extra"] > growth["launches/2000"]["guarded/off"]["extra"], growth
trace = parts["bytes", "alone"]["launch"]["trace"]["median"]
assert 32 < trace < 400, trace
rate = parts["rate", "alone"]
assert rate["calls-counted"]["trace"]["median"] == rate["calls-in-detail"]["trace"]["median"] > 900000, rate
assert rate["records-lost"]["trace"]["median"] == 0, rate
full = {name: rate[name]["trace-32M"]["median"] for name in ("calls-counted", "calls-in-detail", "chunks-overwritten")}
assert full["calls-counted"] > full["calls-in-detail"] > 0 and full["chunks-overwritten"] > 0, full
assert parts["memory", "alone"]["kB/20"]["guarded"]["extra"] > 0
assert any("cupti" in line for line in run["left_out"])
CHECK

# CUPTI's part with a libcupti that only calls back once: that is measured, and what delivers nothing is not.
BENCH_CUPTI_STAND_IN=1 LD_LIBRARY_PATH=$PWD/tests/interpose/cupti bench cupti || fail "scripts/bench cupti"
grep -q '^cupti, the shim alone' "$scratch/out" || fail "CUPTI was not measured"
grep -q ' cupti-callbacks' "$scratch/out" || fail "no callbacks"
grep -q '^cupti: cupti-activity not measured: CUPTI started and delivered nothing' "$scratch/out" || fail "silent CUPTI was measured"
BENCH_CUPTI_STAND_IN=1 FAKE_CUPTI_REFUSES=1 LD_LIBRARY_PATH=$PWD/tests/interpose/cupti bench cupti || fail "a CUPTI that refuses"
grep -q '^cupti: cupti-callbacks not measured: CUPTI refused' "$scratch/out" || fail "a refusal was not said"

# What GPU times cost, with a libcupti that makes them up; and none of it without one.
BENCH_CUPTI_STAND_IN=1 LD_LIBRARY_PATH=$PWD/tests/interpose/cupti bench times || fail "scripts/bench times"
grep -q '^times, on the simulated driver' "$scratch/out" || fail "GPU times were not measured"
grep -Eq '^ +bare +observe +observe/sampled +observe/cupti$' "$scratch/out" || fail "not all ways to record GPU times"
grep -Eq '^launch/elf/1( +[-+0-9.]+ [0-9.]+x)* +[0-9.]+( +[-+0-9.]+ [0-9.]+x){2}$' "$scratch/out" || fail "no ratio to the record without"
BENCH_CUPTI_STAND_IN=1 FAKE_CUPTI_VERSION=90000 LD_LIBRARY_PATH=$PWD/tests/interpose/cupti bench times || fail "no times"
grep -q '^times: calls not measured: CUPTI timed 0 of its ' "$scratch/out" || fail "times that did not come were measured"

# A program that fails makes the run fail, and the rest is still measured.
if SIM_FAIL=cuLaunchKernel:1:2 bench programs startup; then
    fail "a failing program went unnoticed"
fi
[[ $(grep -c '^FAILED bare ' "$scratch/err") == 1 ]] || fail "the failure was not said once"
grep -q '^true ' "$scratch/out" || fail "the failure ended the run"

# In an unpacked tarball without a GPU: what the empty driver shows is still shown.
mkdir "$scratch/tarball"
cp -rL scripts tests interpose analysis "$scratch/tarball"
rm -r "$scratch/tarball/tests/sim"
(cd "$scratch/tarball" && bench threads) || fail "without any driver"
grep -q '^launch/elf/4 ' "$scratch/out" || fail "nothing was measured on the empty driver"
grep -q '^no more than that: neither a GPU' "$scratch/out" || fail "the lack of a driver was not said"

# The page, where there is a browser for it.
status=0
scripts/bench page 5000 2 >"$scratch/out" 2>"$scratch/err" || status=$?
if [[ $status == 3 ]]; then
    grep -q 'no browser here' "$scratch/err" || fail "the lack of a browser was not said"
else
    [[ $status == 0 ]] || fail "scripts/bench page"
    for line in '5000 operations, ' 'page ' 'first ' 'heap ' 'draw, 1/1 ' 'draw, 1/165 '; do
        grep -q "^$line" "$scratch/out" || fail "no line of the page that begins with $line"
    done
fi

if bench nonsense; then
    fail "a part that does not exist was accepted"
fi

# SPDX-License-Identifier: Apache-2.0
# How scripts/gpu runs a step and keeps its results: everything in the log, a line in the table for what matters.
# shellcheck shell=bash

TABLE_LINES=120

begin_results() {
    RESULTS=${OUT:-gpu-results}
    mkdir -p "$RESULTS"
    RESULTS=$(realpath "$RESULTS")
    LOG=$RESULTS/gpu.log
    SUMMARY=$RESULTS/summary.txt
    WORK=$(mktemp -d)
    BUILT=$WORK/built
    mkdir -p "$BUILT"
    trap 'rm -rf "$WORK"' EXIT
    FAILURES=0
    MISSES=0
    : >"$LOG"
    : >"$SUMMARY"
}

# The table, last.
end_results() {
    note "$([[ $FAILURES == 0 ]] && echo "all steps passed" || echo "$FAILURES steps failed")$(
        [[ $MISSES == 0 ]] || echo ", $MISSES goals of speed missed")"
    echo
    head -n "$TABLE_LINES" "$SUMMARY"
    [[ $FAILURES == 0 && $MISSES == 0 ]]
}

detail() { printf '%s\n' "$*" >>"$LOG"; }

note() {
    printf '%s\n' "$*" >>"$SUMMARY"
    detail "$*"
    printf '%s\n' "$*" >&2
}

fail() {
    FAILURES=$((FAILURES + 1))
    note "FAIL $*"
}

# verdict CONDITION_STATUS text: a line of the table that begins with ok or FAIL.
verdict() {
    if [[ $1 == 0 ]]; then
        shift
        note "ok   $*"
    else
        shift
        fail "$*"
    fi
}

# The same for a goal of speed: right, but slower than it should be, is no FAIL.
speed_verdict() {
    if [[ $1 == 0 ]]; then
        shift
        note "ok   $*"
    else
        shift
        MISSES=$((MISSES + 1))
        note "MISS $*"
    fi
}

machine_words() {
    local name
    name=$(gpu_name)
    echo "${name:-a driver of unknown kind (no nvidia-smi)}, $(uname -m), glibc $(ldd --version 2>/dev/null | sed -n '1s/.* //p')"
}

# attempt SECONDS NAME command...: stdout to $WORK/NAME.out, stderr to $WORK/NAME.err, both to the log. Sets STATUS, never fails.
attempt() {
    local limit=$1 name=$2
    shift 2
    STATUS=0
    timeout -k 5 "$limit" "$@" </dev/null >"$WORK/$name.out" 2>"$WORK/$name.err" || STATUS=$?
    {
        printf -- '--- %s: status %s: %s\n' "$name" "$STATUS" "$*"
        head -c 20000 "$WORK/$name.out"
        head -c 20000 "$WORK/$name.err"
    } >>"$LOG"
}

# run_as SECONDS NAME POLICY [VARIABLE=value...] program...: the same under a policy, without recording unless told. `bare` runs
# without the shim, also under a Python for which `python -m ptds enable` was called.
run_as() {
    local limit=$1 name=$2 policy=$3
    shift 3
    if [[ $policy == bare ]]; then
        attempt "$limit" "$name" env -u LD_PRELOAD PTDS_DISABLE=1 "$@"
    else
        attempt "$limit" "$name" env "LD_PRELOAD=$SHIM" "PTDS_POLICY=$policy" PTDS_REPORT=off "$@"
    fi
}

# What a program said of itself: OK or WRONG, its checksum, a time by its name.
said_ok() { grep -q '^OK' "$WORK/$1.out"; }
said_skip() { sed -n 's/^SKIP //p' "$WORK/$1.out" | head -1; }
checksum() { sed -n 's/^\(OK\|WRONG\) //p' "$WORK/$1.out" | head -1; }
milliseconds() { sed -n "s/^${2:-time}_ms //p" "$WORK/$1.out" | head -1; }

# In short: right, wrong, or how it ended.
outcome() {
    if said_ok "$1"; then
        echo right
    elif grep -q '^WRONG' "$WORK/$1.out"; then
        echo wrong
    elif [[ $STATUS == 124 || $STATUS == 137 ]]; then
        echo "timed out"
    else
        echo "status $STATUS"
    fi
}

# The number in the middle of its arguments, and the ratio of two.
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)]; else print "nan" }'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b + 0) printf "%.3f", a / b; else print "nan" }'; }
# spread NUMBERS: how far off their median may be by chance, as a share of it: twice its standard error, by the median deviation.
spread() {
    local deviations
    deviations=$(printf '%s\n' "$@" | awk -v m="$(median "$@")" '{ print ($1 > m ? $1 - m : m - $1) }')
    # shellcheck disable=SC2086 # a word each
    awk -v d="$(median $deviations)" -v m="$(median "$@")" -v n=$# \
        'BEGIN { if (m + 0) printf "%.3f", 2 * 1.2533 * 1.4826 * d / sqrt(n) / m; else print "nan" }'
}
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "nan" && a + 0 <= b + 0) }'; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "nan" && a + 0 >= b + 0) }'; }

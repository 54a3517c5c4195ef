# SPDX-License-Identifier: Apache-2.0
# scripts/gpu kit: real cases as small programs, each recorded and reported, and the report compared with what it must say
# (tests/kit/README.md). A case's program must also be right without the shim and under the policies that its expectation
# names, and wrong under those that take away order which it needs.
# shellcheck shell=bash

# What lets streams run beside each other whatever the machine's defaults are; a case's own settings come after.
KIT_ENVIRONMENT=(CUDA_DEVICE_MAX_CONNECTIONS=32 CUDA_MODULE_LOADING=EAGER)
KIT_ATTEMPTS=5

# The values of a line of an expectation file, as words.
kit_words() { sed -n "s/^$1 //p" "tests/kit/expected/$2.txt"; }

# kit_run CASE NAME POLICY [VARIABLE=value...]: the case's program; its name has an underscore where the case has a dash.
kit_run() {
    local case=$1 name=$2 policy=$3 environment
    shift 3
    mapfile -t environment < <(kit_words env "$case")
    run_as 60 "$name" "$policy" "${KIT_ENVIRONMENT[@]}" "${environment[@]}" "$@" "$KIT_PROGRAM" "${case//-/_}"
}

# kit_fails CASE what: the line for what the checker never gets to see.
kit_fails() {
    echo "FAILED $1: $2"
    return 1
}

# The program without the shim.
kit_alone() {
    KIT_PROGRAM=$(find_program kit/kit) || kit_fails "$1" "no program here" || return
    kit_run "$1" "kit.$1.bare" bare
    said_ok "kit.$1.bare" || kit_fails "$1" "the program is $(outcome "kit.$1.bare") without the shim"
}

kit_results() {
    local case=$1 policy try
    for policy in $(kit_words right "$case"); do
        kit_run "$case" "kit.$case.$policy" "$policy"
        said_ok "kit.$case.$policy" || kit_fails "$case" "the program is $(outcome "kit.$case.$policy") under $policy" || return
    done
    for policy in $(kit_words wrong "$case"); do
        for ((try = 1; try <= KIT_ATTEMPTS; try++)); do
            kit_run "$case" "kit.$case.$policy" "$policy"
            [[ $(outcome "kit.$case.$policy") != wrong ]] || break
        done
        [[ $try -le $KIT_ATTEMPTS ]] || kit_fails "$case" "the program is never wrong under $policy" || return
    done
}

kit_report() {
    local case=$1 trace=$WORK/$1.ptds policy
    policy=$(kit_words policy "$case")
    policy=${policy:-observe}
    kit_run "$case" "kit.$case.recorded" "$policy" "PTDS_TRACE=$trace"
    said_ok "kit.$case.recorded" ||
        kit_fails "$case" "the program is $(outcome "kit.$case.recorded") when it is recorded under $policy" || return
    attempt 60 "kit.$case.report" "$KIT_COMMAND" report --format json "$trace"
    [[ $STATUS -eq 0 ]] || kit_fails "$case" "ptds report ended with status $STATUS" || return
    python3 tests/kit/check.py "$case" "tests/kit/expected/$case.txt" "$WORK/kit.$case.report.out" || return
}

# kit_case CASE: prints its line, "ok CASE" or "FAILED CASE: what"; status 0 only for ok.
kit_case() {
    local status=0
    KIT_COMMAND=$(find_command) || kit_fails "$1" "no ptds here" || return
    { kit_alone "$1" && kit_results "$1" && kit_report "$1"; } || status=1
    rm -f "$WORK/$1.ptds"
    return "$status"
}

section_kit() {
    local expected case lines ok=0 failed=0
    command -v python3 >/dev/null || { fail "kit: no python3 here"; return 0; }
    for expected in tests/kit/expected/*.txt; do
        [[ -e $expected ]] || { fail "kit: no cases here"; return 0; }
        case=$(basename "$expected" .txt)
        if lines=$(kit_case "$case"); then
            ok=$((ok + 1))
        else
            failed=$((failed + 1))
            note "     ${lines%%$'\n'*}" # the table takes one line a case
        fi
        detail "$lines"
    done
    verdict "$failed" "kit $ok ok, $failed failed"
}

# SPDX-License-Identifier: Apache-2.0
# scripts/gpu conformance: every conformance program must print, line by line, what is expected of every driver; without
# the shim, and with it under the policies that change nothing; `told` under all. Lines that begin with "?" depend on the machine.
# shellcheck shell=bash

expected_folder() { first_of tests/conformance/expected tests/expected; }

# compare_lines EXPECTED ACTUAL: the lines that agree, and the lines of the longer file.
compare_lines() {
    local same
    same=$({ diff --old-line-format= --new-line-format= --unchanged-line-format=$'x\n' "$1" "$2" || true; } | wc -l)
    echo "$same $(wc -l "$1" "$2" | awk '$2 != "total" && $1 > most { most = $1 } END { print most + 0 }')"
}

conformance_under() {
    local policy=$1 only=${2:-} expected program name same all agreeing=0 total=0 differing=()
    for expected in "$(expected_folder)"/${only:-*}.txt; do
        name=$(basename "$expected" .txt)
        if ! program=$(find_program "conformance/$name"); then
            differing+=("$name (missing)")
            continue
        fi
        run_as 60 "$name.$policy" "$policy" "$program"
        grep -v '^?' "$WORK/$name.$policy.out" >"$WORK/actual" || true
        read -r same all < <(compare_lines "$expected" "$WORK/actual")
        agreeing=$((agreeing + same))
        total=$((total + all))
        [[ $same == "$all" ]] || differing+=("$name $same/$all")
        [[ $STATUS == 0 ]] || differing+=("$name, status $STATUS")
        diff "$expected" "$WORK/actual" >>"$LOG" || true
    done
    verdict "${#differing[@]}" "conformance $policy: $agreeing of $total lines agree${differing[*]:+; differing: ${differing[*]}}"
}

section_conformance() {
    local policy
    expected_folder >/dev/null || { fail "no conformance programs here"; return 0; }
    for policy in bare none observe; do
        conformance_under "$policy"
    done
    # What the policies leave to the device must not show.
    for policy in guarded stream; do
        conformance_under "$policy" told
    done
}

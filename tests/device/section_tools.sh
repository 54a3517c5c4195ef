# SPDX-License-Identifier: Apache-2.0
# scripts/gpu tools: compute-sanitizer and ncu run the remapped program. Both resolve functions of the driver before any
# constructor has run, which is what a hook of dlsym must stand.
# shellcheck shell=bash

# tool_row NAME STATUS_OF_CHECK: the program's own word counts, the tool's, and a report as the sign that the shim was there.
tool_row() {
    local name=$1 status=$2
    said_ok "$name" || status=1
    [[ -s $WORK/$name.report ]] || status=1
    verdict "$status" "$name: program $(outcome "$name"), report $([[ -s $WORK/$name.report ]] && echo written || echo missing)$3"
    rm -f "$WORK/$name.report"
}

tool_sanitizer() {
    local policy=$1 name=compute-sanitizer.$1 status=0
    run_as 120 "$name" "$policy" "PTDS_REPORT=$WORK/$name.report" compute-sanitizer --tool memcheck "$PROGRAM" 2 10 20000
    grep -q 'ERROR SUMMARY: 0 errors' "$WORK/$name.out" "$WORK/$name.err" || status=1
    tool_row "$name" "$status" ", $(grep -ho 'ERROR SUMMARY: .*' "$WORK/$name.out" "$WORK/$name.err" | head -1)"
}

tool_ncu() {
    local policy=$1 name=ncu.$1 status=0 profiled
    # With ncu's own option, so that ncu's command itself runs without the shim.
    run_as 120 "$name" bare "PTDS_POLICY=$policy" "PTDS_REPORT=$WORK/$name.report" ncu --preload-library "$SHIM" \
        --clock-control none --launch-count 4 --metrics gpu__time_duration.sum "$PROGRAM" 2 5 20000
    profiled=$(cat "$WORK/$name.out" "$WORK/$name.err" | grep -c 'gpu__time_duration.sum' || true)
    [[ $profiled -gt 0 ]] || status=1
    tool_row "$name" "$status" ", $profiled kernels profiled"
}

section_tools() {
    local tool policy
    PROGRAM=$(find_program apps/overlap_cudart) || PROGRAM=$(find_program apps/overlap) || { fail "no program to run"; return 0; }
    for tool in compute-sanitizer ncu; do
        if ! command -v "$tool" >/dev/null; then
            note "     no $tool here"
            continue
        fi
        for policy in per-thread guarded; do
            "tool_${tool#compute-}" "$policy"
        done
    done
}

# SPDX-License-Identifier: Apache-2.0
# scripts/gpu stacks: what people run, with stock packages, without the shim and under every policy. Results must equal the
# run without the shim bit for bit; what the policy documents as its price is shown, not judged.
# shellcheck shell=bash

# What one recorded run says: default-stream operations, how many moved, which hazards.
stack_words() {
    "$PTDS" report --format json "$1" 2>/dev/null | python3 -c '
import json, sys
report = json.load(sys.stdin)
stream = report["default_stream"]
print("default stream %d, remapped %d;" % (stream["operations"], stream["remapped"]),
      ", ".join("%s %dx" % (f["rule"], f["count"]) for f in report["findings"][:4]))' 2>/dev/null || echo "no report"
}

# stack JUDGED NAME arguments...: JUDGED names the policies that must be right.
stack() {
    local judged=$1 name=$2 policy label line="" status=0 skip word
    shift 2
    label=$name${1:+.$1}
    for policy in bare observe ordered per-thread stream; do
        run_as 120 "$label.$policy" "$policy" PYTHONDONTWRITEBYTECODE=1 python3 "tests/device/$name.py" "$@"
        skip=$(said_skip "$label.$policy")
        if [[ -n $skip ]]; then
            note "     $label: skipped, $skip"
            return 0
        fi
        word=$(outcome "$label.$policy")
        [[ $word != right || $(checksum "$label.$policy") == "$(checksum "$label.bare")" ]] || word="other bits"
        [[ $word == right || " bare $judged " != *" $policy "* ]] || status=1
        line+=" $policy $word $(milliseconds "$label.$policy" one)$(milliseconds "$label.$policy" four | sed 's|^|/|');"
    done
    verdict "$status" "$label:$line"
    run_as 120 "$label.recorded" ordered PYTHONDONTWRITEBYTECODE=1 "PTDS_TRACE=$WORK/$label.ptds" \
        python3 "tests/device/$name.py" "$@"
    note "       ordered: $(stack_words "$WORK/$label.ptds")"
    rm -f "$WORK/$label.ptds"*
}

section_stacks() {
    command -v python3 >/dev/null || { note "     no python3 here"; return 0; }
    PTDS=$(find_command) || { fail "no ptds"; return 0; }
    note "     ms of 1 thread / 4 threads"
    local all="observe ordered per-thread stream"
    stack "$all" torch_loader
    stack "$all" torch_graph
    stack "observe stream" torch_compile
    stack "$all" torch_nccl
    stack "$all" cuda_bindings_threads
    stack "$all" cuda_core_threads
    stack "$all" jax_threads
    stack "$all" warp_threads
    stack "$all" quadrants_loop
    stack "$all" exchange
    stack "observe stream" exchange threads
}

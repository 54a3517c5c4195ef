# SPDX-License-Identifier: Apache-2.0
# scripts/gpu stacks: what people run, with stock packages, without the shim and under every policy. Results must equal the
# run without the shim bit for bit; what the policy documents as its price is shown, not judged.
# shellcheck shell=bash

# What one recorded run says: default-stream operations, how many moved, which hazards.
stack_words() {
    "$PTDS" report --format json "$1" 2>/dev/null | python3 -c '
import json, sys
report = json.load(sys.stdin)
totals = report["totals"]
print("default stream %d, remapped %d;" % (totals["default_stream"], totals["remapped"]),
      ", ".join("%s %dx" % (f["rule"], f["count"]) for f in report["findings"][:4]))' 2>/dev/null || echo "no report"
}

# stack JUDGED NAME arguments...: JUDGED names the policies that must be right. SETTING is a variable for the runs with the shim.
stack() {
    [[ -z ${STACKS:-} || " $STACKS " == *" $2 "* ]] || return 0
    local judged=$1 name=$2 policy label line="" status=0 skip word
    shift 2
    label=$name${1:+.${1//\//_}}${SETTING:+.$SETTING}
    for policy in bare observe ordered per-thread stream; do
        run_as 120 "$label.$policy" "$policy" PYTHONDONTWRITEBYTECODE=1 ${SETTING:+"$SETTING"} python3 "tests/device/$name.py" "$@"
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
    run_as 120 "$label.recorded" ordered PYTHONDONTWRITEBYTECODE=1 ${SETTING:+"$SETTING"} "PTDS_TRACE=$WORK/$label.ptds" \
        python3 "tests/device/$name.py" "$@"
    note "       ordered: $(stack_words "$WORK/$label.ptds")"
    rm -f "$WORK/$label.ptds"*
}

# Two ranks, a trace each, one report.
stack_ranks() {
    local policy line="" status=0
    [[ -z ${STACKS:-} || " $STACKS " == *" mpi_ranks "* ]] || return 0
    command -v mpirun >/dev/null || { note "     mpi_ranks: no mpirun"; return 0; }
    local mpi=(mpirun --allow-run-as-root --oversubscribe -n 2)
    for policy in bare observe ordered per-thread stream; do
        run_as 120 "mpi_ranks.$policy" "$policy" PYTHONDONTWRITEBYTECODE=1 "${mpi[@]}" python3 tests/device/mpi_ranks.py
        said_ok "mpi_ranks.$policy" || status=1
        line+=" $policy $(outcome "mpi_ranks.$policy") $(milliseconds "mpi_ranks.$policy" one);"
    done
    verdict "$status" "mpi_ranks:$line"
    mkdir -p "$WORK/ranks"
    run_as 120 mpi_ranks.recorded ordered PYTHONDONTWRITEBYTECODE=1 "PTDS_TRACE=$WORK/ranks/%r.%p.ptds" \
        "${mpi[@]}" python3 tests/device/mpi_ranks.py
    attempt 60 mpi_ranks.report "$PTDS" report "$WORK/ranks"
    while IFS= read -r line; do note "       $line"; done < <(head -n 12 "$WORK/mpi_ranks.report.out")
}

# CUDARTS: CUDA runtime libraries of several versions, if somebody has put some there.
stack_cudarts() {
    local library
    for library in ${CUDARTS:-}; do
        stack "observe ordered per-thread stream" cudart_versions "$library"
    done
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
    SETTING=CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=1 stack "$all" cuda_bindings_threads
    SETTING=NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM=1 stack "$all" numba_threads
    stack "$all" cuda_core_threads
    SETTING=PTDS_EXPLICIT_LEGACY=remap stack "$all" cuda_core_threads
    stack "$all" jax_threads
    stack "$all" warp_loop
    stack "$all" quadrants_loop
    stack "$all" exchange
    stack "observe stream" exchange threads
    stack_ranks
    stack_cudarts
}

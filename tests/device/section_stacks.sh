# SPDX-License-Identifier: Apache-2.0
# scripts/gpu stacks: what people run, with stock packages, without the shim, under every policy and recorded. Each program
# checks its own results; where they are the same from run to run they must also equal the run without the shim bit for bit.
# What a policy documents as its price is shown, not judged. They run under python3, and those of several threads also under each
# Python without the GIL that is here (python3.13t, python3.14t, or PYTHONS_WITHOUT_GIL), with eight threads.
# shellcheck shell=bash

read -ra STACK_COLUMNS <<<"${STACK_COLUMNS:-bare observe guarded per-thread stream recorded}" # `bare` first, `recorded` among them

# Whether STACKS selects this program, or nothing is selected.
stack_wanted() {
    STACKS_SEEN+=" $1 "
    [[ -z ${STACKS:-} || " $STACKS " == *" $1 "* ]]
}

# stack_run LABEL COLUMN program...: one process, or those that the program starts; `recorded` is `guarded` with traces.
stack_run() {
    local label=$1 column=$2
    local settings=(PYTHONDONTWRITEBYTECODE=1 ${SETTING:+"$SETTING"}) policy=$column
    shift 2
    if [[ $column == recorded ]]; then
        policy=guarded
        mkdir -p "$WORK/$label.traces"
        settings+=("PTDS_TRACE=$WORK/$label.traces/%r.%p.ptds")
    fi
    run_as 120 "$label.$column" "$policy" "${settings[@]}" "$@"
}

# stack_word LABEL COLUMN: how the latest run ended, and whether a right result has the bits of the run without the shim.
stack_word() {
    local word bits
    word=$(outcome "$1.$2")
    bits=$(checksum "$1.$2")
    # shellcheck disable=SC2153  # run_as sets it
    if [[ $word == right && $STATUS != 0 ]]; then
        word="right, then status $STATUS"
    elif [[ $word == right && $bits != "$(checksum "$1.bare")" ]]; then
        word="other bits"
    elif [[ $word == right && -z $bits ]]; then
        word="right within tolerance"
    fi
    echo "$word"
}

# All times of a run in the order in which it printed them; their names.
stack_times() { sed -n 's/^[a-z_]*_ms //p' "$WORK/$1.out" | paste -sd/ - | sed 's/^./ &/'; }
stack_time_names() { sed -n 's/^\([a-z_]*\)_ms .*/\1/p' "$WORK/$1.out" | paste -sd/ - | sed 's/..*/ (ms &)/'; }

# stack JUDGED NAME arguments...: a line of the table for a program of this folder, and one for its report. JUDGED names the
# policies that must be right. SETTING is a variable for all runs of it, LAUNCHER an array of what to start it with, PYTHON another
# Python than python3.
stack() {
    local judged=$1 name=$2 label line="" report status=0 column word skip gil
    stack_wanted "$name" || return 0
    shift 2
    label=$name${1:+.${1//\//_}}${SETTING:+.$SETTING}${PYTHON:+.${PYTHON##*/}}
    [[ " $judged " != *" guarded "* ]] || judged+=" recorded"
    for column in "${STACK_COLUMNS[@]}"; do
        stack_run "$label" "$column" "${LAUNCHER[@]}" "${PYTHON:-python3}" "tests/device/$name.py" "$@"
        skip=$(said_skip "$label.$column")
        if [[ $column == bare && -n $skip ]]; then
            note "     $label: skipped, $skip"
            return 0
        fi
        word=$(stack_word "$label" "$column")
        line+=" $column $word$(stack_times "$label.$column");"
        [[ $word == right* && $word != *status* ]] || [[ " bare $judged " != *" $column "* ]] || status=1
        # Nothing to compare the rest with.
        [[ $column != bare || $status == 0 ]] || break
    done
    [[ $column == bare ]] || report=$(stack_report "$label") || status=1
    gil=$(sed -n 's/^GIL //p' "$WORK/$label.bare.out" | head -1)
    verdict "$status" "$label${gil:+, GIL $gil}$(stack_time_names "$label.bare"):$line"
    [[ $column == bare ]] || note "       report: $report"
    rm -rf "$WORK/$label.traces"
}

# What the recorded run's report says, in a line; its findings one by one go to the log. Fails without a report: then nobody
# knows whether the shim was there.
stack_report() {
    attempt 120 "$1.report" "$PTDS" report --format json -o "$WORK/$1.json" "$WORK/$1.traces"
    if [[ $STATUS -ne 0 ]]; then
        echo "none, status $STATUS: $(head -n 1 "$WORK/$1.report.err")"
        return 1
    fi
    attempt 60 "$1.words" python3 tests/device/report_words.py "$WORK/$1.json"
    head -n 1 "$WORK/$1.words.out"
    return "$STATUS"
}

# stack_gone NAME arguments...: where `per-thread` makes this program's results wrong, the report shows which order is gone: an
# error where two operations prove it, a warning where nobody sees how much of its memory a kernel touches.
stack_gone() {
    local name=$1 label status=0 word report shown
    stack_wanted "$name" || return 0
    shift
    label=$name${1:+.$1}.gone
    mkdir -p "$WORK/$label.traces"
    run_as 120 "$label" per-thread PYTHONDONTWRITEBYTECODE=1 "PTDS_TRACE=$WORK/$label.traces/%p.ptds" \
        python3 "tests/device/$name.py" "$@"
    [[ -z $(said_skip "$label") ]] || return 0
    word=$(outcome "$label")
    report=$(stack_report "$label") || status=1
    shown=$(grep -sEc '^shown  (error|warning)  order-given-up  ' "$WORK/$label.words.out") || true
    [[ $word == right || ($word == wrong && $shown -gt 0) ]] || status=1
    verdict "$status" "$label: per-thread recorded $word, findings shown that order is gone: $shown"
    note "       report: $report"
    rm -rf "$WORK/$label.traces"
}

# Two ranks, a trace each, one report.
stack_ranks() {
    local LAUNCHER=(mpirun --allow-run-as-root --oversubscribe -n 2)
    stack_wanted mpi_ranks || return 0
    command -v mpirun >/dev/null || { note "     mpi_ranks: no mpirun"; return 0; }
    stack "observe guarded per-thread stream" mpi_ranks
}

# CUDARTS: CUDA runtime libraries of several versions, if somebody has put some there.
stack_cudarts() {
    local library
    stack_wanted cudart_versions || return 0
    [[ -n ${CUDARTS:-} ]] || note "     cudart_versions: no CUDARTS"
    for library in ${CUDARTS:-}; do
        stack "observe guarded per-thread stream" cudart_versions "$library"
    done
}

python_words() {
    "$1" -c 'import sys, sysconfig
print("Python", sys.version.split()[0] + ", %s the GIL" % ("without" if sysconfig.get_config_var("Py_GIL_DISABLED") else "with"))'
}

# Where threads run Python side by side, nothing but the default stream is left to hold them back.
stacks_without_gil() {
    local name PYTHON
    export SIDE_BY_SIDE_THREADS=8
    for name in ${PYTHONS_WITHOUT_GIL:-python3.13t python3.14t}; do
        PYTHON=$(command -v "$name") || { note "     $name: not here"; continue; }
        note "     $name is $(python_words "$PYTHON")"
        [[ $(python_words "$PYTHON") == *", without the GIL" ]] || continue
        stack "$1" torch_threads
        stack "$1" cupy_threads
        stack "$1" numba_threads
        stack "$1" cuda_bindings_threads
        stack "$1" cuda_core_threads
        SETTING=PTDS_EXPLICIT_LEGACY=remap stack "$1" cuda_core_threads
    done
    unset SIDE_BY_SIDE_THREADS
}

# A name that no program has would otherwise be a run in which nothing failed.
stacks_unknown() {
    local name
    for name in ${STACKS:-}; do
        [[ $STACKS_SEEN == *" $name "* ]] || fail "no stack $name"
    done
}

section_stacks() {
    command -v python3 >/dev/null || { note "     no python3 here"; return 0; }
    PTDS=$(find_command) || { fail "no ptds"; return 0; }
    STACKS_SEEN=""
    local LAUNCHER=() all="observe guarded per-thread stream" PYTHON=""
    note "     python3 is $(python_words python3)"
    stack "$all" torch_threads
    # PyTorch's allocator hands blocks from thread to thread at once, its backward pass is a thread of its own, and the
    # exchange between threads hands over unfinished work: each needs order that `per-thread` gives up.
    stack "observe guarded stream" torch_threads temporaries
    stack "observe guarded stream" torch_step
    stack_gone torch_step
    # Blocks go from thread to thread with their work pending, as above.
    stack "observe guarded stream" torch_segments
    stack "$all" torch_loader
    stack "$all" torch_graph
    stack "$all" torch_graphs
    stack "observe guarded stream" torch_compile
    stack "$all" torch_nccl
    stack "observe guarded stream" torch_two_gpus
    stack "$all" cupy_threads
    stack "$all" numba_threads
    SETTING=NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM=1 stack "$all" numba_threads
    stack "$all" cuda_bindings_threads
    SETTING=CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=1 stack "$all" cuda_bindings_threads
    stack "$all" cuda_core_threads
    SETTING=PTDS_EXPLICIT_LEGACY=remap stack "$all" cuda_core_threads
    stack "$all" jax_threads
    stack "$all" warp_loop
    stack "$all" quadrants_loop
    stack "$all" exchange
    stack "observe guarded stream" exchange threads
    stack_gone exchange threads
    stack_ranks
    stack_cudarts
    stacks_without_gil "$all"
    stacks_unknown
}

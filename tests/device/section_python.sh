# SPDX-License-Identifier: Apache-2.0
# scripts/gpu python: PyTorch, CuPy and numba-cuda with default-stream work from 4 threads, without the shim and remapped.
# shellcheck shell=bash

# python_program JUDGED NAME arguments...: one line of the table; with JUDGED 0 wrong results are shown, not judged.
python_program() {
    local judged=$1 name=$2 policy line="" status=0 skip label
    shift 2
    label=$name${1:+.$1}
    for policy in bare per-thread ordered stream; do
        run_as 90 "$label.$policy" "$policy" PYTHONDONTWRITEBYTECODE=1 python3 "tests/device/$name.py" "$@"
        skip=$(said_skip "$label.$policy")
        if [[ -n $skip ]]; then
            note "     $label: skipped, $skip"
            return 0
        fi
        said_ok "$label.$policy" || status=1
        line+=" $policy $(outcome "$label.$policy") $(milliseconds "$label.$policy")"
        line+="$(milliseconds "$label.$policy" arithmetic | sed 's|^|/|');"
    done
    if [[ $judged == 1 ]]; then
        verdict "$status" "$label:$line"
    else
        note "     $label:$line"
    fi
}

section_python() {
    command -v python3 >/dev/null || { note "     no python3 here"; return 0; }
    note "     ms of 4 threads: sleep kernels/arithmetic"
    python_program 1 torch_threads
    python_program 1 cupy_threads
    python_program 1 numba_threads
    # PyTorch's own threads and allocator rely on one stream's order; what each policy makes of that is for the record.
    python_program 0 torch_threads temporaries
    python_program 0 torch_step
}

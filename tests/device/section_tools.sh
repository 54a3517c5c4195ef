# SPDX-License-Identifier: Apache-2.0
# scripts/gpu tools: tools for CUDA programs run the remapped program. compute-sanitizer and ncu resolve functions of the
# driver before any constructor has run, which is what a hook of dlsym must stand; cuda-gdb stops in a kernel; CUPTI is loaded
# by the driver (CUDA_INJECTION64_PATH), and by PyTorch's profiler.
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

tool_cuda_gdb() {
    local policy=$1 name=cuda-gdb.$1 status=0 stops program
    program=$(find_program apps/overlap) || return 0
    run_as 120 "$name" "$policy" "PTDS_REPORT=$WORK/$name.report" cuda-gdb -batch -ex 'set breakpoint pending on' \
        -ex 'break add_one' -ex run -ex 'info cuda kernels' -ex delete -ex continue --args "$program" 2 5 20000
    stops=$(cat "$WORK/$name.out" "$WORK/$name.err" | grep -c "CUDA thread hit" || true)
    [[ $stops -gt 0 ]] || status=1
    tool_row "$name" "$status" ", stopped in a kernel $stops times"
}

# Activity records of calls and kernels, into a library that the driver loads.
tool_cupti() {
    local policy=$1 name=cupti.$1 status=0 peer count=none
    peer=$(find_program bench/libbench_cupti.so) || return 0
    run_as 120 "$name" "$policy" "PTDS_REPORT=$WORK/$name.report" "CUDA_INJECTION64_PATH=$peer" BENCH_CUPTI=activity \
        "BENCH_CUPTI_LOG=$WORK/$name.log" "$PROGRAM" 2 10 20000
    read -r count _ <"$WORK/$name.log" || status=1
    [[ ${count:-0} -gt 0 ]] || status=1
    tool_row "$name" "$status" ", CUPTI delivered ${count:-nothing}"
}

# Nsight Systems as it is installed, or the copy that comes with Nsight Compute.
find_nsys() {
    command -v nsys || find -L /opt/nvidia /usr/local/cuda*/ -maxdepth 6 -name nsys -type f -perm -u+x 2>/dev/null | head -1
}

# nsys_collects NAME POLICY: the size of what nsys collected of the program. Not all copies can import that into a file of their own.
nsys_collects() {
    local name=$1 policy=$2
    shift 2
    run_as 180 "$name" "$policy" "$@"
    stat -c %s "$WORK/$name.qdstrm" "$WORK/$name.nsys-rep" 2>>"$LOG" | sort -n | tail -1
}

# Both put libraries into the program before all others: nsys collects as much as without the shim, give or take a half, and our
# report is written; kernels are in nsys' own file, where this copy can make one. A copy that collects nothing of the bare program is
# no neighbour.
tool_nsys() {
    local nsys=$1 policy=$2 name=nsys.$2 status=0 bare ours kernels words program
    program=$(find_program apps/overlap) || return 0
    local profile=("$nsys" profile "--trace=cuda,nvtx" --sample=none --cpuctxsw=none --force-overwrite=true)
    bare=$(nsys_collects nsys.bare bare "${profile[@]}" "--output=$WORK/nsys.bare" "$program" 2 10 20000)
    [[ ${bare:-0} -gt 0 ]] || { note "     nsys: skipped, $nsys collects nothing of the bare program"; return 0; }
    ours=$(nsys_collects "$name" "$policy" "PTDS_REPORT=$WORK/$name.report" "${profile[@]}" "--output=$WORK/$name" "$program" 2 10 20000)
    [[ $((${ours:-0} * 2)) -ge $bare ]] || status=1
    words=", nsys collected ${ours:-0} bytes (bare $bare)"
    if [[ -s $WORK/$name.nsys-rep ]]; then
        kernels=$("$nsys" stats --force-export=true --format csv --report cuda_gpu_trace "$WORK/$name.nsys-rep" 2>>"$LOG" |
            grep -cE 'spin_ns|add_one' || true)
        [[ $kernels -ge 40 ]] || status=1
        words+=", $kernels kernels in its file (40 were launched)"
    else
        words+=", and can't import it"
    fi
    tool_row "$name" "$status" "$words"
}

# As many kernels as without the shim.
tool_profiler() {
    local policy=$1 name=torch-profiler.$1 status=0
    run_as 120 torch-profiler.bare bare python3 tests/device/torch_profiled.py
    [[ -z $(said_skip torch-profiler.bare) ]] || { note "     torch-profiler: skipped, $(said_skip torch-profiler.bare)"; return 0; }
    run_as 120 "$name" "$policy" "PTDS_REPORT=$WORK/$name.report" python3 tests/device/torch_profiled.py
    [[ $(checksum "$name") == "$(checksum torch-profiler.bare)" ]] || status=1
    tool_row "$name" "$status" ", $(sed -n 's/^kernels //p' "$WORK/$name.out") kernels profiled"
}

# device_times NAME program...: our own use of CUPTI. Nearly all operations have times, of programs that call the runtime, too.
device_times() {
    local name=device-times.$1 timed operations command
    shift
    command=$(find_command) || { fail "$name: no ptds"; return 0; }
    rm -f "$WORK/$name.ptds"
    run_as 120 "$name" guarded "PTDS_TRACE=$WORK/$name.ptds" PTDS_TRACE_LIMIT=256M PTDS_DEVICE_TIMES=cupti \
        "LD_LIBRARY_PATH=$(path_with_cupti)" "$@"
    [[ -z $(said_skip "$name") ]] || { note "     $name: skipped, $(said_skip "$name")"; return 0; }
    "$command" report --format json -o "$WORK/$name.json" "$WORK/$name.ptds" >>"$LOG" 2>&1 || true
    read -r timed operations < <(python3 -c "import json, sys
whole = json.load(open(sys.argv[1]))['completeness']
print(whole['gpu_timed'], whole['gpu_operations'])" "$WORK/$name.json")
    said_ok "$name" && [[ ${operations:-0} -gt 0 && $((timed * 100)) -ge $((operations * 98)) ]]
    verdict "$?" "$name: program $(outcome "$name"), GPU times of ${timed:-no answer} of ${operations:-} operations (goal 98 %)"
    rm -f "$WORK/$name.ptds"
}

section_tools() {
    local tool tool_function policy nsys
    PROGRAM=$(find_program apps/overlap_cudart) || PROGRAM=$(find_program apps/overlap) || { fail "no program to run"; return 0; }
    for policy in per-thread guarded; do
        tool_cupti "$policy"
        tool_profiler "$policy"
    done
    nsys=$(find_nsys)
    [[ -n $nsys ]] || note "     no nsys here"
    for policy in ${nsys:+per-thread guarded}; do
        tool_nsys "$nsys" "$policy"
    done
    device_times runtime "$PROGRAM" 4 50 20000
    device_times torch python3 tests/device/torch_step.py
    device_times cupy python3 tests/device/cupy_threads.py
    for tool in compute-sanitizer ncu cuda-gdb; do
        if ! command -v "$tool" >/dev/null; then
            note "     no $tool here"
            continue
        fi
        for policy in per-thread guarded; do
            tool_function=${tool#compute-}
            "tool_${tool_function//-/_}" "$policy"
        done
    done
}

# SPDX-License-Identifier: Apache-2.0
# scripts/bench times: what it costs to record GPU times (PTDS_DEVICE_TIMES), beside the same record without them: of a program
# that calls the driver, and of one that calls the runtime, whose calls CUPTI then records, too. On a GPU.
# shellcheck shell=bash

TIMES_IN=(bare observe observe/sampled observe/cupti)

# times_came NAME program arguments...: whether nearly all of what the program puts on the GPU gets a time from CUPTI.
times_came() {
    local name=$1 timed operations
    shift
    rm -f "$scratch/times.ptds"
    PTDS_TRACE=$scratch/times.ptds attempt observe/cupti "$@" || return 1
    "$command" report --format json -o "$scratch/times.json" "$scratch/times.ptds" >"$scratch/out" 2>&1 || true
    read -r timed operations < <(python3 -c "import json, sys
whole = json.load(open(sys.argv[1]))['completeness']
print(whole['gpu_timed'], whole['gpu_operations'])" "$scratch/times.json") || true
    rm -f "$scratch/times.ptds"
    [[ ${operations:-0} -gt 0 && $((timed * 100)) -ge $((operations * 95)) ]] && return 0
    left_out "times: $name not measured: CUPTI timed ${timed:-none} of its ${operations:-} operations"
    return 1
}

# The rows of a program of the runtime; of those of the driver run_calls makes them.
run_runtime() {
    local configuration=$1 repetition=$2 call door median _
    PTDS_TRACE_LIMIT=32M attempt "$configuration" "$runtime" "$batches" "$((batches / 5 + 1))" 600000 || return 0
    while read -r call door _ median _; do
        sample "times.$ON" "$call/$door/1" "$configuration" "$repetition" "$median"
    done < <(grep -v '^#' "$scratch/out")
}

# With BENCH_CUPTI_STAND_IN set, on the simulated driver and with a libcupti that makes times up: for bench_test.sh.
part_times() {
    local ON=$1 command runtime='' repetition configuration path=${LD_LIBRARY_PATH:-}
    if [[ $ON != gpu && ($ON != simulated || -z ${BENCH_CUPTI_STAND_IN:-}) ]]; then
        [[ $ON == alone ]] || left_out "times: not measured on this driver: CUPTI needs a GPU's"
        return 0
    fi
    command=$(find_command) || { left_out "times: not measured: no ptds"; return 0; }
    [[ $ON != gpu ]] || runtime=$(find_program bench/calls_runtime) ||
        left_out "times: nothing of the runtime: bazel build -c opt //tests/bench:calls_runtime"
    LD_LIBRARY_PATH=$(path_with_cupti)
    export LD_LIBRARY_PATH
    if times_came calls "$calls" 1 2 0 elf launch; then
        [[ -z $runtime ]] || times_came calls_runtime "$runtime" 2 0 || runtime=''
        for ((repetition = 1; repetition <= repetitions; repetition++)); do
            for configuration in "${TIMES_IN[@]}"; do
                run_calls "times.$ON" "$configuration" "$repetition" 1 "$batches" elf launch,memcpy-htod-async,event-record
                [[ -z $runtime ]] || run_runtime "$configuration" "$repetition"
            done
        done
    fi
    LD_LIBRARY_PATH=$path
    [[ -n $path ]] || unset LD_LIBRARY_PATH
}

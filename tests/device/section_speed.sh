# SPDX-License-Identifier: Apache-2.0
# scripts/gpu speed: what policy guarded gains and costs. Whole programs, each configuration in turn within a round, medians of
# REPETITIONS rounds; then single calls and many threads, on the empty driver and on the real one. A goal that is missed is a
# line that begins with MISS; a wrong result is one that begins with FAIL. SPEED="threads calls" runs only these of its parts.
# shellcheck shell=bash

REPETITIONS=${REPETITIONS:-9}

# middle NUMBERS: their median, of a list as one word.
# shellcheck disable=SC2086
middle() { median ${1:-}; }

# paired "numbers" "numbers" OPERATOR: the median over the rounds of a OPERATOR b.
paired() {
    paste <(tr ' ' '\n' <<<"$1" | grep .) <(tr ' ' '\n' <<<"$2" | grep .) |
        awk -v op="$3" '$2 != "" { if (op == "-") printf "%.1f\n", $1 - $2; else if ($2 + 0) printf "%.4f\n", $1 / $2 }' |
        sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "nan" }'
}

# ---- whole programs ----

# Programs with nvcc's code: carried, or compiled here. speed_cudart FOLDER/NAME FOLDER/SOURCE options...
speed_cudart() {
    local name=$1 source=tests/$2
    shift 2
    if ! find_program "$name" >/dev/null && command -v nvcc >/dev/null && [[ -e $source ]]; then
        attempt 120 "nvcc.$(basename "$name")" nvcc -O2 -std=c++17 "$@" -gencode arch=compute_75,code=compute_75 \
            "$source" -o "$BUILT/$(basename "$name")"
    fi
    find_program "$name"
}

# speed_rounds "name policy variables program arguments..." ...: variables is - or a list with commas. Times and results by name.
speed_rounds() {
    local round line name policy variables command settings
    declare -gA TIMES=() SUMS=() WRONG=()
    for ((round = 1; round <= REPETITIONS; round++)); do
        for line in "$@"; do
            read -r name policy variables command <<<"$line"
            settings=()
            [[ $variables == - ]] || IFS=, read -ra settings <<<"$variables"
            # shellcheck disable=SC2086
            run_as 60 "speed.$name" "$policy" "${settings[@]}" $command
            TIMES[$name]+=" $(milliseconds "speed.$name")"
            SUMS[$name]="$(outcome "speed.$name") $(checksum "speed.$name")"
            [[ ${SUMS[$name]} == right* ]] || WRONG[$name]=${SUMS[$name]}
        done
    done
}

# speed_row TITLE NAME YARDSTICK speed|time GOAL: at least that share of the yardstick's speed, or at most that of its time.
speed_row() {
    local title=$1 name=$2 yardstick=$3 what=$4 goal=$5 value words status=0
    if [[ $what == speed ]]; then
        value=$(paired "${TIMES[$yardstick]}" "${TIMES[$name]}" /)
        words=">= $goal"
        at_least "$value" "$goal" || status=1
    else
        value=$(paired "${TIMES[$name]}" "${TIMES[$yardstick]}" /)
        words="<= $goal"
        at_most "$value" "$goal" || status=1
    fi
    words=$(printf '%-44s %9.2f ms, %s %9.2f ms: %s %.3f (goal %s)' "$title" "$(middle "${TIMES[$name]}")" "$yardstick" \
        "$(middle "${TIMES[$yardstick]}")" "$what" "$value" "$words")
    if [[ -n ${WRONG[$name]:-}${WRONG[$yardstick]:-} || ${SUMS[$name]} != "${SUMS[$yardstick]}" ]]; then
        fail "$words; results: $name ${WRONG[$name]:-${SUMS[$name]}}, $yardstick ${WRONG[$yardstick]:-${SUMS[$yardstick]}}"
    else
        speed_verdict "$status" "$words"
    fi
}

# Threads with buffers of their own; threads that share what they only read.
speed_apart() {
    local plain=$1 recompiled=$2 title=$3 goal=$4
    shift 4
    speed_rounds "guarded guarded - $plain $*" "recompiled bare - $recompiled $*"
    speed_row "$title" guarded recompiled speed "$goal"
}

speed_threads() {
    local plain recompiled
    if plain=$(speed_cudart apps/overlap_cudart apps/overlap_cudart.cu) &&
        recompiled=$(speed_cudart apps/overlap_cudart_per_thread apps/overlap_cudart.cu --default-stream per-thread); then
        speed_apart "$plain" "$recompiled" "own buffers, 8 threads x 50, copies" 0.97 8 50 200000 0
        speed_apart "$plain" "$recompiled" "own buffers, 8 x 50, kernels only" 0.97 8 50 200000 1
        speed_apart "$plain" "$recompiled" "own buffers, 32 x 100, copies" 0.97 32 100 200000 0
        speed_apart "$plain" "$recompiled" "own buffers, 32 x 100, kernels only" 0.97 32 100 200000 1
    else
        fail "overlap_cudart: not carried, and no nvcc here"
    fi
    if plain=$(speed_cudart apps/speed/shared_table apps/speed/shared_table.cu) &&
        recompiled=$(speed_cudart apps/speed/shared_table_per_thread apps/speed/shared_table.cu --default-stream per-thread); then
        speed_apart "$plain" "$recompiled" "a table that all read, 8 x 50" 0.95 8 50 200000
        speed_apart "$plain" "$recompiled" "a table that all read, 32 x 100" 0.95 32 100 200000
    else
        fail "shared_table: not carried, and no nvcc here"
    fi
}

# Threads that conflict in every operation: legacy's own speed.
speed_conflicts() {
    local program ns
    program=$(find_program apps/speed/conflict) || { fail "conflict: not here"; return 0; }
    for ns in 0 100000; do
        speed_rounds "guarded guarded - $program 8 $([[ $ns == 0 ]] && echo 1000 || echo 100) $ns" \
            "legacy bare - $program 8 $([[ $ns == 0 ]] && echo 1000 || echo 100) $ns"
        speed_row "all share all, 8 threads, kernels of $([[ $ns == 0 ]] && echo "3 us" || echo "100 us")" guarded legacy time 1.05
    done
}

# Two halves of one allocation: as if they were two; and where they share words, legacy's own order and speed.
speed_halves() {
    local program
    program=$(find_program apps/halves/halves) || { fail "halves: not here"; return 0; }
    speed_rounds "guarded guarded - $program 2 100 200000" "legacy bare - $program 2 100 200000" \
        "by-hand bare - $program 2 100 200000 0 1"
    speed_row "halves of one buffer, two threads" guarded legacy time 0.52
    speed_row "halves of one buffer, two threads" guarded by-hand speed 0.95
    speed_rounds "guarded guarded PTDS_LANES=2 $program 1 100 200000" "legacy bare - $program 1 100 200000" \
        "by-hand bare - $program 1 100 200000 0 1"
    speed_row "halves of one buffer, PTDS_LANES=2" guarded legacy time 0.52
    speed_row "halves of one buffer, PTDS_LANES=2" guarded by-hand speed 0.95
    speed_rounds "guarded guarded - $program 2 100 200000 64" "lanes guarded PTDS_LANES=2 $program 2 100 200000 64" \
        "legacy bare - $program 2 100 200000 64"
    speed_row "halves that share 64 words, two threads" guarded legacy time 1.05
    speed_row "halves that share 64 words, two lanes each" lanes legacy time 1.05
}

speed_one_thread() {
    local streams chains
    streams=$(find_program apps/speed/apart_streams) || { fail "apart_streams: not here"; return 0; }
    chains=$(find_program apps/speed/chains) || { fail "chains: not here"; return 0; }
    speed_rounds "guarded guarded - $streams 200 50000 0" "by-hand bare - $streams 200 50000 1"
    speed_row "stream 0 and 4 blocking streams, apart" guarded by-hand speed 0.9
    speed_rounds "guarded guarded PTDS_LANES=4 $chains 4 200 0" "by-hand bare - $chains 4 200 1"
    speed_row "PTDS_LANES=4, 4 chains on stream 0" guarded by-hand speed 0.9
    speed_rounds "guarded guarded PTDS_LANES=4 $chains 1 200 0" "legacy bare - $chains 1 200 0"
    speed_row "PTDS_LANES=4, one dependent chain" guarded legacy time 1.02
}

# Lanes that a thread chooses by itself: rounds of chains with a wait of the host after each, or after each kernel.
speed_lanes() {
    local chains shape each
    chains=$(find_program apps/speed/chains) || { fail "chains: not here"; return 0; }
    for shape in "4 10" "8 4"; do
        for each in 0 1; do
            speed_rounds "auto guarded PTDS_LANES=auto $chains $shape 0 60 $each" "eight guarded PTDS_LANES=8 $chains $shape 0 60 $each" \
                "one guarded PTDS_LANES=1 $chains $shape 0 60 $each" "legacy bare - $chains $shape 0 60 $each" \
                "by-hand bare - $chains $shape 1 60 $each"
            note "     ${shape% *} chains of ${shape#* }, 60 rounds$([[ $each == 0 ]] || echo ", a wait after each kernel"): legacy $(
                middle "${TIMES[legacy]}") ms, one lane $(middle "${TIMES[one]}"), 8 lanes $(middle "${TIMES[eight]}")"
            [[ $each == 1 ]] || speed_row "... as many lanes as it likes" auto by-hand speed 0.9
            [[ $each == 0 ]] || speed_row "... as many lanes as it likes" auto legacy time 1.02
        done
    done
    for each in 0 1; do
        speed_rounds "auto guarded PTDS_LANES=auto $chains 1 40 0 60 $each" "legacy bare - $chains 1 40 0 60 $each"
        speed_row "one chain of 40, 60 rounds$([[ $each == 0 ]] || echo ", a wait after each")" auto legacy time 1.02
    done
}

# Networks in PyTorch from one thread, by allocator: never slower, and the same bits.
speed_nets() {
    local allocator round way settings line
    declare -A ms
    for allocator in "" backend:cudaMallocAsync; do
        ms=()
        for ((round = 1; round <= 3; round++)); do
            for way in bare guarded lanes8; do
                settings=("PYTORCH_CUDA_ALLOC_CONF=$allocator")
                [[ $way != lanes8 ]] || settings+=(PTDS_LANES=8)
                run_as 120 "nets.$way" "${way/lanes8/guarded}" "${settings[@]}" python3 tests/device/torch_nets.py 40
                [[ -z $(said_skip "nets.$way") ]] || { note "     torch_nets: $(said_skip "nets.$way")"; return 0; }
                ms[$way.right]=$(outcome "nets.$way")$(checksum "nets.$way")
                while read -r _ net batch time; do ms[$way.$net.$batch]+=" $time"; done < <(grep '^net ' "$WORK/nets.$way.out")
            done
        done
        [[ ${ms[bare.right]} == "${ms[guarded.right]}" && ${ms[bare.right]} == "${ms[lanes8.right]}" && ${ms[bare.right]} == right* ]] ||
            fail "torch_nets ${allocator:-caching allocator}: ${ms[bare.right]}, guarded ${ms[guarded.right]}, 8 lanes ${ms[lanes8.right]}"
        for line in residual.1 residual.8 transformer.1 transformer.8 branched.1 branched.8; do
            speed_verdict "$(at_most "$(paired "${ms[guarded.$line]}" "${ms[bare.$line]}" /)" 1.02 && echo 0 || echo 1)" "$(printf \
                '%-44s %8.3f ms bare, guarded %.3f of it (goal <= 1.02), 8 lanes %.3f' "torch $line ${allocator:-caching allocator}" \
                "$(middle "${ms[bare.$line]}")" "$(paired "${ms[guarded.$line]}" "${ms[bare.$line]}" /)" \
                "$(paired "${ms[lanes8.$line]}" "${ms[bare.$line]}" /)")"
        done
    done
}

# ---- single calls ----

# on_driver empty|real command...: on that driver.
on_driver() {
    local which=$1 path=${LD_LIBRARY_PATH:-}
    shift
    [[ $which != empty ]] || path=$EMPTY_DRIVER${path:+:$path}
    LD_LIBRARY_PATH=$path "$@"
}

# call_rounds empty|real COMPANY BATCHES CALLS: NS[call.name] is what a call takes, by round. Recorded only once the recorder
# has written to all its memory.
call_rounds() {
    local driver=$1 company=$2 count=$3 names=$4 round name policy report queue=800 call median _
    declare -gA NS=()
    [[ $driver != empty ]] || queue=0
    for ((round = 1; round <= REPETITIONS; round++)); do
        while read -r name policy report; do
            on_driver "$driver" run_as 60 "calls.$name" "$policy" "PTDS_REPORT=$report" PTDS_TRACE_LIMIT=32M \
                "$(find_program bench/calls)" 1 "$count" 5 elf "$names" "$queue" \
                "$([[ $report == off ]] && echo 0 || echo 600000)" "$company"
            while read -r call _ _ median _; do
                NS[$call.$name]+=" $median"
            done < <(grep -v '^#' "$WORK/calls.$name.out")
        done <<<"$(printf '%s\n' "bare bare off" "guarded guarded off" "recorded guarded summary")"
    done
}

# call_row TITLE CALL GOAL GOAL_RECORDED: goals in ns added, or - where there is none.
call_row() {
    local title=$1 call=$2 goal=$3 recorded_goal=$4 plain recorded status=0
    plain=$(paired "${NS[$call.guarded]:-}" "${NS[$call.bare]:-}" -)
    recorded=$(paired "${NS[$call.recorded]:-}" "${NS[$call.bare]:-}" -)
    [[ $goal == - ]] || at_most "$plain" "$goal" || status=1
    [[ $recorded_goal == - ]] || at_most "$recorded" "$recorded_goal" || status=1
    title=$(printf '%-44s %8.1f ns bare, added %6.1f' "$title: $call" "$(middle "${NS[$call.bare]:-}")" "$plain")
    [[ $goal == - ]] || title+=" (goal <= $goal)"
    title+=$(printf ', recorded %6.1f' "$recorded")
    [[ $recorded_goal == - ]] || title+=" (goal <= $recorded_goal)"
    if [[ $plain == nan || $recorded == nan ]]; then
        fail "$title"
    elif [[ $call == launch && ${title%%,*} == empty* ]] && at_most "$plain" 1; then
        fail "$title: the shim was not there"
    elif [[ $goal == - && $recorded_goal == - ]]; then
        note "     $title"
    else
        speed_verdict "$status" "$title"
    fi
}

# On the empty driver to the nanosecond, and that is judged; on the real one, whose own time varies by more, shown.
speed_calls() {
    local company title call
    for company in 0 1; do
        title="empty driver, $((company + 1)) lane$([[ $company == 0 ]] || echo s)"
        call_rounds empty "$company" 60 launch,launch-four,memcpy-htod-async,memset-async,event-record,ctx-get-current,device-attribute
        call_row "$title" launch-four 80 100
        call_row "$title" launch 25 -
        call_row "$title" ctx-get-current 0.5 0.5
        call_row "$title" device-attribute 0.5 0.5
        for call in memcpy-htod-async memset-async event-record; do
            call_row "$title" "$call" - -
        done
    done
    call_rounds real 1 20 launch,launch-four,memcpy-htod-async,event-record,ctx-get-current
    for call in launch launch-four memcpy-htod-async event-record ctx-get-current; do
        call_row "real driver, 2 lanes" "$call" - -
    done
}

# together_rounds empty|real CALL THREADS...: NS[threads.name]
together_rounds() {
    local driver=$1 call=$2 round threads policy
    shift 2
    declare -gA NS=()
    for ((round = 1; round <= REPETITIONS; round++)); do
        for threads in "$@"; do
            for policy in bare guarded; do
                on_driver "$driver" run_as 60 "together.$policy" "$policy" "$(find_program bench/sustain)" together "$call" \
                    "$threads" 50
                NS[$threads.$policy]+=" $(sed -n 's/^ns //p' "$WORK/together.$policy.out")"
            done
        done
    done
}

# Flat: what guarded adds is no more with many threads than with one, but for what many threads on one machine take anyway.
speed_many_threads() {
    local threads plain first status line
    together_rounds empty launch-four 1 8 32 128
    first=$(paired "${NS[1.guarded]}" "${NS[1.bare]}" -)
    for threads in 1 8 32 128; do
        status=0
        plain=$(paired "${NS[$threads.guarded]}" "${NS[$threads.bare]}" -)
        at_most "$plain" "$(awk -v a="$first" 'BEGIN { print a * 1.5 }')" || status=1
        line=$(printf '%-44s %8.1f ns bare, added %6.1f (goal: <= 1.5 x that of 1)' \
            "empty driver, $threads threads: launch-four" "$(middle "${NS[$threads.bare]}")" "$plain")
        speed_verdict "$status" "$line"
    done
    REPETITIONS=3 together_rounds real launch-four 1 16 128
    for threads in 1 16 128; do
        line=$(printf '%-44s %8.1f ns bare, %8.1f guarded' "real driver, $threads threads: launch-four" \
            "$(middle "${NS[$threads.bare]}")" "$(middle "${NS[$threads.guarded]}")")
        if [[ $(paired "${NS[$threads.guarded]}" "${NS[$threads.bare]}" -) == nan ]]; then
            fail "$line"
        else
            note "     $line"
        fi
    done
}

section_speed() {
    note "medians of $REPETITIONS rounds; single calls and threads in ns a call, by which guarded is longer than bare"
    EMPTY_DRIVER=$(find_program bench/empty/libcuda.so.1) || { fail "no empty driver here"; return 0; }
    EMPTY_DRIVER=$(dirname "$EMPTY_DRIVER")
    local part started
    for part in ${SPEED:-threads conflicts halves one_thread lanes nets calls many_threads}; do
        started=$SECONDS
        "speed_$part"
        detail "speed: $part took $((SECONDS - started)) s"
    done
}

# SPDX-License-Identifier: Apache-2.0
# scripts/bench memory: what recording costs over time (bytes a call, a million calls a second, records that are lost), and
# what a process with many threads pays in memory, and one that runs long.
# shellcheck shell=bash

# Bytes of trace a call: a trace of so many calls that the chunks' ends no longer show, less that of none.
trace_bytes() {
    local call count size empty_size
    [[ $ON == alone ]] || return 0 # the driver has no part in it
    count=$(of_size 1000000 20000)
    for call in launch memcpy-htod-async event-record; do
        rm -f "$scratch/trace"
        PTDS_TRACE=$scratch/trace attempt guarded/off "$sustain" count "$call" 2 || return 0
        empty_size=$(stat -c %b "$scratch/trace")
        rm -f "$scratch/trace"
        PTDS_TRACE=$scratch/trace PTDS_TRACE_LIMIT=1G attempt guarded/off "$sustain" count "$call" "$count" || return 0
        size=$(stat -c %b "$scratch/trace")
        sample "bytes.$ON" "$call" trace 1 "$(awk -v a="$size" -v b="$empty_size" -v n="$count" 'BEGIN { print (a - b) * 512 / n }')"
    done
    rm -f "$scratch/trace"
}

# lost_records NAME REPETITION: what was not kept is counted in the trace itself; ptds report reads it.
lost_records() {
    local command name value
    command=$(find_command) || { left_out "memory: lost records not counted: no ptds"; return 0; }
    "$command" report --format json "$scratch/trace" >"$scratch/report" || return 0
    python3 tests/bench/lost.py "$scratch/report" >"$scratch/lost"
    while read -r name value; do
        sample "rate.$ON" "$name" "$1" "$2" "$value"
    done <"$scratch/lost"
}

# pace CONFIGURATION NAME REPETITION
pace() {
    attempt "$1" "$sustain" pace event-record 1000000 "$(of_size 2 1)" || return 0
    sample "rate.$ON" "ns-a-call" "$2" "$3" "$(said busy)"
    sample "rate.$ON" "calls-a-second" "$2" "$3" "$(said achieved)"
}

# traced NAME LIMIT REPETITION
traced() {
    PTDS_TRACE=$scratch/trace PTDS_TRACE_LIMIT=$2 pace guarded/off "$1" "$3"
    lost_records "$1" "$3"
    rm -f "$scratch/trace"
}

sustained() {
    local configuration repetition
    for ((repetition = 1; repetition <= $(few); repetition++)); do
        for configuration in bare guarded/off guarded; do
            pace "$configuration" "$configuration" "$repetition"
        done
        traced trace 256M "$repetition"
        traced trace-32M 32M "$repetition"
    done
}

resident() {
    local configuration repetition count
    count=$(of_size 1000 20)
    for ((repetition = 1; repetition <= $(few); repetition++)); do
        for configuration in bare per-thread/off guarded/off guarded; do
            attempt "$configuration" "$sustain" threads "$count" || return 0
            sample "memory.$ON" "kB/$count" "$configuration" "$repetition" "$(said rss)"
        done
    done
}

# What is done over and over again: kB that the process grows by. Nothing recorded: a record is kept.
grown() {
    local what count configuration
    while read -r what count; do
        for configuration in bare per-thread/off guarded/off; do
            attempt "$configuration" "$sustain" growth "$what" "$count" || continue
            sample "growth.$ON" "$what/$count" "$configuration" 1 "$(said growth)"
            [[ $what != allocations ]] || sample "growth.$ON" "$what-again/$count" "$configuration" 1 "$(said again)"
        done
    done <<LIST
launches $(of_size 10000000 2000)
streams $(of_size 1000000 2000)
events $(of_size 1000000 2000)
threads $(of_size 8000 50)
contexts $(of_size 10000 50)
allocations $(of_size 100000 2000)
LIST
}

part_memory() {
    local ON=$1
    [[ $ON != simulated ]] || return 0 # whose own memory and times would be measured
    trace_bytes
    sustained
    resident
    [[ $ON != alone ]] || grown
}

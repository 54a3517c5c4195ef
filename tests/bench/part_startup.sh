# SPDX-License-Identifier: Apache-2.0
# scripts/bench startup: milliseconds from exec to exit of processes without CUDA, and of PyTorch.
# shellcheck shell=bash

# startup ROW ROUNDS TIMES command...: many short turns, since the machine's pace changes by more than what is looked for.
startup() {
    local row=$1 rounds=$2 times=$3 repetition configuration
    shift 3
    for ((repetition = 1; repetition <= repetitions * rounds; repetition++)); do
        for configuration in bare per-thread/off guarded; do
            attempt "$configuration" python3 tests/bench/spawn.py "$times" "$@" || return 0
            sample "startup.$ON" "$row" "$configuration" "$repetition" "$(said time_ms)"
        done
    done
}

part_startup() {
    local ON=$1
    [[ $ON != alone ]] || return 0
    startup true "$(of_size 7 1)" "$(of_size 30 5)" /bin/true
    startup python "$(of_size 7 1)" "$(of_size 4 1)" python3 -c pass
    if python3 -c 'import torch' 2>/dev/null; then
        python3 -c 'import torch' # into the page cache
        if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())'; then
            startup torch-first-tensor 1 1 python3 -c 'import torch; torch.zeros(1, device="cuda").item()'
        else
            startup torch-import 1 1 python3 -c 'import torch'
        fi
    else
        left_out "startup: no import of torch: python3 has none"
    fi
}

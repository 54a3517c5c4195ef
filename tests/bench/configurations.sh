# SPDX-License-Identifier: Apache-2.0
# The configurations that measurements compare, one row each: a name, then the environment. "off" leaves nothing recorded;
# without it the recorder works. Sourced by scripts/bench, budget_test.sh and
# scale_test.sh; SHIM is the library, CUPTI_PEER the tool that uses CUPTI.
# shellcheck shell=bash

configurations() {
    cat <<'LIST'
bare
disabled PTDS_DISABLE=1
none PTDS_POLICY=none
per-thread/off PTDS_POLICY=per-thread PTDS_REPORT=off
guarded/off PTDS_POLICY=guarded PTDS_REPORT=off
stream/off PTDS_POLICY=stream PTDS_REPORT=off
observe PTDS_POLICY=observe
observe/sampled PTDS_POLICY=observe PTDS_DEVICE_TIMES=sampled
observe/cupti PTDS_POLICY=observe PTDS_DEVICE_TIMES=cupti
per-thread PTDS_POLICY=per-thread
guarded PTDS_POLICY=guarded
cupti-callbacks BENCH_CUPTI=callbacks
cupti-activity BENCH_CUPTI=activity
LIST
}

# under CONFIGURATION command...: the command's environment is the configuration's; all but bare and CUPTI's
# have the shim. At most two minutes.
under() {
    local name=$1 settings=()
    shift
    read -ra settings < <(configurations | awk -v name="$name" '$1 == name { $1 = ""; print }')
    case $name in
        bare) ;;
        cupti-*) settings+=("CUDA_INJECTION64_PATH=$CUPTI_PEER") ;;
        *) settings+=("LD_PRELOAD=$SHIM${LD_PRELOAD:+:$LD_PRELOAD}") ;;
    esac
    timeout 120 env "${settings[@]}" "$@"
}

# For a test, after tests/device/where.sh: the shim, and the empty driver for every program from here on. A sanitizer's code in
# the shim would be measured with it: then the test ends here.
on_empty_driver() {
    SHIM=$(find_shim)
    if grep -aqE '__(a|t|ub)san_' "$SHIM"; then
        echo "SKIPPED: the shim is built with a sanitizer"
        exit 0
    fi
    LD_LIBRARY_PATH=$(dirname "$(find_program bench/empty/libcuda.so.1)")
    export LD_LIBRARY_PATH
}

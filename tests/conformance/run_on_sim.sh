#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one conformance program on the simulated driver and compares its lines with what was measured on a GPU.
# usage: run_on_sim.sh PROGRAM EXPECTED LIBCUDA [SHIM [AUDITOR]]: the latter two are preloaded
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
if [ $# -gt 3 ]; then
    export LD_LIBRARY_PATH="$(cd "$(dirname "$3")" && pwd)" PTDS_REPORT=off
    LD_PRELOAD=$PWD/$4 LD_AUDIT=${5:+$PWD/$5} "$1" >"$out"
else
    LD_LIBRARY_PATH=$(cd "$(dirname "$3")" && pwd) "$1" >"$out"
fi
grep -v "^?" "$out" | diff "$2" -

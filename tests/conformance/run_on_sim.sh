#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one conformance program on the simulated driver and compares its lines with what was measured on a GPU.
# usage: run_on_sim.sh PROGRAM EXPECTED LIBCUDA
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
LD_LIBRARY_PATH=$(cd "$(dirname "$3")" && pwd) "$1" >"$out"
grep -v "^?" "$out" | diff "$2" -

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cudart_programs_test.sh STUB [PROGRAM...]: nvcc compiled these, with its kernels and its own toolkit's runtime inside. No program: no nvcc
# here. They run on a GPU (`scripts/gpu`): the simulated driver has not what the runtime asks for. Run by Bazel.
set -euo pipefail
status=0
wrong() { echo "$*"; status=1; }

mkdir "$TEST_TMPDIR/driver"
ln -s "$PWD/$1" "$TEST_TMPDIR/driver/libcuda.so.1"
shift
if [[ $# == 0 ]]; then
    for program in overlap_cudart overlap_cudart_per_thread shared_table shared_table_per_thread; do
        echo "SKIPPED $program: no nvcc here"
    done
fi
for program in "$@"; do
    sections=$(readelf -W -S "$program")
    grep -q ' \.nv_fatbin ' <<<"$sections" || wrong "$program has no kernels in it"
    ! readelf -W -d "$program" | grep 'NEEDED.*libcudart' || wrong "$program has no runtime of its own"
    # The runtime in it finds the driver, which is none.
    said=$(LD_LIBRARY_PATH=$TEST_TMPDIR/driver "$program" 1 1 2>&1) && wrong "$program came through without a driver"
    grep -q cudaErrorStubLibrary <<<"$said" || wrong "$program said: $said"
done
exit $status

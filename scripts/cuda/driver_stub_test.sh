#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# driver_stub_test.sh STUB: which functions scripts/cuda/driver_stub takes out of headers, and what they answer. Run by Bazel.
set -euo pipefail
status=0
wrong() { echo "$*"; status=1; }

cat >"$TEST_TMPDIR/cuda.h" <<'H'
    #define cuRenamed                           cuRenamed_v2
    #define cuCopy                              __CUDA_API_PTDS(cuCopy_v2)
    #define cuLaunch                            __CUDA_API_PTSZ(cuLaunch)
    #define cuGetProcAddress                    __CUDA_API_PTSZ(cuGetProcAddress_v2)
    #define CU_NUMBER 3
CUresult CUDAAPI cuInit(unsigned int Flags);
__CUDA_DEPRECATED CUresult CUDAAPI cuOld (int a);
typedef void (CUDA_CB *CUhostFn)(void *userData);
/* As cuOfAComment(3) does. */
CUresult CUDAAPI
cuOverLines(int a);
H
cat >"$TEST_TMPDIR/typedefs.h" <<'H'
typedef CUresult (CUDAAPI *PFN_cuOverLines_v5050)(int a);
typedef CUresult (CUDAAPI *PFN_cuProfile_v4000)(void);
typedef CUresult (CUDAAPI *PFN_cuTwin_v7000_ptsz)(void);
H
names=$(scripts/cuda/driver_stub "$TEST_TMPDIR/cuda.h" "$TEST_TMPDIR/typedefs.h" | sed 's/^int \(\w*\)(void); int \1(void) { return 34; }$/\1/' | paste -sd' ')
[[ $names == "cuCopy_v2 cuCopy_v2_ptds cuGetProcAddress_v2 cuInit cuLaunch cuLaunch_ptsz cuOld cuOverLines cuProfile cuRenamed_v2" ]] ||
    wrong "names: $names"

# Of the real headers.
count=$(readelf -W --dyn-syms "$1" | grep -c ' FUNC .* cu[A-Z]')
((count >= 637)) || wrong "$count functions, of the 637 that CUDA 13.0 has"
readelf -W -d "$1" | grep -q 'SONAME.*\[libcuda\.so\.1\]' || wrong "it has not the driver's name"
! readelf -W -d "$1" | grep NEEDED || wrong "it needs other libraries"
answer=$(/usr/bin/python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cuInit(0))' "$1")
[[ $answer == 34 ]] || wrong "it answers $answer"
exit $status

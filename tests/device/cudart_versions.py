# SPDX-License-Identifier: Apache-2.0
"""One CUDA runtime library, named on the command line: memsets and copies on the default stream from 1 and 4 threads.

Calls the library by its C functions, as a program that was built against that version does; no kernel, since a kernel
would have to be compiled for each.
"""
import ctypes
import sys

import side_by_side

(numpy,) = side_by_side.need("numpy")

TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3
WORDS, ROUNDS = 1 << 20, 20


def main():
    runtime = ctypes.CDLL(sys.argv[1])
    size = ctypes.c_size_t(WORDS * 4)
    version = ctypes.c_int()

    def ok(status):
        if status != 0:
            raise RuntimeError(f"CUDA error {status}")

    ok(runtime.cudaRuntimeGetVersion(ctypes.byref(version)))
    starts = [numpy.arange(WORDS, dtype=numpy.uint32) * (i + 1) for i in range(side_by_side.THREADS)]

    def lane(index):
        blocks = [ctypes.c_void_p(), ctypes.c_void_p()]
        for block in blocks:
            ok(runtime.cudaMalloc(ctypes.byref(block), size))
        ok(runtime.cudaMemcpy(blocks[0], starts[index].ctypes.data_as(ctypes.c_void_p), size, TO_DEVICE))
        for _ in range(ROUNDS):
            ok(runtime.cudaMemsetAsync(blocks[1], index + 1, size, None))
            ok(runtime.cudaMemcpyAsync(blocks[1], blocks[0], ctypes.c_size_t(WORDS * 2), ON_DEVICE, None))
        result = numpy.empty(WORDS, numpy.uint32)
        ok(runtime.cudaMemcpy(result.ctypes.data_as(ctypes.c_void_p), blocks[1], size, TO_HOST))
        for block in blocks:
            ok(runtime.cudaFree(block))
        return result

    def expected(index):
        memset = numpy.full(WORDS // 2, 0x01010101 * (index + 1), numpy.uint32)
        return numpy.concatenate([starts[index][: WORDS // 2], memset])

    print("runtime", version.value)
    side_by_side.one_and_four(lane, expected)


main()

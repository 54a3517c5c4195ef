# SPDX-License-Identifier: Apache-2.0
"""numba-cuda from 4 threads on the default stream: kernels that sleep and compute; results checked against numpy."""
import os

os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")

import side_by_side  # noqa: E402

numba, cuda, numpy = side_by_side.need("numba", "numba.cuda", "numpy")

THREADS, KERNELS, WORDS = 4, 10, 256
NAPS, NAP_NS = 10, 100_000


@cuda.jit
def nap_and_step(words, naps):
    for _ in range(naps):
        cuda.nanosleep(NAP_NS)
    i = cuda.grid(1)
    if i < words.size:
        words[i] = words[i] * 3 + 1


def step(words, rounds):
    for _ in range(rounds):
        words = words * numpy.int64(3) + numpy.int64(1)
    return words


def main():
    starts = [numpy.arange(WORDS, dtype=numpy.int64) + 1000 * i for i in range(THREADS)]
    buffers = [cuda.to_device(start) for start in starts]
    slept, computed = [None] * THREADS, [None] * THREADS

    def sleep(i):
        for _ in range(KERNELS):
            nap_and_step[2, 128](buffers[i], NAPS)
        slept[i] = buffers[i].copy_to_host()

    def arithmetic(i):
        for _ in range(100):
            nap_and_step[2, 128](buffers[i], 0)
        computed[i] = buffers[i].copy_to_host()

    nap_and_step[2, 128](buffers[0], 1)
    cuda.synchronize()
    side_by_side.run(THREADS, arithmetic)
    cuda.synchronize()
    for buffer, start in zip(buffers, starts):
        buffer.copy_to_device(start)
    cuda.synchronize()

    sleeping = side_by_side.run(THREADS, sleep)
    # 3^110 overflows: both sides wrap at 64 bits.
    computing = side_by_side.run(THREADS, arithmetic)
    right = True
    for i, start in enumerate(starts):
        expected = step(start, KERNELS)
        right &= numpy.array_equal(slept[i], expected)
        right &= numpy.array_equal(computed[i], step(expected, 100))
    side_by_side.finish(right, computed, time=sleeping, arithmetic=computing)


main()

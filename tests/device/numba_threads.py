# SPDX-License-Identifier: Apache-2.0
"""numba-cuda from 1 and from 4 threads on the default stream: kernels that sleep and compute; results checked against numpy."""
import os

os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")

import shared_work  # noqa: E402
import side_by_side  # noqa: E402

numba, cuda, numpy = side_by_side.need("numba", "numba.cuda", "numpy")

KERNELS, STEPS, WORDS = 10, 100, 256
NAPS, NAP_NS = 10, 100_000


@cuda.jit
def nap_and_step(words, naps):
    for _ in range(naps):
        cuda.nanosleep(NAP_NS)
    i = cuda.grid(1)
    if i < words.size:
        words[i] = words[i] * 3 + 1


def start(index):
    return shared_work.lane_numbers(index, WORDS, numpy.int64)


def main():
    buffers = [cuda.to_device(start(i)) for i in range(side_by_side.THREADS)]
    cuda.synchronize()

    def kernels(i, count, naps):
        buffers[i].copy_to_device(start(i))
        for _ in range(count):
            nap_and_step[2, 128](buffers[i], naps)
        return buffers[i].copy_to_host()

    slept, times = side_by_side.timed(lambda i: kernels(i, KERNELS, NAPS))
    computed, more = side_by_side.timed(lambda i: kernels(i, STEPS, 0), "arithmetic_")
    right = side_by_side.all_are(numpy.array_equal, slept, lambda i: shared_work.tripled(start(i), KERNELS))
    right &= side_by_side.all_are(numpy.array_equal, computed, lambda i: shared_work.tripled(start(i), STEPS))
    side_by_side.finish(right, slept + computed, **times, **more)


main()

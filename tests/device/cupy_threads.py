# SPDX-License-Identifier: Apache-2.0
"""CuPy from 1 and from 4 threads on the default stream: sleep kernels, then arithmetic; results checked against numpy.

CuPy reaches the driver by two doors at once, a static cudart and calls bound by ELF link: half a remap would show here as
times too short to be true, because its synchronize() would wait on another stream than its kernels run on.
"""
import time

import shared_work
import side_by_side

cupy, numpy = side_by_side.need("cupy", "numpy")

KERNELS, STEPS, WORDS = 10, 50, 4096
KERNEL_NS = 1_000_000

SOURCE = r"""
extern "C" __global__ void wait_and_step(unsigned long long ns, unsigned int *words, unsigned int count)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - start < ns);
    for (unsigned int i = threadIdx.x; i < count; i += blockDim.x)
        words[i] = words[i] * 3u + 1u;
}
"""


def start(index):
    return shared_work.lane_numbers(index, WORDS, numpy.uint32)


def main():
    kernel = cupy.RawKernel(SOURCE, "wait_and_step")
    buffers = [cupy.asarray(start(i)) for i in range(side_by_side.THREADS)]
    others = [cupy.empty_like(buffer) for buffer in buffers]
    cupy.cuda.Device().synchronize()
    waits = []

    def sleep(i):
        buffers[i].set(start(i))
        began = time.perf_counter()
        for _ in range(KERNELS):
            kernel((1,), (128,), (numpy.uint64(KERNEL_NS), buffers[i], numpy.uint32(WORDS)))
        cupy.cuda.get_current_stream().synchronize()
        waits.append((time.perf_counter() - began) * 1e3)
        return cupy.asnumpy(buffers[i])

    def arithmetic(i):
        buffers[i].set(start(i))
        for _ in range(STEPS):
            cupy.multiply(buffers[i], numpy.uint32(3), out=others[i])
            cupy.add(others[i], numpy.uint32(1), out=buffers[i])
        return cupy.asnumpy(buffers[i])

    slept, times = side_by_side.timed(sleep)
    computed, more = side_by_side.timed(arithmetic, "arithmetic_")
    right = side_by_side.all_are(numpy.array_equal, slept, lambda i: shared_work.tripled(start(i), KERNELS))
    right &= side_by_side.all_are(numpy.array_equal, computed, lambda i: shared_work.tripled(start(i), STEPS))
    if min(waits) < KERNELS * KERNEL_NS * 1e-6 * 0.95:
        print(f"synchronize returned early: {min(waits):.3f} ms for {KERNELS} ms of kernels")
        right = False
    side_by_side.finish(right, slept + computed, **times, **more)


main()

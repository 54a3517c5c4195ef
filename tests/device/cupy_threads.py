# SPDX-License-Identifier: Apache-2.0
"""CuPy from 4 threads on the default stream: sleep kernels, then arithmetic; results checked against numpy.

CuPy reaches the driver by two doors at once, a static cudart and calls bound by ELF link: half a remap would show here as
times too short to be true, because its synchronize() would wait on another stream than its kernels run on.
"""
import time

import side_by_side

cupy, numpy = side_by_side.need("cupy", "numpy")

THREADS, KERNELS, WORDS = 4, 10, 4096
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


def step(words, rounds):
    for _ in range(rounds):
        words = words * numpy.uint32(3) + numpy.uint32(1)
    return words


def main():
    kernel = cupy.RawKernel(SOURCE, "wait_and_step")
    starts = [numpy.arange(WORDS, dtype=numpy.uint32) + numpy.uint32(1000 * i) for i in range(THREADS)]
    buffers = [cupy.asarray(start) for start in starts]
    others = [cupy.empty_like(buffer) for buffer in buffers]
    slept, computed = [None] * THREADS, [None] * THREADS
    waits = [0.0] * THREADS

    def launch(words, ns):
        kernel((1,), (128,), (numpy.uint64(ns), words, numpy.uint32(WORDS)))

    def sleep(i):
        began = time.perf_counter()
        for _ in range(KERNELS):
            launch(buffers[i], KERNEL_NS)
        cupy.cuda.get_current_stream().synchronize()
        waits[i] = (time.perf_counter() - began) * 1e3
        slept[i] = cupy.asnumpy(buffers[i])

    def arithmetic(i):
        for _ in range(50):
            cupy.multiply(buffers[i], numpy.uint32(3), out=others[i])
            cupy.add(others[i], numpy.uint32(1), out=buffers[i])
        computed[i] = cupy.asnumpy(buffers[i])

    launch(others[0], 1000)
    side_by_side.run(THREADS, arithmetic)
    cupy.cuda.Device().synchronize()
    for buffer, start in zip(buffers, starts):
        buffer.set(start)
    cupy.cuda.Device().synchronize()

    sleeping = side_by_side.run(THREADS, sleep)
    computing = side_by_side.run(THREADS, arithmetic)
    right = True
    for i, start in enumerate(starts):
        expected = step(start, KERNELS)
        right &= numpy.array_equal(slept[i], expected)
        right &= numpy.array_equal(computed[i], step(expected, 50))
    if min(waits) < KERNELS * KERNEL_NS * 1e-6 * 0.95:
        print(f"synchronize returned early: {min(waits):.3f} ms for {KERNELS} ms of kernels")
        right = False
    side_by_side.finish(right, computed, time=sleeping, arithmetic=computing)


main()

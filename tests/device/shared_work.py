# SPDX-License-Identifier: Apache-2.0
"""Work that several programs of this folder do with different libraries, and its results by numpy; whole numbers, so exact."""
import side_by_side

(numpy,) = side_by_side.need("numpy")

# For the CUDA libraries: a kernel that keeps the GPU busy and takes a step.
KERNEL_ROUNDS, KERNEL_WORDS, KERNEL_CLOCKS = 30, 4096, 200_000
KERNEL_SOURCE = """extern "C" __global__ void step(unsigned *x, unsigned n, long long wait) {
    for (long long end = clock64() + wait; clock64() < end;) {}
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 5u + i;
}"""


def after_kernels(index):
    """What KERNEL_ROUNDS kernels make of KERNEL_WORDS times index + 1."""
    x = numpy.full(KERNEL_WORDS, index + 1, numpy.uint32)
    for _ in range(KERNEL_ROUNDS):
        x = x * numpy.uint32(5) + numpy.arange(KERNEL_WORDS, dtype=numpy.uint32)
    return x


# For the programs that time sleeping kernels and arithmetic: x * 3 + 1, again and again; overflow wraps on both sides.
def lane_numbers(index, count, kind):
    return numpy.arange(count, dtype=kind) + kind(1000 * index)


def tripled(words, rounds):
    kind = words.dtype.type
    for _ in range(rounds):
        words = words * kind(3) + kind(1)
    return words


# For the libraries that compile Python: a step over two arrays, which the library compiles for itself.
ROUNDS, SIZE = 40, 1 << 16


def step(x, y):
    return (x * 3 + y) % 65521


def after_steps(index):
    x = numpy.arange(SIZE, dtype=numpy.int64) + index
    y = x[::-1].copy()
    for _ in range(ROUNDS):
        x = step(x, y)
    return x

# SPDX-License-Identifier: Apache-2.0
"""JAX: jitted steps from 1 and from 4 threads; whole numbers, so exact everywhere."""
import os

import side_by_side

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax, numpy = side_by_side.need("jax", "numpy")

ROUNDS, SIZE = 40, 1 << 16


@jax.jit
def step(x, y):
    return (x * 3 + y) % 65521


def reference(index):
    x = numpy.arange(SIZE, dtype=numpy.int32) + index
    y = x[::-1].copy()
    for _ in range(ROUNDS):
        x = (x * 3 + y) % 65521
    return x


def main():
    if jax.default_backend() != "gpu":
        print("SKIP JAX sees no GPU")
        return
    results = [None] * 4

    def lane(index):
        x = jax.numpy.arange(SIZE, dtype=jax.numpy.int32) + index
        y = jax.numpy.flip(x)
        for _ in range(ROUNDS):
            x = step(x, y)
        results[index] = numpy.asarray(x)

    lane(0)
    one = side_by_side.run(1, lane)
    four = side_by_side.run(4, lane)
    right = all(numpy.array_equal(results[i], reference(i)) for i in range(4))
    side_by_side.finish(right, results, one=one, four=four)


main()

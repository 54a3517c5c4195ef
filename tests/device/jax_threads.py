# SPDX-License-Identifier: Apache-2.0
"""JAX: jitted steps from 1 and from 4 threads; whole numbers, so exact everywhere."""
import os

import shared_work
import side_by_side

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
jax, numpy = side_by_side.need("jax", "numpy")


def main():
    if jax.default_backend() != "gpu":
        print("SKIP JAX sees no GPU")
        return
    step = jax.jit(shared_work.step)

    def lane(index):
        x = jax.numpy.arange(shared_work.SIZE, dtype=jax.numpy.int32) + index
        y = jax.numpy.flip(x)
        for _ in range(shared_work.ROUNDS):
            x = step(x, y)
        return numpy.asarray(x)

    side_by_side.one_and_four(lane, shared_work.after_steps)


main()

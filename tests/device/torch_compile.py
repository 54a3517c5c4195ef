# SPDX-License-Identifier: Apache-2.0
"""torch.compile: kernels that Triton makes, launched from 1 and from 4 threads; whole numbers, so exact everywhere."""
import os
import tempfile

import side_by_side

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(tempfile.gettempdir(), "ptds-inductor"))
torch, numpy = side_by_side.need("torch", "numpy")

ROUNDS, SIZE = 40, 1 << 16


@torch.compile
def step(x, y):
    return (x * 3 + y) % 65521


def reference(index):
    x = numpy.arange(SIZE, dtype=numpy.int64) + index
    y = x[::-1].copy()
    for _ in range(ROUNDS):
        x = (x * 3 + y) % 65521
    return x


def main():
    def lane(index, store):
        x = torch.arange(SIZE, dtype=torch.int64, device="cuda") + index
        y = torch.flip(x, (0,))
        for _ in range(ROUNDS):
            torch.cuda._sleep(100_000)
            x = step(x, y)
        store[index] = x.cpu().numpy()

    results = [None] * 4
    lane(0, results)
    one = side_by_side.run(1, lambda i: lane(i, results))
    four = side_by_side.run(4, lambda i: lane(i, results))
    right = all(numpy.array_equal(results[i], reference(i)) for i in range(4))
    side_by_side.finish(right, results, one=one, four=four)


main()

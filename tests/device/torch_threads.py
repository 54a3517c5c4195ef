# SPDX-License-Identifier: Apache-2.0
"""PyTorch from 4 threads on the default stream: sleep kernels, then matmul + tanh; results checked against numpy.

Every thread works in buffers of its own, allocated beforehand. With the argument `temporaries` it lets PyTorch allocate as
it goes: its allocator takes all work on the default stream for ordered and hands a block from one thread to the next
at once, which only a single stream makes right.
"""
import sys

import side_by_side

torch, numpy = side_by_side.need("torch", "numpy")

THREADS, SLEEPS, ROUNDS, SIZE = 4, 10, 100, 256
SLEEP_CYCLES = 1_800_000  # about 1 ms


def inputs(index):
    generator = numpy.random.default_rng(index)
    return generator.standard_normal((SIZE, SIZE)), generator.standard_normal((SIZE, SIZE)) / SIZE**0.5


def reference(index):
    x, weights = inputs(index)
    for _ in range(ROUNDS):
        x = numpy.tanh(x @ weights)
    return x


class Lane:
    """One thread's buffers, on the GPU and filled."""

    def __init__(self, index):
        x, weights = inputs(index)
        self.x = torch.from_numpy(x).cuda()
        self.weights = torch.from_numpy(weights).cuda()
        self.product = torch.empty_like(self.x)
        self.result = None

    def sleep(self):
        for _ in range(SLEEPS):
            torch.cuda._sleep(SLEEP_CYCLES)
        self.x[0, :4].cpu()

    def in_buffers(self):
        for _ in range(ROUNDS):
            torch.matmul(self.x, self.weights, out=self.product)
            torch.tanh(self.product, out=self.x)
        self.result = self.x.cpu().numpy()

    def with_temporaries(self):
        x = self.x
        for _ in range(ROUNDS):
            x = torch.tanh(x @ self.weights)
        self.result = x.cpu().numpy()


def main():
    temporaries = sys.argv[1:] == ["temporaries"]
    lanes = [Lane(i) for i in range(THREADS)]
    spare = [Lane(i) for i in range(THREADS)]
    side_by_side.run(THREADS, lambda i: (spare[i].sleep(), spare[i].in_buffers()))
    torch.cuda.synchronize()

    arithmetic = Lane.with_temporaries if temporaries else Lane.in_buffers
    slept = side_by_side.run(THREADS, lambda i: lanes[i].sleep())
    computed = side_by_side.run(THREADS, lambda i: arithmetic(lanes[i]))
    right = all(numpy.allclose(lane.result, reference(i), rtol=1e-5, atol=1e-8) for i, lane in enumerate(lanes))
    rounded = [numpy.round(lane.result, 6) + 0.0 for lane in lanes]
    side_by_side.finish(right, rounded, time=slept, arithmetic=computed)


main()

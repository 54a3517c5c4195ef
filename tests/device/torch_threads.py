# SPDX-License-Identifier: Apache-2.0
"""PyTorch from 1 and from 4 threads on the default stream: sleep kernels, then matmul + tanh; checked against numpy.

Against numpy within a tolerance; on one GPU the bits are the same from run to run. Every thread works in buffers of its
own, allocated beforehand. With the argument `temporaries` it lets PyTorch allocate as it goes: its allocator takes all
work on the default stream for guarded and hands a block from one thread to the next at once, which only a single stream
makes right.
"""
import functools
import os
import sys

import side_by_side

# What cuBLAS wants for the same bits from run to run when several streams are at work.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
torch, numpy = side_by_side.need("torch", "numpy")

SLEEPS, ROUNDS, SIZE = 10, 100, 256
SLEEP_CYCLES = 1_800_000  # about 1 ms


def inputs(index):
    generator = numpy.random.default_rng(index)
    return generator.standard_normal((SIZE, SIZE)), generator.standard_normal((SIZE, SIZE)) / SIZE**0.5


def after_sleep(index):
    return inputs(index)[0] + SLEEPS


def after_arithmetic(index):
    x, weights = inputs(index)
    for _ in range(ROUNDS):
        x = numpy.tanh(x @ weights)
    return x


class Lane:
    """One thread's buffers, on the GPU and filled; each method begins with the same numbers."""

    def __init__(self, index):
        start, weights = inputs(index)
        self.start = torch.from_numpy(start).cuda()
        self.weights = torch.from_numpy(weights).cuda()
        self.x = torch.empty_like(self.start)
        self.product = torch.empty_like(self.start)

    def sleep(self):
        self.x.copy_(self.start)
        for _ in range(SLEEPS):
            torch.cuda._sleep(SLEEP_CYCLES)
            self.x.add_(1)
        return self.x.cpu().numpy()

    def in_buffers(self):
        self.x.copy_(self.start)
        for _ in range(ROUNDS):
            torch.matmul(self.x, self.weights, out=self.product)
            torch.tanh(self.product, out=self.x)
        return self.x.cpu().numpy()

    def with_temporaries(self):
        x = self.start
        for _ in range(ROUNDS):
            x = torch.tanh(x @ self.weights)
        return x.cpu().numpy()


def main():
    arithmetic = Lane.with_temporaries if sys.argv[1:] == ["temporaries"] else Lane.in_buffers
    lanes = [Lane(i) for i in range(side_by_side.THREADS)]
    torch.cuda.synchronize()

    slept, times = side_by_side.timed(lambda i: lanes[i].sleep())
    computed, more = side_by_side.timed(lambda i: arithmetic(lanes[i]), "arithmetic_")
    close = functools.partial(numpy.allclose, rtol=1e-5, atol=1e-8)
    right = side_by_side.all_are(close, slept, after_sleep) and side_by_side.all_are(close, computed, after_arithmetic)
    side_by_side.finish(right, slept + computed, **times, **more)


main()

# SPDX-License-Identifier: Apache-2.0
"""A network over two GPUs in one process: its backward pass runs on a thread for each GPU, and both add to one gradient.

The second GPU's part comes first on the host and last on the GPU, so that whoever adds to it without waiting adds to
nothing. One host thread: PyTorch brings its own.
"""
import sys
import time

import side_by_side

torch, numpy = side_by_side.need("torch", "numpy")

ROUNDS, SIZE, CYCLES, LATE_S = 5, 1 << 16, 40_000_000, 0.005


class LongOnTheGpu(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x * 3

    @staticmethod
    def backward(_, gradient):
        torch.cuda._sleep(CYCLES)
        return gradient * 3


class LateOnTheHost(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x * 2

    @staticmethod
    def backward(_, gradient):
        time.sleep(LATE_S)
        return gradient * 2


def step(start, near, far):
    shared = start.clone().requires_grad_()
    there = LongOnTheGpu.apply(shared.to("cuda:1")) * far
    here = LateOnTheHost.apply(shared) * near
    (here.sum() + there.to("cuda:0").sum()).backward()
    return shared.grad


def main():
    if torch.cuda.device_count() < 2:
        print("SKIP one GPU only")
        sys.exit(0)
    start = torch.arange(SIZE, dtype=torch.float64, device="cuda:0")
    factors = [(start % 97 + i, (start % 89 + i).to("cuda:1")) for i in range(ROUNDS)]
    step(start, *factors[0]).cpu()
    began = time.perf_counter()
    gradients = [step(start, near, far).cpu().numpy() for near, far in factors]
    ms = (time.perf_counter() - began) * 1e3
    at = numpy.arange(SIZE, dtype=numpy.float64)
    right = all(numpy.array_equal(g, 2 * (at % 97 + i) + 3 * (at % 89 + i)) for i, g in enumerate(gradients))
    side_by_side.finish(right, gradients, one=ms)


main()

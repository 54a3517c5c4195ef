# SPDX-License-Identifier: Apache-2.0
"""PyTorch CUDA graphs from 1 and from 4 threads: each replays a graph of its own on the default stream, and reads its result.

The kernels of a graph come from the runtime library, as all of PyTorch's: whether the shim knows what they touch decides
whether the replays of different threads run beside each other. All numbers are whole and small: exact.
"""
import side_by_side

torch, numpy = side_by_side.need("torch", "numpy")

REPLAYS, SIZE = 40, 256
SLEEP_CYCLES = 300_000


def inputs(index):
    generator = numpy.random.default_rng(index)
    return [generator.integers(0, most, (SIZE, SIZE)).astype(numpy.float64) for most in (1000, 50)]


def expected(index):
    x, weights = inputs(index)
    for _ in range(REPLAYS):
        x = (x @ weights) % 1021
    return x


class Lane:
    """One thread's graph, captured on a side stream by the thread that makes all of them."""

    def __init__(self, index):
        self.start, self.weights = (torch.from_numpy(array).cuda() for array in inputs(index))
        self.x = torch.empty_like(self.start)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            torch.cuda._sleep(SLEEP_CYCLES)
            self.result = self.step()

    def step(self):
        return (self.x @ self.weights) % 1021

    def replay(self):
        self.x.copy_(self.start)
        for _ in range(REPLAYS):
            self.graph.replay()
            self.x.copy_(self.result)
        return self.x.cpu().numpy()


def main():
    lanes = [Lane(i) for i in range(side_by_side.THREADS)]
    torch.cuda.synchronize()
    side_by_side.one_and_four(lambda i: lanes[i].replay(), expected)


main()

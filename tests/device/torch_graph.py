# SPDX-License-Identifier: Apache-2.0
"""PyTorch CUDA graphs: captured on a side stream, replayed on the default stream between default-stream work.

One thread: a graph has its inputs and outputs at fixed places, so replays do not run beside each other.
"""
import time

import side_by_side

torch, numpy = side_by_side.need("torch", "numpy")

REPLAYS, SIZE = 50, 256


def work(x, weights):
    return (x @ weights) % 1021


def main():
    generator = numpy.random.default_rng(3)
    start = generator.integers(0, 1000, (SIZE, SIZE)).astype(numpy.float64)
    factor = generator.integers(0, 50, (SIZE, SIZE)).astype(numpy.float64)
    x, weights = torch.from_numpy(start).cuda(), torch.from_numpy(factor).cuda()
    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        work(x, weights)
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work(x, weights)
    expected = start
    began = time.perf_counter()
    for _ in range(REPLAYS):
        torch.cuda._sleep(100_000)
        graph.replay()
        x.copy_(result)
    final = x.cpu().numpy()
    ms = (time.perf_counter() - began) * 1e3
    for _ in range(REPLAYS):
        expected = (expected @ factor) % 1021
    side_by_side.finish(numpy.array_equal(final, expected), [final], one=ms)


main()

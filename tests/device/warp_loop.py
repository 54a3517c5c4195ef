# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Warp: kernels, array.numpy() reads on the default stream, streams with priorities, a capture beside it.

One thread: numpy() changes the device's current stream for a moment, for all threads (Warp 1.5).
"""
import time

import side_by_side

warp, numpy = side_by_side.need("warp", "numpy")

ROUNDS, SIZE = 30, 1 << 16
warp.config.quiet = True


@warp.kernel
def step(x: warp.array(dtype=warp.uint32)):
    i = warp.tid()
    x[i] = x[i] * warp.uint32(5) + warp.uint32(i)


def advance(x, rounds):
    for _ in range(rounds):
        x = x * numpy.uint32(5) + numpy.arange(x.size, dtype=numpy.uint32)
    return x


def lane(index):
    """Default stream of the device, read back by numpy()."""
    x = warp.full(SIZE, index + 1, dtype=warp.uint32, device="cuda:0")
    for _ in range(ROUNDS):
        warp.launch(step, dim=SIZE, inputs=[x], device="cuda:0")
    return x.numpy()


def other_stream():
    """An array used on another stream right after its initialisation on the device's stream: ordered by an event."""
    stream = warp.Stream("cuda:0", priority=-1)
    x = warp.zeros(SIZE, dtype=warp.uint32, device="cuda:0")
    with warp.ScopedStream(stream):
        for _ in range(ROUNDS):
            warp.launch(step, dim=SIZE, inputs=[x], device="cuda:0")
    warp.synchronize_stream(stream)
    return x.numpy()


def captured():
    """A graph, replayed between reads on the default stream."""
    x = warp.zeros(SIZE, dtype=warp.uint32, device="cuda:0")
    with warp.ScopedCapture(device="cuda:0") as capture:
        warp.launch(step, dim=SIZE, inputs=[x], device="cuda:0")
    x.zero_()
    for _ in range(ROUNDS):
        warp.capture_launch(capture.graph)
    return x.numpy()


def main():
    warp.init()
    if not warp.is_cuda_available():
        print("SKIP Warp sees no GPU")
        return
    lane(0)
    captured()
    began = time.perf_counter()
    results = [lane(0), lane(1), other_stream(), captured()]
    ms = (time.perf_counter() - began) * 1e3
    starts = [1, 2, 0, 0]
    right = all(numpy.array_equal(got, advance(numpy.full(SIZE, start, numpy.uint32), ROUNDS))
                for got, start in zip(results, starts))
    side_by_side.finish(right, results, one=ms)


if __name__ == "__main__":
    main()

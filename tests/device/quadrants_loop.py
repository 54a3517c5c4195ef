# SPDX-License-Identifier: Apache-2.0
"""Quadrants (a fork of Taichi): kernels over ndarrays, read back by numpy; one thread, as its runtime wants."""
import time

import side_by_side

quadrants, numpy = side_by_side.need("quadrants", "numpy")

ROUNDS, SIZE = 30, 1 << 16


def main():
    quadrants.init(arch=quadrants.cuda, offline_cache=False, log_level=quadrants.ERROR)
    if quadrants.cfg.arch != quadrants.cuda:
        print("SKIP Quadrants sees no GPU")
        return

    @quadrants.kernel
    def step(x: quadrants.types.ndarray(dtype=quadrants.i32, ndim=1)):
        for i in x:
            x[i] = (x[i] * 5 + i) % 65521

    def loop():
        x = quadrants.ndarray(quadrants.i32, shape=SIZE)
        x.from_numpy(numpy.ones(SIZE, numpy.int32))
        for _ in range(ROUNDS):
            step(x)
        return x.to_numpy()

    loop()
    began = time.perf_counter()
    result = loop()
    ms = (time.perf_counter() - began) * 1e3
    expected = numpy.ones(SIZE, numpy.int64)
    for _ in range(ROUNDS):
        expected = (expected * 5 + numpy.arange(SIZE)) % 65521
    side_by_side.finish(numpy.array_equal(result, expected), [result], one=ms)


main()

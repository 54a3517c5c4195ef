# SPDX-License-Identifier: Apache-2.0
"""Arrays handed between libraries on the default stream: DLPack and the CUDA Array Interface, PyTorch, CuPy, numba.

Every pair, in one thread and from one thread to another; a sleeping kernel before each hand-over makes a lost order show.
`exchange.py threads` hands over between threads without waiting, as only the legacy stream makes right.
"""
import queue
import sys
import threading
import time

import side_by_side

torch, cupy, numba, cuda, numpy = side_by_side.need("torch", "cupy", "numba", "numba.cuda", "numpy")

SIZE, SLEEP = 1 << 16, 3_600_000


@cuda.jit
def triple(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * 3 + 1


def in_torch(x):
    y = x if isinstance(x, torch.Tensor) else torch.as_tensor(x, device="cuda")
    torch.cuda._sleep(SLEEP)
    return y * 3 + 1


def in_torch_dlpack(x):
    y = torch.from_dlpack(x if hasattr(x, "__dlpack__") else cupy.asarray(x))
    torch.cuda._sleep(SLEEP)
    return y * 3 + 1


def in_cupy(x):
    y = cupy.asarray(x) * 3
    torch.cuda._sleep(SLEEP)
    return y + 1


def in_cupy_dlpack(x):
    y = cupy.from_dlpack(x if hasattr(x, "__dlpack__") else torch.as_tensor(x, device="cuda")) * 3
    torch.cuda._sleep(SLEEP)
    return y + 1


def in_numba(x):
    y = cuda.as_cuda_array(x)
    torch.cuda._sleep(SLEEP)
    triple[SIZE // 256, 256](y)
    return y


STEPS = [in_torch, in_torch_dlpack, in_cupy, in_cupy_dlpack, in_numba]


def start():
    return torch.arange(SIZE, dtype=torch.int64, device="cuda")


def to_host(x):
    return cupy.asnumpy(cupy.asarray(x))


def one_thread(first, second):
    return to_host(second(first(start())))


def two_threads(first, second):
    box, out = queue.Queue(), queue.Queue()

    def consume():
        out.put(to_host(second(box.get())))

    thread = threading.Thread(target=consume)
    thread.start()
    box.put(first(start()))
    thread.join()
    return out.get()


def main():
    run = two_threads if sys.argv[1:] == ["threads"] else one_thread
    expected = (numpy.arange(SIZE, dtype=numpy.int64) * 3 + 1) * 3 + 1
    for step in STEPS:
        step(start())
    torch.cuda.synchronize()
    began = time.perf_counter()
    results, wrong = [], []
    for first in STEPS:
        for second in STEPS:
            results.append(run(first, second))
            if not numpy.array_equal(results[-1], expected):
                wrong.append(f"{first.__name__}->{second.__name__}")
    ms = (time.perf_counter() - began) * 1e3
    print("pairs", len(results), "wrong", *wrong)
    side_by_side.finish(not wrong, results, pairs=ms)


if __name__ == "__main__":
    main()

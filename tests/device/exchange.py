# SPDX-License-Identifier: Apache-2.0
"""Arrays handed between PyTorch, CuPy, numba and cuda.core: DLPack and the CUDA Array Interface with their stream values, events.

Every pair, in one thread and from one thread to another; a sleeping kernel before each hand-over makes a lost order show.
`exchange.py threads` hands over between threads without waiting, as only the legacy stream makes right.
"""
import queue
import sys
import threading
import time

import exchange_core
import side_by_side

torch, cupy, numba, cuda, numpy = side_by_side.need("torch", "cupy", "numba", "numba.cuda", "numpy")

SIZE, SLEEP = exchange_core.SIZE, exchange_core.SLEEP


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


def start():
    return torch.arange(SIZE, dtype=torch.int64, device="cuda")


def to_host(x):
    return cupy.asnumpy(cupy.asarray(x))


def produce(first, second):
    """In the producer's thread: what must stay alive until the end, the array, and an event if one of the two goes by events."""
    x = start()
    y = exchange_core.call(first, x)
    return x, y, exchange_core.event_after(first, second)


def consume(second, given):
    _, y, event = given
    z = exchange_core.call(second, y, event)
    exchange_core.legacy_waits(exchange_core.event_after(second))
    return to_host(z)


def one_thread(first, second):
    return consume(second, produce(first, second))


def two_threads(first, second):
    box, out = queue.Queue(), queue.Queue()
    thread = threading.Thread(target=lambda: out.put(consume(second, box.get())))
    thread.start()
    box.put(produce(first, second))
    thread.join()
    return out.get()


def main():
    run = two_threads if sys.argv[1:] == ["threads"] else one_thread
    expected = (numpy.arange(SIZE, dtype=numpy.int64) * 3 + 1) * 3 + 1
    torch.cuda.init()
    steps = [in_torch, in_torch_dlpack, in_cupy, in_cupy_dlpack, in_numba, *exchange_core.steps()]
    for step in steps:
        one_thread(step, step)
    torch.cuda.synchronize()
    began = time.perf_counter()
    results, wrong = [], []
    for first in steps:
        for second in steps:
            results.append(run(first, second))
            if not numpy.array_equal(results[-1], expected):
                wrong.append(f"{first.__name__}->{second.__name__}")
    ms = (time.perf_counter() - began) * 1e3
    print("pairs", len(results), "wrong", len(wrong), *wrong)
    side_by_side.finish(not wrong, results, pairs=ms)


if __name__ == "__main__":
    main()

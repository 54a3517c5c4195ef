# SPDX-License-Identifier: Apache-2.0
"""NCCL all-reduce between two GPUs, a process of one thread each, with work on the default stream before and after."""
import os
import socket
import sys
import time

import side_by_side

torch, numpy = side_by_side.need("torch", "numpy")

ROUNDS, SIZE = 20, 1 << 20


def step(x, number):
    x = (x * 3 + number) % 9973
    torch.distributed.all_reduce(x)
    return x % 9973


def rank(number, port, answers):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(number)
    torch.distributed.init_process_group("nccl", rank=number, world_size=2)
    x = (torch.arange(SIZE, dtype=torch.int64, device="cuda") * (number + 1)) % 9973
    step(x.clone(), number)  # loads the kernels that the timed loop uses
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(ROUNDS):
        torch.cuda._sleep(500_000)
        x = step(x, number)
    answers.put((number, x.cpu().numpy(), (time.perf_counter() - began) * 1e3))
    torch.distributed.destroy_process_group()


def reference():
    lanes = [numpy.arange(SIZE, dtype=numpy.int64) * (number + 1) % 9973 for number in range(2)]
    for _ in range(ROUNDS):
        total = sum((lane * 3 + number) % 9973 for number, lane in enumerate(lanes))
        lanes = [total % 9973] * 2
    return lanes[0]


def main():
    if torch.cuda.device_count() < 2:
        print("SKIP one GPU only")
        sys.exit(0)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    members = torch.multiprocessing.start_processes(rank, (port, answers), 2, join=False, start_method="spawn")
    got = sorted((answers.get() for _ in range(2)), key=lambda answer: answer[0])
    while not members.join():
        pass
    expected = reference()
    right = all(numpy.array_equal(answer[1], expected) for answer in got)
    side_by_side.finish(right, [answer[1] for answer in got], one=max(answer[2] for answer in got))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""PyTorch with expandable segments: memory that goes back to the driver while threads' work may use it still.

Each thread leaves work on memory of its own behind and ends; the main thread waits for the default stream, as PyTorch does
before it unmaps, and gives all free memory back. What a thread computed is in memory that stays, and is checked afterwards.
"""
import os
import time

import side_by_side

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
torch, numpy = side_by_side.need("torch", "numpy")

ROUNDS, SIZE = 10, 4 << 20
SLEEP_CYCLES = 9_000_000  # about 5 ms


def main():
    kept = torch.zeros(side_by_side.THREADS, ROUNDS, dtype=torch.float64, device="cuda")
    torch.cuda.synchronize()

    def leave_work(index, at):
        large = torch.empty(SIZE, dtype=torch.float64, device="cuda")
        torch.cuda._sleep(SLEEP_CYCLES)
        large.fill_(index + 1)
        torch.sum(large, dim=0, out=kept[index, at])

    began = time.perf_counter()
    for at in range(ROUNDS):
        side_by_side.run(side_by_side.THREADS, lambda index, at=at: leave_work(index, at))
        torch.cuda.empty_cache()
    found = kept.cpu().numpy()
    ms = (time.perf_counter() - began) * 1e3
    expected = numpy.repeat((numpy.arange(side_by_side.THREADS) + 1.0) * SIZE, ROUNDS).reshape(found.shape)
    side_by_side.finish(numpy.array_equal(found, expected), [found], four=ms)


main()

# SPDX-License-Identifier: Apache-2.0
"""PyTorch: a DataLoader's worker processes and pinned memory, asynchronous copies and inference on the default stream.

One thread does the GPU work, as in a training loop; PyTorch's own thread pins the memory.
"""
import time

import side_by_side

torch, numpy = side_by_side.need("torch", "numpy")

SAMPLES, BATCH, FEATURES = 512, 32, 4096


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return torch.arange(FEATURES, dtype=torch.int64) * (index + 1) % 1009


def passes(workers):
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=BATCH, num_workers=workers, pin_memory=True)
    sums = torch.zeros(FEATURES, dtype=torch.int64, device="cuda")
    for batch in loader:
        moved = batch.to("cuda", non_blocking=True)
        torch.cuda._sleep(200_000)
        sums += (moved * moved % 1013).sum(0)
    return sums.cpu().numpy()


def main():
    index = numpy.arange(1, SAMPLES + 1, dtype=numpy.int64)[:, None]
    values = numpy.arange(FEATURES, dtype=numpy.int64)[None, :] * index % 1009
    expected = (values * values % 1013).sum(0)
    passes(2)
    began = time.perf_counter()
    result = passes(2)
    ms = (time.perf_counter() - began) * 1e3
    side_by_side.finish(numpy.array_equal(result, expected), [result], one=ms)


if __name__ == "__main__":
    main()

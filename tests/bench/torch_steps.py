# SPDX-License-Identifier: Apache-2.0
"""torch_steps.py [STEPS 200]: milliseconds a training step of tests/device/torch_step.py's network takes, as `time_ms N`.

The median of blocks of ten steps, after as many as warm the allocator and cuDNN's choices up. A block ends with a wait for
the GPU. The program knows nothing of libptds.
"""
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "device"))
sys.dont_write_bytecode = True
import torch_step  # noqa: E402

torch = torch_step.torch
BLOCK, WARM_UP, BATCH = 10, 50, 64


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    net = torch_step.Net().cuda()
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
    images = torch.randn(BATCH, 3, 16, 16, device="cuda")
    labels = torch.randint(0, 10, (BATCH,), device="cuda")

    def block():
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(BLOCK):
            torch_step.step(net, optimiser, images, labels)
        torch.cuda.synchronize()
        return (time.perf_counter() - began) * 1e3 / BLOCK

    for _ in range(WARM_UP // BLOCK):
        block()
    print(f"time_ms {statistics.median(block() for _ in range(max(1, steps // BLOCK))):.4f}")


main()

# SPDX-License-Identifier: Apache-2.0
"""PyTorch's profiler, which is CUPTI's user in the same process, sees every kernel of two threads on the default stream."""
import threading

import side_by_side

torch, = side_by_side.need("torch")
ROUNDS = 50


def work():
    x = torch.ones(1 << 16, device="cuda")
    for _ in range(ROUNDS):
        x.add_(1)
    assert x.sum().item() == (ROUNDS + 1) * (1 << 16)


def main():
    from torch.profiler import ProfilerActivity, profile

    work()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.cuda.synchronize()
    kernels = sum(1 for event in seen.events() if event.device_type.name == "CUDA" and "vectorized_elementwise" in event.name)
    print("kernels", kernels)
    print("OK" if kernels >= 2 * ROUNDS else "WRONG", kernels)


main()

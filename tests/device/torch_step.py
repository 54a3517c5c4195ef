# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training loop (convolution, batch norm, attention, Adam) on the default stream, checked against the CPU.

Against the CPU within a tolerance; on one GPU the bits of losses and weights are the same from run to run, since only
deterministic algorithms are allowed. One Python thread; but PyTorch runs the backward pass in a thread of its own, on the
same default stream, and relies on that stream's order between the two. A kernel that sleeps before each backward pass makes
a lost order show.
"""
import os

import side_by_side

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
torch, deterministic, numpy = side_by_side.need("torch", "torch.utils.deterministic", "numpy")

import time  # noqa: E402

STEPS, BATCH, SLEEP_CYCLES = 6, 8, 3_600_000


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 32, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(32)
        self.attention = torch.nn.MultiheadAttention(32, 4, batch_first=True)
        self.head = torch.nn.Linear(32, 10)

    def forward(self, images):
        features = torch.relu(self.norm(self.convolution(images)))
        tokens = features.flatten(2).transpose(1, 2)
        mixed, _ = self.attention(tokens, tokens, tokens, need_weights=False)
        return self.head(mixed.mean(1))


def step(net, optimiser, images, labels, before_backward=lambda: None):
    """One step; the loss stays on the device."""
    optimiser.zero_grad(set_to_none=True)
    loss = torch.nn.functional.cross_entropy(net(images), labels)
    before_backward()
    loss.backward()
    optimiser.step()
    return loss.detach()


def sleep():
    torch.cuda._sleep(SLEEP_CYCLES)


def train(device, dtype):
    """The losses of STEPS steps, the weights they led to, and the milliseconds they took."""
    torch.manual_seed(1)
    net = Net().to(dtype).to(device)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)
    images = torch.randn(STEPS, BATCH, 3, 16, 16, dtype=torch.float64)
    labels = torch.randint(0, 10, (STEPS, BATCH))
    losses = []
    began = time.perf_counter()
    for i in range(STEPS):
        more = {"before_backward": sleep} if device == "cuda" else {}
        losses.append(step(net, optimiser, images[i].to(dtype).to(device), labels[i].to(device), **more))
    losses = numpy.array([float(loss) for loss in losses])
    ms = (time.perf_counter() - began) * 1e3
    weights = torch.cat([weight.detach().flatten() for weight in net.parameters()]).cpu().numpy()
    return losses, weights, ms


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.use_deterministic_algorithms(True)
    # Else every allocation is filled first, which a training step outside of this test does not do.
    deterministic.fill_uninitialized_memory = False
    expected, _, _ = train("cpu", torch.float64)  # first, so that it is not between the GPU's work
    before = train("cuda", torch.float32)[:2]
    losses, weights, ms = train("cuda", torch.float32)
    right = numpy.allclose(losses, expected, rtol=2e-3, atol=1e-4)
    print("losses", " ".join(f"{loss:.6f}" for loss in losses))
    print("expect", " ".join(f"{loss:.6f}" for loss in expected))
    print("repeats itself:", all(map(numpy.array_equal, before, (losses, weights))))
    side_by_side.finish(right, [losses, weights], one=ms)


if __name__ == "__main__":
    main()

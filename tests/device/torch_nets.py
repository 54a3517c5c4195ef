# SPDX-License-Identifier: Apache-2.0
"""Inference in PyTorch's eager mode on the default stream, from one thread: a residual network of 50 layers, a transformer of 12, and
a network whose blocks have four branches; batches of 1 and 8. The host waits after each batch.

Prints `net NAME BATCH MILLISECONDS`, the median of a batch, and a digest of all outputs: which streams the work is on must not
change a bit. `torch_nets.py [BATCHES [NET...]]`.
"""
import hashlib
import os
import statistics
import sys
import time

import side_by_side

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
torch, _ = side_by_side.need("torch", "numpy")
nn = torch.nn

WARM = 12  # batches: code is loaded, and the library has measured what it decides from


def unit(inputs, outputs, size, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.path = nn.Sequential(unit(inputs, width, 1), unit(width, width, 3, stride), unit(width, 4 * width, 1))
        self.short = nn.Identity() if inputs == 4 * width and stride == 1 else unit(inputs, 4 * width, 1, stride)

    def forward(self, x):
        return torch.relu(self.path(x) + self.short(x))


def residual():
    layers, inputs = [unit(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(inputs, width, stride if i == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)), (3, 224, 224)


class Branches(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.branches = nn.ModuleList([
            unit(inputs, 64, 1),
            nn.Sequential(unit(inputs, 48, 1), unit(48, 64, 5)),
            nn.Sequential(unit(inputs, 64, 1), unit(64, 96, 3), unit(96, 96, 3)),
            nn.Sequential(nn.AvgPool2d(3, 1, 1), unit(inputs, 32, 1)),
        ])

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


def branched():
    return nn.Sequential(unit(3, 64, 3, 2), unit(64, 192, 3, 2), *[Branches(192 if i == 0 else 256) for i in range(9)],
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1000)), (3, 96, 96)


def transformer():
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 12, enable_nested_tensor=False), (128, 768)


def run(make, batch, batches, digest):
    torch.manual_seed(1)
    net, shape = make()
    net = net.eval().cuda()
    inputs = torch.randn(batch, *shape).cuda()
    times = []
    for i in range(WARM + batches):
        torch.cuda.synchronize()
        began = time.perf_counter()
        output = net(inputs)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - began) * 1e3)
        digest.update(output.cpu().numpy().tobytes())
    return statistics.median(times[WARM:])


def main():
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    digest = hashlib.sha256()
    total = 0.0
    with torch.no_grad():
        for make in [net for net in (residual, transformer, branched) if net.__name__ in sys.argv[2:] or len(sys.argv) < 3]:
            for batch in (1, 8):
                ms = run(make, batch, batches, digest)
                total += ms
                print(f"net {make.__name__} {batch} {ms:.3f}")
    print(f"OK {digest.hexdigest()[:16]}")
    print(f"time_ms {total:.3f}")


main()

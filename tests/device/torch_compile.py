# SPDX-License-Identifier: Apache-2.0
"""torch.compile: kernels that Triton makes, launched from 1 and from 4 threads; whole numbers, so exact everywhere."""
import os
import tempfile

import shared_work
import side_by_side

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(tempfile.gettempdir(), "ptds-inductor"))
(torch,) = side_by_side.need("torch")


def main():
    step = torch.compile(shared_work.step)

    def lane(index):
        x = torch.arange(shared_work.SIZE, dtype=torch.int64, device="cuda") + index
        y = torch.flip(x, (0,))
        for _ in range(shared_work.ROUNDS):
            torch.cuda._sleep(100_000)
            x = step(x, y)
        return x.cpu().numpy()

    side_by_side.one_and_four(lane, shared_work.after_steps)


main()

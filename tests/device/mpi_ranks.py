# SPDX-License-Identifier: Apache-2.0
"""Ranks under mpirun, a GPU each where there are enough: default-stream work, and sums over the ranks by the host."""
import time

import side_by_side

mpi, torch, numpy = side_by_side.need("mpi4py.MPI", "torch", "numpy")

ROUNDS, SIZE = 20, 1 << 18


def main():
    world = mpi.COMM_WORLD
    rank, count = world.Get_rank(), world.Get_size()
    torch.cuda.set_device(rank % torch.cuda.device_count())
    x = (torch.arange(SIZE, dtype=torch.int64, device="cuda") * (rank + 1)) % 9973
    expected = [numpy.arange(SIZE, dtype=numpy.int64) * (other + 1) % 9973 for other in range(count)]
    world.Barrier()
    began = time.perf_counter()
    for _ in range(ROUNDS):
        torch.cuda._sleep(500_000)
        mine = ((x * 3 + rank) % 9973).cpu().numpy()
        total = numpy.empty_like(mine)
        world.Allreduce(mine, total)
        x = torch.from_numpy(total).cuda() % 9973
        sums = sum((value * 3 + other) % 9973 for other, value in enumerate(expected))
        expected = [sums % 9973] * count
    result = x.cpu().numpy()
    ms = (time.perf_counter() - began) * 1e3
    right = bool(world.allreduce(numpy.array_equal(result, expected[0]), op=mpi.LAND))
    if rank == 0:
        side_by_side.finish(right, [result], one=ms)


main()

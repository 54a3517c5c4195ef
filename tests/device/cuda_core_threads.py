# SPDX-License-Identifier: Apache-2.0
"""cuda.core: its default stream object and a stream of its own, from 1 and from 4 threads."""
import side_by_side

core, numpy = side_by_side.need("cuda.core", "numpy")
if not hasattr(core, "Device"):
    core = side_by_side.need("cuda.core.experimental")[0]

ROUNDS, WORDS = 30, 4096
SOURCE = """extern "C" __global__ void step(unsigned *x, unsigned n, long long wait) {
    for (long long end = clock64() + wait; clock64() < end;) {}
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 5u + i;
}"""


def main():
    device = core.Device()
    device.set_current()
    options = core.ProgramOptions(arch=f"sm_{device.arch}")
    kernel = core.Program(SOURCE, "c++", options=options).compile("cubin").get_kernel("step")
    driver = side_by_side.need("cuda.bindings.driver")[0]
    results = [numpy.zeros(WORDS, numpy.uint32) for _ in range(4)]

    def lane(index):
        device.set_current()
        stream = device.default_stream
        memory = device.allocate(WORDS * 4, stream=stream)
        first = numpy.full(WORDS, index + 1, numpy.uint32)
        driver.cuMemcpyHtoD(int(memory.handle), first.ctypes.data, WORDS * 4)
        config = core.LaunchConfig(grid=WORDS // 256, block=256)
        for _ in range(ROUNDS):
            core.launch(stream, config, kernel, memory, numpy.uint32(WORDS), numpy.int64(200_000))
        stream.sync()
        driver.cuMemcpyDtoH(results[index].ctypes.data, int(memory.handle), WORDS * 4)
        memory.close(stream)

    lane(0)
    one = side_by_side.run(1, lane)
    four = side_by_side.run(4, lane)
    right = True
    for index, result in enumerate(results):
        expected = numpy.full(WORDS, index + 1, numpy.uint32)
        for _ in range(ROUNDS):
            expected = expected * numpy.uint32(5) + numpy.arange(WORDS, dtype=numpy.uint32)
        right &= numpy.array_equal(result, expected)
    side_by_side.finish(right, results, one=one, four=four)


if __name__ == "__main__":
    main()

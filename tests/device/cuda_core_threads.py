# SPDX-License-Identifier: Apache-2.0
"""cuda.core: its default stream object, which names the legacy stream itself (0x1), from 1 and from 4 threads."""
import shared_work
import side_by_side

core, driver, numpy = side_by_side.need("cuda.core", "cuda.bindings.driver", "numpy")
if not hasattr(core, "Device"):
    core = side_by_side.need("cuda.core.experimental")[0]


def main():
    device = core.Device()
    device.set_current()
    options = core.ProgramOptions(arch=f"sm_{device.arch}")
    kernel = core.Program(shared_work.KERNEL_SOURCE, "c++", options=options).compile("cubin").get_kernel("step")
    words = shared_work.KERNEL_WORDS

    def lane(index):
        device.set_current()
        stream = device.default_stream
        memory = device.allocate(words * 4, stream=stream)
        x = numpy.full(words, index + 1, numpy.uint32)
        driver.cuMemcpyHtoD(int(memory.handle), x.ctypes.data, words * 4)
        config = core.LaunchConfig(grid=words // 256, block=256)
        for _ in range(shared_work.KERNEL_ROUNDS):
            core.launch(stream, config, kernel, memory, numpy.uint32(words), numpy.int64(shared_work.KERNEL_CLOCKS))
        stream.sync()
        driver.cuMemcpyDtoH(x.ctypes.data, int(memory.handle), words * 4)
        memory.close(stream)
        return x

    side_by_side.one_and_four(lane, shared_work.after_kernels)


main()

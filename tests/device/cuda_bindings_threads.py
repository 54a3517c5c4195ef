# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings, the driver API from Python: memsets, copies and kernels on stream 0, from 1 and from 4 threads."""
import ctypes

import side_by_side

driver, nvrtc, numpy = side_by_side.need("cuda.bindings.driver", "cuda.bindings.nvrtc", "numpy")

ROUNDS, WORDS = 30, 4096
SOURCE = b"""extern "C" __global__ void step(unsigned *x, unsigned n, long long wait) {
    for (long long end = clock64() + wait; clock64() < end;) {}
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 5u + i;
}"""


def ok(answer):
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else values


def build(device):
    major = ok(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = ok(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    program = ok(nvrtc.nvrtcCreateProgram(SOURCE, b"step.cu", 0, [], []))
    ok(nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture=sm_{major}{minor}".encode()]))
    image = b" " * ok(nvrtc.nvrtcGetCUBINSize(program))
    ok(nvrtc.nvrtcGetCUBIN(program, image))
    module = ok(driver.cuModuleLoadData(image))
    return ok(driver.cuModuleGetFunction(module, b"step"))


def main():
    ok(driver.cuInit(0))
    device = ok(driver.cuDeviceGet(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(device))
    ok(driver.cuCtxSetCurrent(context))
    function = build(device)
    results = [numpy.zeros(WORDS, numpy.uint32) for _ in range(4)]

    def lane(index):
        ok(driver.cuCtxSetCurrent(context))
        memory = ok(driver.cuMemAlloc(WORDS * 4))
        ok(driver.cuMemsetD32Async(memory, index + 1, WORDS, 0))
        for _ in range(ROUNDS):
            arguments = ((memory, WORDS, 200_000), (None, ctypes.c_uint, ctypes.c_longlong))
            ok(driver.cuLaunchKernel(function, WORDS // 256, 1, 1, 256, 1, 1, 0, 0, arguments, 0))
        ok(driver.cuMemcpyDtoH(results[index].ctypes.data, memory, WORDS * 4))
        ok(driver.cuMemFree(memory))

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


main()

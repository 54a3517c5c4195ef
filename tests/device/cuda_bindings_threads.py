# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings, the driver API from Python: memsets, copies and kernels on stream 0, from 1 and from 4 threads."""
import ctypes

import shared_work
import side_by_side

driver, nvrtc, numpy = side_by_side.need("cuda.bindings.driver", "cuda.bindings.nvrtc", "numpy")


def ok(answer):
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else values


def build(device):
    major = ok(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = ok(driver.cuDeviceGetAttribute(driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    program = ok(nvrtc.nvrtcCreateProgram(shared_work.KERNEL_SOURCE.encode(), b"step.cu", 0, [], []))
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
    words = shared_work.KERNEL_WORDS

    def lane(index):
        ok(driver.cuCtxSetCurrent(context))
        memory = ok(driver.cuMemAlloc(words * 4))
        ok(driver.cuMemsetD32Async(memory, index + 1, words, 0))
        for _ in range(shared_work.KERNEL_ROUNDS):
            arguments = ((memory, words, shared_work.KERNEL_CLOCKS), (None, ctypes.c_uint, ctypes.c_longlong))
            ok(driver.cuLaunchKernel(function, words // 256, 1, 1, 256, 1, 1, 0, 0, arguments, 0))
        result = numpy.empty(words, numpy.uint32)
        ok(driver.cuMemcpyDtoH(result.ctypes.data, memory, words * 4))
        ok(driver.cuMemFree(memory))
        return result

    side_by_side.one_and_four(lane, shared_work.after_kernels)


main()

# SPDX-License-Identifier: Apache-2.0
"""Run by wheel_test.sh under `python -m ptds`: calls the driver by ctypes, on the default stream; says what it sees of itself."""
import ctypes
import os
import sys
import threading

cuda = ctypes.CDLL("libcuda.so.1")
SIZE = 1 << 20


def must(result):
    assert result == 0, result


def make_context():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    must(cuda.cuInit(0))
    must(cuda.cuDeviceGet(ctypes.byref(device), 0))
    must(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device))
    return context


def take_memory():
    memory = ctypes.c_uint64()
    must(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(SIZE)))
    return memory


def copy_back_and_forth(memory):
    there, back = ctypes.create_string_buffer(b"libptds" * 1000, SIZE), ctypes.create_string_buffer(SIZE)
    must(cuda.cuMemcpyHtoD_v2(memory, there, ctypes.c_size_t(SIZE)))
    must(cuda.cuMemcpyDtoH_v2(back, memory, ctypes.c_size_t(SIZE)))
    assert back.raw == there.raw


def clear_first(memory):
    must(cuda.cuMemsetD8_v2(memory, 0, ctypes.c_size_t(SIZE)))


def clear_second(memory):
    must(cuda.cuMemsetD8_v2(memory, 1, ctypes.c_size_t(SIZE)))


def in_a_thread(memory, context):
    must(cuda.cuCtxSetCurrent(context))
    for clear in (clear_first, clear_second, clear_first, clear_second):
        clear(memory)


context = make_context()
taken = take_memory()
for _ in range(3):
    copy_back_and_forth(taken)
thread = threading.Thread(target=in_a_thread, args=(taken, context))
thread.start()
thread.join()
print("copied", __name__, sys.argv, os.path.basename(sys.path[0]), sys.flags.optimize, "PYTHONPERFSUPPORT" in os.environ)
sys.exit(7)

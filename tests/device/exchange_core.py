# SPDX-License-Identifier: Apache-2.0
"""cuda.core's side of exchange.py: its views of others' arrays, arrays of its own that name a stream, and hand-overs by an event.

It works on the legacy stream, on the per-thread default stream and on a non-blocking stream, each by its explicit handle.
"""
import side_by_side

core, driver, numpy = side_by_side.need("cuda.core", "cuda.bindings.driver", "numpy")
if not hasattr(core, "Device"):
    core = side_by_side.need("cuda.core.experimental")[0]
(views,) = side_by_side.need("cuda.core.utils" if "experimental" not in core.__name__ else "cuda.core.experimental.utils")

SIZE, SLEEP = 1 << 16, 3_600_000
# As both protocols number the default streams.
LEGACY, PER_THREAD = 1, 2

SOURCE = """
extern "C" __global__ void triple(long long *to, const long long *from, unsigned size, long long clocks)
{
    long long began = clock64();
    while (clock64() - began < clocks) {}
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) to[i] = from[i] * 3 + 1;
}
"""


def ok(answer):
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if values else None


def recorded(stream):
    """A new event, recorded on the stream of this handle."""
    event = ok(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    ok(driver.cuEventRecord(event, stream))
    return event


def wait(stream, event):
    """The stream of this handle waits for the event, which is used up."""
    ok(driver.cuStreamWaitEvent(stream, event, 0))
    ok(driver.cuEventDestroy(event))


def legacy_waits(event):
    if event is not None:
        wait(0, event)


class Array:
    """A device array as both protocols export it; `named` is the stream that the array interface names, or None for none."""

    def __init__(self, buffer, stream, named):
        self.buffer, self.stream = buffer, stream
        self.__cuda_array_interface__ = {
            "shape": (SIZE,),
            "typestr": "<i8",
            "data": (int(buffer.handle), False),
            "version": 3,
            "stream": named,
        }

    def __dlpack_device__(self):
        return self.buffer.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **wishes):
        """The consumer's stream waits for this array's; no stream means the legacy one, -1 that nobody has to wait."""
        consumer = LEGACY if stream is None else stream
        if consumer not in (-1, self.stream):
            wait(consumer, recorded(self.stream))
        view = views.StridedMemoryView.from_buffer(self.buffer, (SIZE,), dtype=numpy.dtype(numpy.int64))
        return view.__dlpack__(stream=-1, **wishes)


class Core:
    """cuda.core on one device: the kernel, and a non-blocking stream beside the two default streams."""

    def __init__(self):
        self.device = core.Device()
        self.device.set_current()
        options = core.ProgramOptions(arch=f"sm_{self.device.arch}")
        self.kernel = core.Program(SOURCE, "c++", options=options).compile("cubin").get_kernel("triple")
        self.own = self.device.create_stream()

    def triple(self, view, stream, named):
        # What is freed on a per-thread default stream is freed on that of the thread that happens to drop it.
        memory = core.LEGACY_DEFAULT_STREAM if int(stream.handle) == PER_THREAD else stream
        result = Array(self.device.allocate(SIZE * 8, stream=memory), int(stream.handle), named)
        config = core.LaunchConfig(grid=SIZE // 256, block=256)
        # The launch waits on the device, not the host: a reader that does not wait for it finds old bytes.
        core.launch(stream, config, self.kernel, result.buffer, view.ptr, numpy.uint32(SIZE), numpy.int64(SLEEP))
        return result


CORE = None


def view_by_interface(x, stream):
    return views.StridedMemoryView.from_cuda_array_interface(x, stream_ptr=stream)


def view_by_dlpack(x, stream):
    """numba's arrays have no DLPack and PyTorch's refuse the per-thread default stream: these come by the array interface."""
    if not hasattr(x, "__dlpack__"):
        return view_by_interface(x, stream)
    try:
        return views.StridedMemoryView.from_dlpack(x, stream_ptr=stream)
    except BufferError:
        return view_by_interface(x, stream)


def in_core(x):
    return CORE.triple(view_by_interface(x, LEGACY), core.LEGACY_DEFAULT_STREAM, LEGACY)


def in_core_dlpack(x):
    return CORE.triple(view_by_dlpack(x, LEGACY), core.LEGACY_DEFAULT_STREAM, LEGACY)


def in_core_unnamed(x):
    """Nobody names a stream: right because this is the legacy one, which waits for its producers by itself or by their event."""
    return CORE.triple(view_by_interface(x, -1), core.LEGACY_DEFAULT_STREAM, None)


def in_core_per_thread(x):
    return CORE.triple(view_by_interface(x, PER_THREAD), core.PER_THREAD_DEFAULT_STREAM, PER_THREAD)


def in_core_per_thread_dlpack(x):
    return CORE.triple(view_by_dlpack(x, PER_THREAD), core.PER_THREAD_DEFAULT_STREAM, PER_THREAD)


def in_core_by_event(x):
    """As Arrow's device arrays: the producer records an event, the consumer's stream waits for it; the stream is non-blocking."""
    return CORE.triple(view_by_interface(x, -1), CORE.own, None)


def steps():
    """The ways in and out of cuda.core; to be called with a context that is current."""
    global CORE
    CORE = Core()
    return [in_core, in_core_dlpack, in_core_unnamed, in_core_per_thread, in_core_per_thread_dlpack, in_core_by_event]


def event_after(step, following=None):
    """After `step`, in its thread: the event for whoever comes next, or None where neither of the two goes by events."""
    if step is in_core_by_event:
        return recorded(CORE.own.handle)
    return recorded(0) if following is in_core_by_event else None


def call(step, x, event=None):
    """step(x), whose stream waits for the event that came with x; without one, a step by events waits for the legacy stream."""
    CORE.device.set_current()
    if step is in_core_by_event:
        wait(CORE.own.handle, event or recorded(0))
    else:
        legacy_waits(event)
    return step(x)

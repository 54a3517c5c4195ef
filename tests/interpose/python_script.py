# SPDX-License-Identifier: Apache-2.0
"""Run by real_python_test under the shim on the simulated driver: event records out of every kind of function. Before each it says
on the same line what the interpreter itself takes its callers to be, a line a call: "function:line function:line ..."."""
import atexit
import contextlib
import ctypes
import functools
import gc
import signal
import sys
import threading
import weakref

cuda = ctypes.CDLL("libcuda.so.1")
libc = ctypes.CDLL(None)
context, event, device = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
lines = []


def must(result):
    assert result == 0, result


def say():
    frame, found = sys._getframe(1), []
    while frame:
        found.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
        frame = frame.f_back
    lines.append(" ".join(found))
    return 0


record = functools.partial(cuda.cuEventRecord, event, None)
must(cuda.cuInit(0))
must(cuda.cuDeviceGet(ctypes.byref(device), 0))
must(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device))
must(cuda.cuEventCreate(ctypes.byref(event), 0))


def one(): say(); record()
def two(): say(); record()


def one_more():
    one()
    one(); two()


class Thing:
    def __init__(self, deep=0):
        say(); record()
        self.inner = Thing(deep - 1) if deep else None

    @property
    def attribute(self): say(); return record()

    @classmethod
    def of_class(cls): say(); return record()

    @staticmethod
    def of_nothing(): say(); return record()

    def __getattr__(self, name): say(); return record()

    def __lt__(self, other): say(); return record() == 1

    def __call__(self): say(); return record()

    def __enter__(self): say(); return record()

    def __exit__(self, *of): say(); record()


class Dies:
    def __del__(self): say(); record()


def leave_to_die():
    gone = Dies()
    return 1


def generate(n):
    for i in range(n):
        say(); record()
        yield i
    if n > 1:
        yield from generate(n - 1)


@contextlib.contextmanager
def managed():
    say(); record()
    yield
    say(); record()


async def coroutine(n):
    say(); record()
    return n and await coroutine(n - 1)


def recurse(n):
    if n == 0:
        say(); return record()
    return recurse(n - 1)


def recurse_by_c(n):
    if n == 0:
        say(); return record()
    return list(map(recurse_by_c, [n - 1]))


def übung(ß): say(); return record()


def raises():
    try:
        raise ValueError
    except ValueError:
        say(); record()
    finally:
        say(); record()


def all_of_them():
    one_more()
    Thing(2).attribute
    Thing.of_class(); Thing.of_nothing()
    Thing().missing
    sorted([Thing(), Thing(), Thing()])
    Thing()()
    with Thing(): say(); record()
    with managed(): say(); record()
    [(say(), record()) for _ in range(2)]
    sum((say(), record())[1] for _ in range(2))
    list(generate(3))
    max([1, 2], key=lambda x: (say(), record())[1])
    functools.reduce(lambda a, b: (say(), record())[1], range(3))
    with contextlib.suppress(StopIteration): coroutine(3).send(None)
    recurse(3); recurse(60); recurse_by_c(9)
    übung(1)
    raises()
    leave_to_die()
    kept = Dies(); watched = weakref.ref(kept, lambda _: (say(), record())); del kept
    cycle = [Dies()]; cycle.append(cycle); del cycle; gc.collect()
    for i in range(6): exec(compile(f"{' ' * 0}def made{i}(): say(); record()\nmade{i}()", f"<made {i}>", "exec"), globals())
    for i in range(6): eval(f"(say(), record(), {i})")
    back = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: (say(), record())[1])
    libc.qsort((ctypes.c_int * 2)(2, 1), 2, 4, back)


def in_thread():
    must(cuda.cuCtxSetCurrent(context))
    for _ in range(3): all_of_them()


# More often than it takes the interpreter to replace its instructions by quicker ones.
for _ in range(40): all_of_them()

thread = threading.Thread(target=in_thread); thread.start(); thread.join()

# A thread that Python did not start.
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def of_c(_):
    must(cuda.cuCtxSetCurrent(context))
    all_of_them()
its_id = ctypes.c_ulong()
must(libc.pthread_create(ctypes.byref(its_id), None, of_c, None))
must(libc.pthread_join(its_id, None))

sys.settrace(lambda *of: None); all_of_them(); sys.settrace(None)
sys.setprofile(lambda *of: None); all_of_them(); sys.setprofile(None)
signal.signal(signal.SIGUSR1, lambda *of: (say(), record())); signal.raise_signal(signal.SIGUSR1)
atexit.register(lambda: (one_more(), print("\n".join(lines))))

# SPDX-License-Identifier: Apache-2.0
"""What the Python programs of this folder share: threads that start together, the last lines, a clear skip.

The programs use the default stream from several threads, check their results against numpy and know nothing of libptds.
scripts/gpu runs each of them without the shim and under the policies.
"""
import importlib
import os
import sys
import sysconfig
import threading
import time
import zlib

THREADS = int(os.environ.get("SIDE_BY_SIDE_THREADS", "4"))
ALL = {4: "four", 8: "eight"}.get(THREADS, "all")


def need(*modules):
    """The modules, or one line and a clean exit where one is missing."""
    found = []
    for name in modules:
        try:
            found.append(importlib.import_module(name))
        except ImportError as error:
            print(f"SKIP {name}: {error}")
            sys.exit(0)
    return found


def run(count, body):
    """body(index) in `count` threads; returns the milliseconds from their common start to the last one's end."""
    start = threading.Barrier(count + 1)
    failures = []

    def member(index):
        start.wait()
        try:
            body(index)
        except BaseException as error:  # a thread's failure is the program's
            failures.append(error)

    threads = [threading.Thread(target=member, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    ended = time.perf_counter()
    if failures:
        raise failures[0]
    return (ended - began) * 1e3


def timed(lane, prefix=""):
    """Calls lane(index), which returns an array, in one thread and in THREADS at once, after a warm-up of both.

    Returns the arrays, first the one thread's, then those of all, and the milliseconds by name.
    """
    results = [None] * THREADS

    def keep(index):
        results[index] = lane(index)

    keep(0)
    run(THREADS, keep)
    one = run(1, keep)
    alone = results[0]
    together = run(THREADS, keep)
    return [alone, *results], {f"{prefix}one": one, f"{prefix}{ALL}": together}


def all_are(same, results, expected):
    """Whether the arrays of timed() are what expected(index) says, as same(array, expected) judges."""
    return all(same(result, expected(max(i - 1, 0))) for i, result in enumerate(results))


def one_and_four(lane, expected):
    """Times lane(index), whose results must be exactly expected(index), in one thread and in THREADS; ends the program."""
    (numpy,) = need("numpy")
    results, times = timed(lane)
    finish(all_are(numpy.array_equal, results, expected), results, **times)


def finish(right, arrays, **times):
    """`OK checksum` or `WRONG checksum`, then a line `name_ms N` for each time; ends the program.

    Under a Python without the GIL a line `GIL off`, or `GIL on` where a module has asked for it, comes before the times.
    The checksum is of the arrays' bytes, which scripts/gpu compares with those of a run without the shim. None for arrays
    whose last bits differ from run to run by themselves: then there is no checksum.
    """
    words = ["OK" if right else "WRONG"]
    if arrays is not None:
        checksum = 0
        for array in arrays:
            checksum = zlib.crc32(array.tobytes(), checksum)
        words.append(f"{checksum:08x}")
    print(*words)
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        print("GIL", "on" if sys._is_gil_enabled() else "off")
    for name, ms in times.items():
        print(f"{name}_ms {ms:.3f}")
    sys.stdout.flush()
    sys.exit(0 if right else 1)

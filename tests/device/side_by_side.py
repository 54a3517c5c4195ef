# SPDX-License-Identifier: Apache-2.0
"""What the Python programs of this folder share: threads that start together, the last lines, a clear skip.

The programs use the default stream from several threads, check their results against numpy and know nothing of libptds.
scripts/gpu runs each of them without the shim and under the policies.
"""
import importlib
import sys
import threading
import time
import zlib


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


def finish(right, arrays, **times):
    """`OK checksum` or `WRONG checksum`, then a line `name_ms N` for each time; ends the program."""
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(array.tobytes(), checksum)
    print(f"{'OK' if right else 'WRONG'} {checksum:08x}")
    for name, ms in times.items():
        print(f"{name}_ms {ms:.3f}")
    sys.stdout.flush()
    sys.exit(0 if right else 1)

# SPDX-License-Identifier: Apache-2.0
"""spawn.py TIMES program arguments...: the median of the milliseconds from a process's start to its end, as `time_ms N`.

Of several runs the first does not count.
"""
import os
import shutil
import statistics
import sys
import time


def once(path, arguments, quiet):
    began = time.perf_counter()
    child = os.posix_spawn(path, arguments, os.environ, file_actions=quiet)
    _, status = os.waitpid(child, 0)
    ended = time.perf_counter()
    if status != 0:
        sys.exit(f"{path} ended with status {status}")
    return (ended - began) * 1e3


def main():
    times, arguments = int(sys.argv[1]), sys.argv[2:]
    path = shutil.which(arguments[0])
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    if times > 1:
        once(path, arguments, quiet)
    print(f"time_ms {statistics.median(once(path, arguments, quiet) for _ in range(times)):.3f}")


main()

# SPDX-License-Identifier: Apache-2.0
"""What an enabled Python runs while it starts: it starts once more, in the same process, with the library preloaded.

Called by the line of the file that enable.py writes. A library that is opened by a running program does not do: what libraries look
up in libc is found there first, past the library. So the interpreter becomes itself again, before anything of the program has run.

Must never end an interpreter, nor start one again that has begun to run a program: then nothing happens, or one line on stderr.
"""

import os
import signal
import sys

from . import LIBRARY

#: Of the second start: the number of the process and its name, which the second start takes away.
AGAIN = b"PTDS_STARTED_AGAIN"
#: Beside the package. The first of its folder, so that what other such files do at a start is not done twice.
PTH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "0_ptds.pth")

said = []


def read(name):
    with open("/proc/self/" + name, "rb") as file:
        return file.read()


def say(what):
    """On stderr, if there is one. Once: some Pythons read the file twice in one start."""
    if sys.stderr is not None and not said:
        sys.stderr.write("ptds: not on in this process: %s\n" % what)
    said.append(what)


def first_environment():
    """What this process was started with, of names that stand there twice the first: Python may have changed it since."""
    return dict(reversed([entry.partition(b"=")[::2] for entry in read("environ").split(b"\0") if b"=" in entry]))


def is_loaded():
    """Whether the library is in this process, that of this package or another one."""
    return any(line.endswith(b"/libptds.so") for line in read("maps").splitlines())


def is_wanted():
    """Not where the library would do nothing at all."""
    return not os.environ.get("PTDS_DISABLE") and os.environ.get("PTDS_POLICY") != "none"


def is_starting():
    """Whether the interpreter imports its module `site` by itself: a program that runs may ask for the same."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals.get("__name__") in ("importlib._bootstrap", "_frozen_importlib")


def is_main_interpreter():
    """Not another one of a program that runs. Only the main thread of the main interpreter may ask; what it sets is what is there."""
    try:
        signal.set_wakeup_fd(-1)
    except ValueError:
        return False
    return True


def is_python():
    """Whether the process is a Python, and not a program that has one in it."""
    path = os.readlink("/proc/self/exe")
    return (os.path.basename(path).strip("0123456789.-tdbg") in ("python", "pypy") and bool(sys.executable)
            and os.path.samefile(path, sys.executable))


def start_again(environment):
    others = environment.get(b"LD_PRELOAD", b"")
    environment[b"LD_PRELOAD"] = (others + b":" if others else b"") + os.fsencode(LIBRARY)
    environment[AGAIN] = b"%d %s" % (os.getpid(), read("comm")[:-1])
    os.execve(sys.executable, read("cmdline").split(b"\0")[:-1], environment)


def take_back(name):
    """What start_again has changed and others would see: a child that is no such Python is none of ours."""
    others = os.environ.get("LD_PRELOAD", "").rpartition(LIBRARY)[0].rstrip(":")
    if others:
        os.environ["LD_PRELOAD"] = others
    else:
        os.environ.pop("LD_PRELOAD", None)
    with open("/proc/self/comm", "wb") as file:
        file.write(name)


def run():
    environment = first_environment()
    number, _, name = environment.get(AGAIN, b"").partition(b" ")
    is_second = number == b"%d" % os.getpid()
    is_told = os.environ.pop(os.fsdecode(AGAIN), None) is not None
    if is_second and is_told:
        take_back(name)
    if not is_wanted() or not is_starting() or not is_main_interpreter() or not is_python() or is_loaded():
        return
    if is_second:
        say("the loader did not preload %s" % LIBRARY)
    elif not os.access(LIBRARY, os.R_OK):
        say("%s is gone; `python -m ptds disable`, or remove %s" % (LIBRARY, PTH))
    else:
        start_again(environment)

# SPDX-License-Identifier: Apache-2.0
"""`python -m ptds VERB ...`: becomes the `ptds` command that came with this package, which does all the work.

`python -m ptds run -- script.py ARGS` and `probe -- script.py ARGS` run the script under this Python, with the options that it
was given; so do `-- -m module` and `-- -c code`. Anything else after `--` is a program as it stands. Nothing of this process is
left in the program that runs.

`enable`, `disable` and `status` are about this Python, and are done here (enable.py).
"""

import os
import subprocess
import sys

from . import COMMAND

#: Verbs that run a program.
RUNS = ("run", "probe")

FRAMES = "--python-frames"


def is_python(words):
    """Whether these words are what a Python takes, rather than a program."""
    return bool(words) and (words[0].endswith(".py") or (words[0] in ("-m", "-c") and len(words) > 1))


def words_of(arguments):
    """The command's words for ours: a script gets its Python. After `--`, or right after the verb."""
    if not arguments or arguments[0] not in RUNS:
        return arguments
    if "--" in arguments:
        at = arguments.index("--") + 1
    elif len(arguments) > 1 and not arguments[1].startswith("-"):
        at = 1
    else:
        return arguments
    if not is_python(arguments[at:]):
        return arguments
    # The options that this Python was started with, as multiprocessing hands them on.
    options = subprocess._args_from_interpreter_flags()
    return arguments[:at] + [sys.executable] + options + arguments[at:]


def take_frames(arguments, environment):
    """Without --python-frames, which is for this file alone: a Python of 3.12 or later then gives each of its functions code of
    its own, which stacks show and /tmp/perf-PID.map names. For those whose frames the shim can't read itself; not by itself, since
    it makes recursion's limit smaller."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if FRAMES not in arguments[:end]:
        return arguments
    if arguments[0] not in RUNS:
        sys.exit("ptds: %s is for %s" % (FRAMES, " and ".join(RUNS)))
    if not hasattr(sys, "activate_stack_trampoline"):
        print("ptds: %s needs Python 3.12 or later" % FRAMES, file=sys.stderr)
    environment["PYTHONPERFSUPPORT"] = "1"
    return [word for word in arguments[:end] if word != FRAMES] + arguments[end:]


def become(words, environment):
    try:
        os.execve(COMMAND, ["ptds"] + words, environment)
    except OSError as error:
        sys.exit("ptds: %s: %s" % (COMMAND, error.strerror))


def main():
    if sys.argv[1:2] in (["enable"], ["disable"], ["status"]):
        from . import enable
        if len(sys.argv) > 2:
            sys.exit("ptds: %s takes no more words" % sys.argv[1])
        enable.VERBS[sys.argv[1]]()
        return
    environment = dict(os.environ)
    become(words_of(take_frames(sys.argv[1:], environment)), environment)


def console():
    """The `ptds` of the console: the command itself, a script is a program like any other."""
    become(sys.argv[1:], dict(os.environ))


if __name__ == "__main__":
    main()

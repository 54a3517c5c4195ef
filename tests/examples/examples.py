#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py PTDS PROGRAM ROOT: every command line of `ptds help VERB`, and of the fenced blocks of the pages, is one that works.

Each runs in a folder with the files that it names, on the simulated driver. It must end with 0, or with 1, which is an answer
of `check`, `probe` and `watch`; 2 is a usage error, 3 a file that cannot be read, or of `probe` that it can't tell, as on a busy
machine. What can't run here has its options read, and a reason below."""
import glob
import os
import re
import subprocess
import sys

VERBS = "probe run report diff check export watch kernels doctor help completion".split()
NO_SUCH_FILE = "the file is the reader's"
# Whose options are read, and nothing more. Each begins so.
PARSED = {
    "ptds report --thread worker": "no thread of the program has that name",
    "ptds check app.ptds --no-block-in": "no region of that name is in these traces",
    "ptds kernels --kernel": NO_SUCH_FILE,
    "ptds kernels --format json app.cubin": NO_SUCH_FILE,
    "ptds kernels app.cubin": NO_SUCH_FILE,
    'ptds probe -- sh -c "sleep 0.4;': "its runs take half a second each; tests/probe runs such",
    "ptds probe --policy per-thread --shake 3 -- ./lucky": "tests/probe runs it",
    "ptds run --audit": "wants glibc 2.35; tests/interpose runs it where there is one",
    "mpirun ": "MPI is not everywhere; tests/interpose runs it where it is",
    "srun ": "Slurm is not here",
    "ptds run --report off --trace \"$PWD/traces/app-%r.ptds\" -- torchrun": "PyTorch is not here",
}
# Words of the wheel, not of the command.
WHEEL = {"python -m ptds": "tests/wheel runs these"}
COMMAND = re.compile(r"(^|[ ;&|(])ptds (%s)\b" % "|".join(VERBS))

ptds, program, root = (os.path.abspath(path) for path in sys.argv[1:4])
failed, seen, used = [], 0, set()


def without_note(line):
    """A line ends where its note begins, three blanks or more behind it."""
    return re.split(r"\s{3,}", line.strip().removeprefix("$ ").removeprefix("- ").removeprefix("run: "))[0]


def of_help():
    for verb in VERBS:
        text = subprocess.run([ptds, "help", verb], capture_output=True, text=True, check=True).stdout
        examples = re.search(r"^Examples?:\n(.*)", text, re.S | re.M)
        assert examples, f"ptds help {verb} has no example"
        for line in examples[1].splitlines():
            yield f"ptds help {verb}", without_note(line)


def of_pages():
    for page in [root + "/README.md"] + sorted(glob.glob(root + "/docs/*.md")):
        fenced = False
        for line in open(page, encoding="utf-8"):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif fenced and COMMAND.search(line) and not line.startswith(("ptds:", "Next:")):
                yield os.path.basename(page), without_note(line)


def bash(line):
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)


def make_files():
    """The files that examples name: a program, traces, baselines, outputs, and tools of others."""
    os.makedirs("bin")
    os.symlink(ptds, "bin/ptds")
    os.symlink(program, "overlap")
    for name, text in (("app", f"#!/bin/sh\necho 1 >result.txt; echo 1 >result.bin; exec {program} 2 4 1000\n"),
                       ("bin/flamegraph.pl", "#!/bin/sh\nexec cat\n"), ("bin/numdiff", "#!/bin/sh\nexec cmp \"$3\" \"$4\"\n")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o700)
    os.environ["PATH"] = os.getcwd() + "/bin:" + os.environ["PATH"]
    os.environ["HOME"] = os.getcwd()
    os.environ["GITHUB_STEP_SUMMARY"] = os.getcwd() + "/summary.md"
    for folder in (".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"):
        os.makedirs(folder)
    traces = ["app", "old", "new", "before", "after", "rank0", "rank1", "traces/app-3"] + [f"{f}/{i}" for f in ("before", "after", "good", "v2", "traces") for i in (1, 2, 3)]
    for trace in traces:
        made = bash(f"ptds run --policy observe --report off --trace {trace}.ptds -- ./app")
        assert made.returncode == 0, made.stderr
    for baseline in ("app.json", "baseline.json", "ptds-baseline.json"):
        made = bash(f"ptds check --update --baseline {baseline} before")
        assert made.returncode == 0, made.stderr


def listed(line, names):
    for begin in names:
        if line.startswith(begin):
            used.add(begin)
            return True
    return False


def read_options(line):
    """As far as the program that it names, or all of it; --help ends it there."""
    line = line[COMMAND.search(line).start():].lstrip()
    own = line.split(" -- ")[0]
    return bash(own + " --help")


def try_line(where, line):
    global seen
    seen += 1
    if listed(line, WHEEL):
        return
    parsed = listed(line, PARSED)
    ran = read_options(line) if parsed else bash(line)
    allowed = (0,) if parsed else (0, 1, 3) if line.startswith("ptds probe") else (0, 1)
    if ran.returncode not in allowed:
        failed.append(f"{where}: {line}\n  ended with {ran.returncode}: {ran.stderr[-400:]}")


make_files()
for where, line in list(of_help()) + list(of_pages()):
    try_line(where, line)
man = subprocess.run([ptds, "help", "--man"], capture_output=True, text=True, check=True).stdout
man = re.sub(r"\\&|\\(?=-)", "", man).replace("\\e", "\\").replace("\\(aq", "'").replace("\\(ti", "~")
for where, line in of_help():
    if line not in man:
        failed.append(f"the man page lacks an example of {where}: {line}")
failed += [f"no example begins with what is only parsed: {begin}" for begin in set(PARSED) | set(WHEEL) if begin not in used]
assert seen > 50, f"only {seen} examples were found"
print("\n".join(failed) if failed else f"{seen} examples")
sys.exit(bool(failed))

# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the simulated driver under the shim and holds what ptds says of them against what is true of them.

    oracle.py --runner R --shim S --ptds P --driver FOLDER [--first 1] [--seeds 200] [program file...]

Random programs, and those of the files (by default only the former). ORACLE_SEEDS and ORACLE_FIRST_SEED stand in for the
options. Ends with 1 on a complaint of a kind that known.py does not list, or when a kind that it lists no longer comes.
"""

import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import generate
import judge
import known
import programs
import said
import shrink

BATCH, PROCESSES, HANG_S = 20, 2, 60
SPACING = "262144"  # bytes: a pointer into a memory may mean what lies within 64 KiB of it
SETTINGS = {
    "observe": {"PTDS_POLICY": "observe"},
    "per-thread": {"PTDS_POLICY": "per-thread"},
    "per-thread,remap": {"PTDS_POLICY": "per-thread", "PTDS_EXPLICIT_LEGACY": "remap"},
    "stream": {"PTDS_POLICY": "stream"},
    "stream,nonblocking": {"PTDS_POLICY": "stream", "PTDS_STREAM": "nonblocking"},
    "guarded": {"PTDS_POLICY": "guarded"},
    "observe,overtake": {"PTDS_POLICY": "observe", "SIM_SMALL_COPIES": "overtake"},
    "guarded,overtake": {"PTDS_POLICY": "guarded", "SIM_SMALL_COPIES": "overtake"},
    "guarded,4": {"PTDS_POLICY": "guarded", "PTDS_LANES": "4"},
}
GIVING_UP = ["observe", "per-thread"]
KEEPING = ["stream", "stream,nonblocking", "guarded", "guarded,4", "observe,overtake", "guarded,overtake"]  # some programs have one of these, too
MOST_MAYBE = 0.02  # of all orders: called "maybe" although everything was seen

Run = collections.namedtuple("Run", "name policy truth trace printed threads")


class Tools:
    """Where the programs under test are."""

    def __init__(self, options):
        self.runner, self.shim = os.path.abspath(options.runner), os.path.abspath(options.shim)
        self.ptds, self.driver = os.path.abspath(options.ptds), os.path.abspath(options.driver)

    def run(self, program, settings, trace):
        """What the program read, by line, and its threads by their numbers in the system."""
        environment = dict(os.environ, LD_LIBRARY_PATH=self.driver, LD_PRELOAD=self.shim, PTDS_REPORT="off", PTDS_TRACE=trace,
                           SIM_SPACING=SPACING, **settings)
        done = subprocess.run([self.runner, program], env=environment, capture_output=True, text=True, timeout=HANG_S,
                              check=False)
        if done.returncode != 0 or done.stderr:
            raise RuntimeError("%s under %s: status %d, %s" % (program, settings, done.returncode, done.stderr))
        lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
        threads = [text.split() for word, text in lines if word == "thread"]
        return ({int(number): text for number, text in lines if number != "thread"},
                {int(system) & said.TID_MASK: int(number) for number, system in threads})


def policies_of(name):
    if not name.isdigit():
        return list(GIVING_UP) + ["stream", "stream,nonblocking", "observe,overtake"]
    seed = int(name)
    return (["observe", "per-thread,remap"] if seed % 10 == 9 else list(GIVING_UP)) + \
        ([KEEPING[seed // 3 % len(KEEPING)]] if seed % 3 == 0 else [])


def settings_of(policy, program):
    settings = dict(SETTINGS[policy])
    if generate.loses_records(program):
        settings["PTDS_TRACE_LIMIT"] = "1M"
    return settings


def run_all(tools, folder, batch):
    runs = []
    for name, program in batch:
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(program.text())
        truth = judge.Truth(program)
        for policy in policies_of(name):
            trace = "%s.%s.ptds" % (path, policy)
            runs.append(Run(name, policy, truth.under(policy), trace, *tools.run(path, settings_of(policy, program), trace)))
    return runs


def complaints_of(tools, folder, batch):
    """(name, policy, complaint) of a batch of (name, program), and how many there were of what."""
    out, counts, runs = [], collections.Counter(), run_all(tools, folder, batch)
    database = os.path.join(folder, "batch-%s.sqlite" % batch[0][0])
    for run, (edges, recorded, rules, errors) in zip(runs, said.of_all(tools.ptds, runs, database)):
        verdicts = collections.Counter(edge.verdict for edge in edges)
        lost = run.truth.lost(run.policy)
        about = said.Said(edges, rules, errors, said.findings_of(tools.ptds, run.trace) if lost else [],
                          said.shouts_of(tools.ptds, run.trace), recorded)
        found = judge.judge(run.truth, run.policy, about, run.printed)
        found += judge.not_as_claimed(run.truth.program, run.policy, verdicts)
        out += [(run.name, run.policy, complaint) for complaint in found]
        counts.update(verdicts)
        counts["all orders"] += len(edges)
        counts["maybe though known"] += len(judge.maybe_though_known(run.truth, edges))
        counts["runs"] += 1
        counts["runs of programs with races"] += bool(run.truth.races)
        counts["runs that lose order"] += bool(lost)
        counts["runs that read something else"] += run.printed != programs.expected(run.truth.program)
        os.unlink(run.trace)
    return out, counts


def options_of():
    parser = argparse.ArgumentParser()
    for name in "runner", "shim", "ptds", "driver":
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--first", type=int, default=int(os.environ.get("ORACLE_FIRST_SEED", 1)))
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("ORACLE_SEEDS", 200)))
    parser.add_argument("--shrink", help="a kind of complaint: print a short program that shows it, and stop")
    parser.add_argument("--all", action="store_true", help="show every complaint, not one program of each kind")
    parser.add_argument("files", nargs="*")
    return parser.parse_args()


def programs_of(options):
    out = []
    for path in options.files:
        with open(path, encoding="ascii") as file:
            out.append((os.path.basename(path), programs.Program(file.read())))
    return out + [(str(seed), generate.program_of(seed)) for seed in range(options.first, options.first + options.seeds)]


def show(complaints, lengths, everything):
    """All kinds, each with the shortest program that shows it."""
    by_kind = collections.defaultdict(list)
    for name, policy, complaint in complaints:
        by_kind[complaint.kind].append((lengths[name], name, policy, complaint.text))
    for kind, ones in sorted(by_kind.items()):
        print("%s%s  (%d)" % ("" if kind in known.KINDS else "NEW ", kind, len(ones)))
        for _, name, policy, text in sorted(ones) if everything else [min(ones)]:
            print("    %s, %s: %s" % (name, policy, text))
    return by_kind


def shorten(tools, everything, kind):
    def shows(program):
        with tempfile.TemporaryDirectory() as folder:
            try:
                return any(c.kind == kind for _, _, c in complaints_of(tools, folder, [("0", program)])[0])
            except (said.Mismatch, RuntimeError, subprocess.TimeoutExpired):
                return False
    for _, program in sorted(everything, key=lambda one: len(one[1].ops)):
        if shows(program):
            print(shrink.shrink(program, shows).text(), end="")
            return


def verdict(options, by_kind, counts):
    """The exit status."""
    status = 0
    if any(kind not in known.KINDS for kind in by_kind):
        status = 1
    if options.files and options.seeds >= known.SEEDS:
        for kind in known.KINDS:
            if kind not in by_kind:
                print("GONE: %s: take it out of known.py" % kind)
                status = 1
    if counts["maybe though known"] > MOST_MAYBE * counts["all orders"]:
        print("too many orders are called maybe although everything was seen")
        status = 1
    return status


def main():
    options = options_of()
    tools, everything = Tools(options), programs_of(options)
    if options.shrink:
        shorten(tools, everything, options.shrink)
        return 0
    complaints, counts = [], collections.Counter()
    batches = [everything[at:at + BATCH] for at in range(0, len(everything), BATCH)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        for out, more in pool.map(lambda batch: complaints_of(tools, folder, batch), batches):
            complaints += out
            counts.update(more)
    by_kind = show(complaints, {name: len(program.ops) for name, program in everything}, options.all)
    for name, count in sorted(counts.items()):
        print("%8d %s" % (count, name))
    return verdict(options, by_kind, counts)


if __name__ == "__main__":
    sys.exit(main())

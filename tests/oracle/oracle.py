# SPDX-License-Identifier: Apache-2.0
"""Runs random programs on the simulated driver under the shim and holds what ptds says of them against what is true.

    oracle.py --runner R --shim S --ptds P --driver FOLDER [--first 1] [--seeds 200] [--program FILE]

ORACLE_SEEDS and ORACLE_FIRST_SEED take the place of the options. Ends with 1 on a complaint of a kind that known.py does not
list, or when one that it lists no longer comes.
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
POLICIES = ["observe", "per-thread"]
KEEPING = [("stream", "blocking"), ("stream", "nonblocking"), ("guarded", "blocking")]  # of which each program has one


class Tools:
    """Where the programs under test are."""

    def __init__(self, options):
        self.runner, self.shim = os.path.abspath(options.runner), os.path.abspath(options.shim)
        self.ptds, self.driver = os.path.abspath(options.ptds), os.path.abspath(options.driver)

    def run(self, program, policy, stream, trace):
        """What the program printed, by line."""
        environment = dict(os.environ, LD_LIBRARY_PATH=self.driver, LD_PRELOAD=self.shim, PTDS_POLICY=policy,
                           PTDS_STREAM=stream, PTDS_REPORT="off", PTDS_TRACE=trace)
        done = subprocess.run([self.runner, program], env=environment, capture_output=True, text=True, timeout=HANG_S,
                              check=False)
        if done.returncode != 0 or done.stderr:
            raise RuntimeError("%s under %s: status %d, %s" % (program, policy, done.returncode, done.stderr))
        return {int(line.split(" ", 1)[0]): line.split(" ", 1)[1] for line in done.stdout.splitlines()}


def policies_of(seed):
    return [(policy, "blocking") for policy in POLICIES] + ([KEEPING[seed // 3 % len(KEEPING)]] if seed % 3 == 0 else [])


def complaints_of(tools, folder, seeds):
    """(seed, policy, complaint) of a batch of (seed, program), and how many orders there were by verdict."""
    runs, out, counts = [], [], collections.Counter()
    for seed, program in seeds:
        path = os.path.join(folder, "%d.txt" % seed)
        with open(path, "w", encoding="ascii") as file:
            file.write(program.text())
        truth = judge.Truth(program)
        for policy, stream in policies_of(seed):
            trace = os.path.join(folder, "%d.%s.ptds" % (seed, policy))
            runs.append((seed, policy, truth, trace, tools.run(path, policy, stream, trace)))
    edges = said.edges_of_all(tools.ptds, [run[3] for run in runs], [run[2].program for run in runs],
                              os.path.join(folder, "batch%d.sqlite" % seeds[0][0]))
    for (seed, policy, truth, trace, printed), one in zip(runs, edges):
        findings = said.findings_of(tools.ptds, trace) if policy == "per-thread" else []
        found = judge.judge(truth, policy, one, findings, said.shouts_of(tools.ptds, trace), printed)
        out += [(seed, policy, complaint) for complaint in found]
        counts.update(edge.verdict for edge in one)
        counts.update(c.kind for c in judge.maybe_though_known(truth, one))
        counts["runs"] += 1
        counts["pairs lost under per-thread"] += len(truth.lost(policy))
        os.unlink(trace)
    return out, counts


def options_of():
    parser = argparse.ArgumentParser()
    for name in "runner", "shim", "ptds", "driver":
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--first", type=int, default=int(os.environ.get("ORACLE_FIRST_SEED", 1)))
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("ORACLE_SEEDS", 200)))
    parser.add_argument("--program")
    parser.add_argument("--shrink", help="a kind of complaint: print a short program that shows it")
    parser.add_argument("--all", action="store_true", help="show every complaint, not the shortest program of each kind")
    return parser.parse_args()


def batches_of(options):
    if options.program:
        with open(options.program, encoding="ascii") as file:
            return [[(0, programs.Program(file.read()))]]
    seeds = [(seed, generate.program_of(seed)) for seed in range(options.first, options.first + options.seeds)]
    return [seeds[at:at + BATCH] for at in range(0, len(seeds), BATCH)]


def show(all_complaints, programs_by_seed, everything):
    by_kind = collections.defaultdict(list)
    for seed, policy, complaint in all_complaints:
        by_kind[complaint.kind].append((len(programs_by_seed[seed].ops), seed, policy, complaint.text))
    for kind in sorted(by_kind):
        ones = sorted(by_kind[kind])
        print("%s%s  (%d)" % ("" if kind in known.KINDS else "NEW ", kind, len(ones)))
        for _, seed, policy, text in ones if everything else ones[:1]:
            print("    seed %d, %s: %s" % (seed, policy, text))
    return by_kind


def shorten(tools, batches, kind):
    """Prints the shortest of the programs, made shorter, that shows the complaint."""
    def shows(program):
        with tempfile.TemporaryDirectory() as folder:
            try:
                return any(c.kind == kind for _, _, c in complaints_of(tools, folder, [(0, program)])[0])
            except (said.Mismatch, RuntimeError, subprocess.TimeoutExpired):
                return False
    everything = sorted((program for batch in batches for _, program in batch), key=lambda program: len(program.ops))
    program = next((program for program in everything if shows(program)), None)
    if program is not None:
        print(shrink.shrink(program, shows).text(), end="")


def main():
    options = options_of()
    tools, batches = Tools(options), batches_of(options)
    if options.shrink:
        shorten(tools, batches, options.shrink)
        return 0
    complaints, counts = [], collections.Counter()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        for out, more in pool.map(lambda batch: complaints_of(tools, folder, batch), batches):
            complaints += out
            counts.update(more)
    by_kind = show(complaints, dict(one for batch in batches for one in batch), options.all)
    for name, count in sorted(counts.items()):
        print("%8d %s" % (count, name))
    new = [kind for kind in by_kind if kind not in known.KINDS]
    gone = [] if options.program or options.seeds < known.SEEDS else [kind for kind in known.KINDS if kind not in by_kind]
    for kind in gone:
        print("GONE: %s: take it out of known.py" % kind)
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""What a report says first of a whole run ("right", "may-be-wrong", "wrong"), held against what the run read.

    outcomes.py --runner R --shim S --ptds P --driver FOLDER [--tests FOLDER] [--first 1] [--seeds 200] [--shakes 4] [--all]

Each program (outcome_programs.py) runs under each policy as it is and with so many seeds of PTDS_SHAKE, which make work start late,
recorded each time; those of lines on a driver that lets small copies overtake as a GPU's does. True is what the program reads,
held against what it must read; the report has no say in it. Contradictions:

  wrong Right     a run read something else, and its report says "right" and nothing else
  unproven WRONG  its report says "wrong", no run under the policy read anything else, and by CUDA's rules nothing reads what
                  something else writes without an order: neither under the policy, nor in the program itself, nor by a small copy
Prints a table by policy, and each contradiction with its seed. Ends with 1 if there is any.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import oracle
import shrink
from outcome_programs import Lines, others, program_of

POLICIES = ("observe", "per-thread", "stream", "guarded", "strict")
SAID = ("right", "right, but", "may be wrong", "wrong", "unknown")
PROCESSES = 2

Found = collections.namedtuple("Found", "name policy kind said differs ordered")


def word_of(outcome):
    """One of SAID: "right, but" where the report names what it cannot see, and what in this run may rest on that."""
    if outcome["verdict"] == "right":
        limits = outcome["possible_conflicts"] or outcome["unawaited_copies"] or not outcome["complete"] or outcome["little"]
        return "right, but" if limits else "right"
    return {"may-be-wrong": "may be wrong", "wrong": "wrong"}.get(outcome["verdict"], "unknown")


def said_of(tools, trace):
    text = subprocess.run([tools.ptds, "report", "--format", "json", trace], capture_output=True, text=True, check=False).stdout
    return word_of(json.loads(text)["outcome"])


def found_of(tools, folder, program, policy, shakes):
    """What is said of the run as it is, and of each shaken one that reads something else."""
    runs = []
    for shake in range(shakes + 1):
        settings = {"PTDS_POLICY": policy, **({"PTDS_SHAKE": str(shake)} if shake else {})}
        trace = os.path.join(folder, "%s.%s.%d.ptds" % (program.name.replace("/", "_"), policy, shake))
        runs.append((trace, program.differs(tools, folder, settings, trace)))
    differs, ordered = any(changed for _, changed in runs), program.is_ordered(policy)
    out = [Found(program.name, policy, program.kind, said_of(tools, trace), changed if at else differs, ordered)
           for at, (trace, changed) in enumerate(runs) if at == 0 or changed]
    for trace, _ in runs:
        os.unlink(trace)
    return out


def contradiction(found):
    if found.said == "right" and found.differs:
        return "wrong Right"
    if found.said == "wrong" and not found.differs and found.ordered:
        return "unproven WRONG"
    return None


def show(all_found, everything):
    """The table: of each program and policy the first run's verdict."""
    firsts = {}
    for found in all_found:
        firsts.setdefault((found.name, found.policy), found)
    counts = collections.Counter((f.policy, f.said, f.differs) for f in firsts.values())
    print("%-12s" % "same/differ" + "".join("%14s" % word for word in SAID))
    for policy in POLICIES:
        print("%-12s" % policy + "".join("%14s" % ("%d / %d" % (counts[policy, word, False], counts[policy, word, True])) for word in SAID))
    shown = collections.Counter()
    for found in all_found:
        what = contradiction(found)
        if what is None:
            continue
        shown[what, found.policy, found.kind] += 1
        if everything or shown[what, found.policy, found.kind] <= 3:
            print("%s: %s (%s) under %s" % (what, found.name, found.kind, found.policy))
    for (what, policy, kind), count in sorted(shown.items()):
        print("%6d %s, %s, %s" % (count, what, policy, kind))
    return shown


def shorten(tools, seed, policy, shakes):
    """The shortest program that shows the same contradiction."""
    def what_of(shorter):
        with tempfile.TemporaryDirectory() as folder:
            try:
                return {contradiction(found) for found in found_of(tools, folder, Lines(seed, shorter), policy, shakes)} - {None}
            except (RuntimeError, subprocess.TimeoutExpired):
                return set()
    what = what_of(None)
    print(shrink.shrink(program_of(seed), lambda shorter: bool(what & what_of(shorter))).text(), end="")


def options_of():
    parser = argparse.ArgumentParser()
    for name in "runner", "shim", "ptds", "driver":
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--tests", help="the folder of the built tests, for the programs of tests/apps and tests/kit, too")
    parser.add_argument("--first", type=int, default=int(os.environ.get("OUTCOMES_FIRST_SEED", 1)))
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("OUTCOMES_SEEDS", 200)))
    parser.add_argument("--shakes", type=int, default=int(os.environ.get("OUTCOMES_SHAKES", 4)))
    parser.add_argument("--policy", action="append", choices=POLICIES)
    parser.add_argument("--all", action="store_true", help="show every contradiction, not three of each kind")
    parser.add_argument("--shrink", action="store_true", help="print a short program that shows what the first seed does, and stop")
    parser.add_argument("--program", type=int, help="print the program of a seed, and stop")
    return parser.parse_args()


def main():
    options = options_of()
    if options.program is not None:
        print(program_of(options.program).text(), end="")
        return 0
    tools, all_found = oracle.Tools(options), []
    if options.shrink:
        shorten(tools, options.first, options.policy[0], options.shakes)
        return 0
    all_programs = [Lines(seed) for seed in range(options.first, options.first + options.seeds)]
    all_programs += others(os.path.abspath(options.tests)) if options.tests else []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        jobs = [(program, policy) for program in all_programs for policy in options.policy or POLICIES]
        for found in pool.map(lambda job: found_of(tools, folder, *job, options.shakes), jobs):
            all_found += found
    return 1 if show(all_found, options.all) else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The waits that ptds names as the repair of a program under per-thread, put into the program.

    repair_test.py RUNNER SHIM DRIVER REPAIR_WAITS [seeds 60] [first seed 1]

Each random program is recorded under observe. REPAIR_WAITS (tests/analysis/repair_waits.cc) names the waits: after which
line to record an event, before which to wait for it. Then, by relation.py, which shares no code with it:
  - under per-thread and with all waits, all conflicts that legacy orders are in order; with the needed ones, all that are seen
    to be conflicts;
  - with one wait fewer, one of them is not.
And on the simulated driver: with the waits the program reads the right bytes under per-thread, where it may not without them.
REPAIR_SEEDS and REPAIR_FIRST_SEED stand in for the last two arguments.
"""

import collections
import os
import subprocess
import sys
import tempfile

import generate
import oracle
import said
from judge import MAYBE, NEEDED, NOT_NEEDED, Truth, seen_conflict
from programs import Program, expected
from relation import bits, close, on_per_thread, order

EVENTS = range(4, 64)  # the generator takes those below
UNSEEN = {"opaque", "race"}  # reasons that say so themselves: what an operation touches, or an earlier one did, is not seen
MOST_UNSEEN = 0.02  # of all waits
RECORDED = ["observe", "guarded", "observe", "per-thread"]  # by seed: the waits are the same, whatever the run's policy
FEWER = 1  # waits a program whose loss is tried on the simulated driver, too
Wait = collections.namedtuple("Wait", "certainty first second where reason")  # lines; where: stream, host, wait


def waits_of(tool, trace, program, threads):
    """The waits by line, and whether there may be more."""
    lines = subprocess.run([tool, trace], capture_output=True, text=True, check=True).stdout.splitlines()
    words = [line.split() for line in lines]
    calls = {int(w[1]): (threads.get(int(w[2]) & said.TID_MASK), int(w[3]), w[4]) for w in words if w[0] == "call"}
    line_of = said._line_of_calls(program, [call for call in calls.values() if call[0] is not None])
    at = {number: line_of.get(call[:2]) for number, call in calls.items()}
    waits = [Wait(w[0], at[int(w[1])], at[int(w[2])], w[3], w[4]) for w in words if w[0] in ("needed", "maybe")]
    return waits, ["partly"] in words


class Repaired:
    """A program's order under per-thread, with waits."""

    def __init__(self, program):
        self.truth, self.ops = Truth(program), program.ops
        self.direct = order(program, on_per_thread)

    def order(self, waits):
        direct = list(self.direct)
        for wait in waits:
            direct[wait.second] |= 1 << wait.first if wait.where != "wait" else 0
            for i in range(wait.second + 1, len(direct)) if wait.where != "stream" else ():
                direct[i] |= 1 << wait.first
        return close(direct)

    def pairs(self, least):
        """Pairs that legacy orders and that are seen to conflict; least MAYBE: or may, as far as anybody sees."""
        legacy, program = self.truth.legacy, self.truth.program
        out = [(a, b) for b in range(len(self.ops)) for a in bits(legacy[b])
               if seen_conflict(program, a, b) in ((NEEDED,) if least == NEEDED else (NEEDED, MAYBE))]
        if least == MAYBE:
            out += self.truth.timed()
            hosts = [i for i, op in enumerate(self.ops) if op.host or op.blocking]
            touch = [i for i, op in enumerate(self.ops) if op.stream is not None and
                     (self.is_opaque(op) or any(program.host_can_touch(access.memory) for access in op.accesses))]
            out += [(a, h) for h in hosts for a in touch if a < h and legacy[h] >> a & 1]
        return out

    @staticmethod
    def is_opaque(op):
        return op.name == "hostfn" or op.name in ("gather", "cgather", "scatter", "cscatter", "oscatter", "tcopy")

    def missing(self, pairs, waits):
        before = self.order(waits)
        return [(a, b) for a, b in pairs if not before[b] >> a & 1]


class TooMany(Exception):
    """More events at once than the runner has."""


def events_for(waits):
    """By first line: the event that is recorded there; one is used again when all its waits are over."""
    last, out, free = {}, {}, list(EVENTS)
    for wait in waits:
        last[wait.first] = max(last.get(wait.first, 0), wait.second)
    busy = []
    for first in sorted(last):
        for event, until in list(busy):
            if until < first:
                busy.remove((event, until))
                free.append(event)
        if not free:
            raise TooMany
        out[first] = free.pop(0)
        busy.append((out[first], last[first]))
    return out


def patched(program, waits):
    """The program's text with the waits in it: what a maintainer would write."""
    events, before, after = events_for(waits), collections.defaultdict(list), collections.defaultdict(list)
    for first, event in events.items():
        op = program.ops[first]
        after[first].append("%d record %s E%d" % (op.thread, op.stream, event))
    for wait in waits:
        op, event = program.ops[wait.second], events[wait.first]
        if wait.where == "stream":
            before[wait.second].append("%d wait %s E%d" % (op.thread, op.stream, event))
        else:
            (before if wait.where == "host" else after)[wait.second].append("%d esync E%d" % (op.thread, event))
    return "".join("\n".join(before[i] + [op.line] + after[i]) + "\n" for i, op in enumerate(program.ops))


class Test:
    def __init__(self, tools, waits_tool, folder):
        self.tools, self.waits_tool, self.folder = tools, waits_tool, folder
        self.counts, self.wrong = collections.Counter(), 0

    def complain(self, name, program, text, pairs):
        self.wrong += 1
        print("%s: %s%s" % (name, text, "".join("; %d [%s] before %d [%s]" % (
            a, program.ops[a].line, b, program.ops[b].line) for a, b in pairs[:1])))

    def run(self, name, text, policy):
        """What it reads, and as a list."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return self.tools.run(path, oracle.SETTINGS[policy], path + ".ptds")

    def reads_right(self, name, program, waits):
        """Whether the program with the waits reads the same bytes under per-thread as legacy order gives."""
        text = patched(program, waits)
        printed, _ = self.run(name, text, "per-thread")
        want = expected(Program(text))
        return all(printed.get(i) == words for i, words in want.items())

    def check_order(self, name, repaired, waits, partly):
        program, needed = repaired.truth.program, [wait for wait in waits if wait.certainty == "needed"]
        sure, any_ = repaired.pairs(NEEDED), repaired.pairs(MAYBE)
        racy = bool(repaired.truth.races)
        for wanted, given, what in (repaired.truth.pairs, waits, "all waits do not hold"), (sure, needed, "needed waits do not hold"):
            missing = repaired.missing(wanted, given)
            if missing and not racy and not partly:
                self.complain(name, program, what, missing)
        for wait in waits:
            rest = [other for other in (needed if wait.certainty == "needed" else waits) if other is not wait]
            if racy or repaired.missing(sure if wait.certainty == "needed" else any_, rest):
                continue
            self.counts["waits that nobody sees the use of"] += wait.reason in UNSEEN
            if wait.reason not in UNSEEN:
                self.complain(name, program, "can be left out: %s" % (wait,), [(wait.first, wait.second)])

    def check_bytes(self, name, repaired, waits):
        program = repaired.truth.program
        try:
            if not self.reads_right(name + ".all", program, waits):
                self.complain(name, program, "reads something else with all waits", [])
            broken = [w for w in waits if repaired.missing(repaired.truth.pairs, [x for x in waits if x is not w])]
            self.counts["waits without which a conflict has no order"] += len(broken)
            for wait in broken[:FEWER]:
                fewer = [other for other in waits if other is not wait]
                self.counts["programs run with one fewer"] += 1
                self.counts["of them, read something else"] += not self.reads_right(name + ".fewer", program, fewer)
        except TooMany:
            self.counts["programs with more events than there are"] += 1

    def check(self, seed):
        program = generate.program_of(seed)
        if generate.loses_records(program):
            return
        name = str(seed)
        _, threads = self.run(name, program.text(), RECORDED[seed % len(RECORDED)])
        waits, partly = waits_of(self.waits_tool, os.path.join(self.folder, name + ".ptds"), program, threads)
        if any(None in wait for wait in waits):
            self.complain(name, program, "a wait between calls that are of no line: %s" % waits, [])
            return
        repaired = Repaired(program)
        self.check_order(name, repaired, waits, partly)
        if not repaired.truth.races:
            self.check_bytes(name, repaired, waits)
        self.counts["programs"] += 1
        self.counts["programs that per-thread breaks"] += bool(repaired.missing(repaired.truth.pairs, []))
        for wait in waits:
            self.counts["waits %s, %s" % (wait.certainty, wait.where)] += 1
        self.counts["partly"] += partly


def main():
    runner, shim, driver, waits = (os.path.abspath(path) for path in sys.argv[1:5])
    seeds = int(os.environ.get("REPAIR_SEEDS", sys.argv[5] if len(sys.argv) > 5 else 60))
    first = int(os.environ.get("REPAIR_FIRST_SEED", sys.argv[6] if len(sys.argv) > 6 else 1))
    with tempfile.TemporaryDirectory() as folder:
        test = Test(oracle.Tools.__new__(oracle.Tools), waits, folder)
        test.tools.runner, test.tools.shim, test.tools.driver = runner, shim, driver
        for seed in range(first, first + seeds):
            test.check(seed)
    for name, count in sorted(test.counts.items()):
        print("%8d %s" % (count, name))
    broke = test.counts["of them, read something else"] > 0 or seeds < 200  # which ones do depends on the time that all took
    waits = sum(count for name, count in test.counts.items() if name.startswith("waits maybe") or name.startswith("waits needed"))
    if test.counts["waits that nobody sees the use of"] > MOST_UNSEEN * waits:
        print("too many waits that nobody sees the use of")
        test.wrong += 1
    return 0 if test.wrong == 0 and test.counts["programs"] > 0 and broke else 1


if __name__ == "__main__":
    sys.exit(main())

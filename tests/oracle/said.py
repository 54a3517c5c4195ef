# SPDX-License-Identifier: Apache-2.0
"""What ptds says of traces, by line of the program: reads what `ptds export --to sqlite` and `ptds report` write."""

import collections
import json
import os
import sqlite3
import subprocess

from judge import Edge, Finding, WORDS

RISKS = {"deadlock-risk", "thread-end"}

# edges: all implicit orders; rules: those about order, or what may hang, with a finding; errors: those with one that is an error; findings: only where order is lost; shouts: lines
# of the summary with `!!`; recorded: mask of the lines that the trace still has, and of those that make no call.
Said = collections.namedtuple("Said", "edges rules errors findings shouts recorded")

TID_MASK = 0xFFFFFF  # what the database keeps of a thread's number


class Mismatch(Exception):
    """The trace's calls are not the program's."""


def _calls(database, process, threads):
    """(thread, start, call) of the program's threads, and their numbers by those of the trace."""
    rows = database.execute(
        "SELECT c.thread, r.globalTid, r.start, s.value FROM PTDS_CALL c JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING(correlationId)"
        " JOIN StringIds s ON s.id = r.nameId WHERE c.process = ? ORDER BY r.start, correlationId", (process,)).fetchall()
    numbers = {thread: threads[tid & TID_MASK] for thread, tid, _, _ in rows if tid & TID_MASK in threads}
    return [(numbers[thread], start, name) for thread, _, start, name in rows if thread in numbers], numbers


def _wanted(program):
    """Per thread: (call, line), in order."""
    wanted = collections.defaultdict(list)
    for index, op in enumerate(program.ops):
        if op.call():
            count = int(op.arguments[1]) if op.name == "pad" else 1
            wanted[op.thread] += [(op.call(), index)] * count
    return wanted


def _line_of_calls(program, calls):
    """(thread, start) -> line. What a bounded trace has lost was at a thread's beginning."""
    names = {op.call() for op in program.ops}
    found, wanted, lines = collections.defaultdict(list), _wanted(program), {}
    for thread, start, name in calls:
        if name in names:
            found[thread].append((start, name))
    for thread, starts in found.items():
        tail = wanted[thread][-len(starts):]
        if [name for _, name in starts] != [name for name, _ in tail]:
            raise Mismatch("thread %d: %s, not %s" % (thread, [n for _, n in starts], [n for n, _ in tail]))
        for (start, _), (_, line) in zip(starts, tail):
            lines[thread, start] = line
    return lines


def edges_of(database, process, run):
    program = run.truth.program
    calls, numbers = _calls(database, process, run.threads)
    lines, edges = _line_of_calls(program, calls), []
    rows = database.execute("SELECT kind, verdict, from_thread, from_ns, to_thread, to_ns FROM PTDS_EDGE"
                            " WHERE process = ?", (process,))
    for kind, verdict, from_thread, from_ns, to_thread, to_ns in rows:
        source, target = lines.get((numbers.get(from_thread), from_ns)), lines.get((numbers.get(to_thread), to_ns))
        if target is not None and source is not None:
            edges.append(Edge(kind, WORDS[verdict], source, target))
        elif to_thread in numbers:
            raise Mismatch("an order that is of no line: %s" % ((kind, from_thread, from_ns, to_thread, to_ns),))
    recorded = sum(1 << line for line in set(lines.values()))
    return edges, recorded | sum(1 << i for i, op in enumerate(program.ops) if not op.call())


def findings_of(ptds, trace):
    text = subprocess.run([ptds, "report", "--format", "json", trace], capture_output=True, text=True, check=False).stdout
    report = json.loads(text)
    outcome = report.get("outcome") or {}
    return [Finding(f["rule"], f["severity"], f["verdicts"] and {WORDS[word]: n for word, n in f["verdicts"].items()})
            for f in report["findings"]] + [Finding("outcome", outcome.get("verdict"), {})]


def shouts_of(ptds, trace):
    text = subprocess.run([ptds, "report", "-s", trace], capture_output=True, text=True, check=False).stdout
    return [line for line in text.splitlines() if "!!" in line]


def of_all(ptds, runs, path):
    """(edges, recorded, rules, errors) of each run, exported together, which is much faster."""
    subprocess.run([ptds, "export", "--to", "sqlite", "-o", path] + [run.trace for run in runs], capture_output=True,
                   check=True)
    database = sqlite3.connect(path)
    process = dict(database.execute("SELECT trace, process FROM PTDS_PROCESS"))
    out = []
    for run in runs:
        rows = database.execute("SELECT rule, severity, class FROM PTDS_FINDING WHERE process = ?", (process[run.trace],)).fetchall()
        try:
            edges, recorded = edges_of(database, process[run.trace], run)
        except Mismatch as mismatch:
            raise Mismatch("%s under %s: %s" % (run.name, run.policy, mismatch)) from None
        out.append((edges, recorded, sorted({rule for rule, _, kind in rows if kind[0] == "R" or rule in RISKS}),
                    sorted({rule for rule, severity, _ in rows if severity == "error"})))
    database.close()
    os.unlink(path)
    return out

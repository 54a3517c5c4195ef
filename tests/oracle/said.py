# SPDX-License-Identifier: Apache-2.0
"""What ptds says of traces, by line of the program: reads what `ptds export --to sqlite` and `ptds report` write."""

import collections
import json
import os
import sqlite3
import subprocess

from judge import Edge, Finding, WORDS

# edges: all implicit orders; errors: rules with a finding that is an error; findings: only where order is lost; shouts: lines
# of the summary with `!!`; recorded: mask of the lines that the trace still has, and of those that make no call.
Said = collections.namedtuple("Said", "edges errors findings shouts recorded")

FIRST_THREAD = 2  # the main thread, which runs no line, is the first that calls


class Mismatch(Exception):
    """The trace's calls are not the program's."""


def _calls(database, process):
    rows = database.execute(
        "SELECT c.thread, r.start, s.value FROM PTDS_CALL c JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING(correlationId)"
        " JOIN StringIds s ON s.id = r.nameId WHERE c.process = ? ORDER BY r.start, correlationId", (process,))
    return [(thread - FIRST_THREAD, start, name) for thread, start, name in rows if thread >= FIRST_THREAD]


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


def edges_of(database, process, program):
    lines = _line_of_calls(program, _calls(database, process))
    edges = []
    rows = database.execute("SELECT kind, verdict, from_thread, from_ns, to_thread, to_ns FROM PTDS_EDGE"
                            " WHERE process = ?", (process,))
    for kind, verdict, from_thread, from_ns, to_thread, to_ns in rows:
        source = lines.get((from_thread - FIRST_THREAD, from_ns))
        target = lines.get((to_thread - FIRST_THREAD, to_ns))
        if target is not None and source is not None:
            edges.append(Edge(kind, WORDS[verdict], source, target))
        elif to_thread >= FIRST_THREAD:
            raise Mismatch("an order that is of no line: %s" % ((kind, from_thread, from_ns, to_thread, to_ns),))
    recorded = sum(1 << line for line in set(lines.values()))
    return edges, recorded | sum(1 << i for i, op in enumerate(program.ops) if not op.call())


def findings_of(ptds, trace):
    text = subprocess.run([ptds, "report", "--format", "json", trace], capture_output=True, text=True, check=False).stdout
    return [Finding(f["rule"], f["severity"], f["verdicts"] and {WORDS[word]: n for word, n in f["verdicts"].items()})
            for f in json.loads(text)["findings"]]


def shouts_of(ptds, trace):
    text = subprocess.run([ptds, "report", "-s", trace], capture_output=True, text=True, check=False).stdout
    return [line for line in text.splitlines() if "!!" in line]


def of_all(ptds, runs, path):
    """(edges, recorded, errors) of each run, exported together, which is much faster."""
    subprocess.run([ptds, "export", "--to", "sqlite", "-o", path] + [run.trace for run in runs], capture_output=True,
                   check=True)
    database = sqlite3.connect(path)
    process = dict(database.execute("SELECT trace, process FROM PTDS_PROCESS"))
    out = []
    for run in runs:
        rows = database.execute("SELECT rule FROM PTDS_FINDING WHERE process = ? AND severity = 'error'",
                                (process[run.trace],))
        edges, recorded = edges_of(database, process[run.trace], run.truth.program)
        out.append((edges, recorded, sorted({rule for rule, in rows})))
    database.close()
    os.unlink(path)
    return out

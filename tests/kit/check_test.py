# SPDX-License-Identifier: Apache-2.0
"""check.py says "ok" only for a report that says everything that was asked; each way to fall short is a case here."""
import copy
import io
import json
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stdout

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # noqa: E402

FINDING = {
    "rule": "blocking-free", "case": "a free", "count": 2, "api": "cuMemFree_v2", "cost": {"host_ns": 5000},
    "callsite": [{"object": "/somewhere/libone.so"}, {"object": None}],
    "values": {"threads": {"ids": [{"id": 1}], "more": False}, "largest_bytes": 64},
}
CHEAP = dict(FINDING, rule="sync-copy", cost={"host_ns": None})


def end(api, access):
    return {"api": api, "access": access}


ONE, TWO = {"thread": {"id": 1, "name": "one"}}, {"thread": {"id": 2, "name": "two"}}
GROUPS = [
    {"kind": "fan_in", "from": ONE, "to": ONE, "not_needed": 3, "needed": 0, "maybe_needed": 0,
     "pair": None, "reason": None},
    {"kind": "fifo", "from": ONE, "to": TWO, "not_needed": 0, "needed": 2, "maybe_needed": 1,
     "pair": {"first": end("cuMemcpyHtoDAsync_v2", "write"), "second": end("cuLaunchKernel", "read")}, "reason": "access"},
]
REPORT = {
    "rules": ["blocking-free", "sync-copy", "legacy-barrier"],
    "findings": [FINDING, CHEAP],
    "edges": {"total": 6, "groups": GROUPS, "unordered_conflicts": 1, "possible_unordered_conflicts": 0},
    "completeness": {"clean_end": True, "lost_records": 0, "lost_chunks": 0, "damages": []},
}


def run(expected, report):
    """(exit status, what it printed)"""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("case.txt", "report.json")]
        with open(paths[0], "w", encoding="utf-8") as out:
            out.write(expected)
        with open(paths[1], "w", encoding="utf-8") as out:
            out.write(report if isinstance(report, str) else json.dumps(report))
        printed = io.StringIO()
        with redirect_stdout(printed):
            status = check.main(["X1"] + paths)
        return status, printed.getvalue()


class Checker(unittest.TestCase):
    def met(self, expected, report=None):
        self.assertEqual((0, "ok X1\n"), run(expected, report or REPORT))

    def missed(self, expected, report=None, says="FAILED X1"):
        status, printed = run(expected, report or REPORT)
        self.assertEqual(1, status, printed)
        self.assertIn(says, printed)
        self.assertNotIn("ok X1", printed)

    def misunderstood(self, expected):
        status, printed = run(expected, REPORT)
        self.assertEqual(2, status, printed)
        self.assertTrue(printed.startswith("FAILED X1"), printed)

    def test_findings(self):
        self.met("finding blocking-free  # what was\npolicy observe\nenv A=b\nright guarded stream\n")
        self.met("finding blocking-free count=2 host_ns>=5000 threads=1 largest-bytes<=64 case=a_free in=libone.so\n")
        self.missed("finding legacy-barrier\n", says="no such finding")
        for condition in ("count=1", "count>=3", "host_ns>=5001", "threads=2", "largest-bytes<=63", "case=a_freeze",
                          "in=libtwo.so", "api=cuMemFree", "no-such-number=0"):
            self.missed("finding blocking-free " + condition + "\n", says="5000 ns")

    def test_an_unknown_cost_is_not_zero(self):
        self.missed("finding sync-copy host_ns<=0\n")
        self.missed("finding sync-copy host_ns>=0\n")

    def test_no_finding(self):
        self.met("finding sync-copy\nno-finding legacy-barrier\nno-finding blocking-free count>=3\n")
        self.missed("no-finding sync-copy\nfinding blocking-free\n")

    def test_a_rule_that_is_not_there_is_no_absence(self):
        for line in ("finding no-rule", "no-finding no-rule", "top no-rule"):
            self.missed("edges any total=6\n" + line + "\n", says="no such rule")

    def test_top(self):
        self.met("finding sync-copy\ntop blocking-free\n")
        self.missed("finding sync-copy\ntop sync-copy\n", says="it is blocking-free")
        self.missed("finding sync-copy\ntop sync-copy\n", dict(REPORT, findings=[CHEAP]), says="no finding has a host time")

    def test_edges(self):
        self.met("edges fan-in not-needed=3 needed=0 maybe-needed=0 total=3 thread-pairs=0\n")
        self.met("edges fifo needed>=2 thread-pairs=1 pair=write:copy,read:kernel reason=access\nedges host total=0\n")
        self.met("edges any total=6 not-needed=3 needed=2 maybe-needed=1\n")
        self.met("edges any unordered-conflicts=1 possible-unordered-conflicts=0\n")
        self.missed("edges any unordered-conflicts=0\n")
        for line in ("fan-in not-needed=2", "fan-in needed>=1", "fifo maybe-needed=0", "fifo pair=read:kernel,write:copy",
                     "fan-in pair=write:copy,read:kernel", "fifo thread-pairs=2", "fifo reason=lost", "fan-out not-needed>=1"):
            self.missed("edges " + line + "\n", says="it has not-needed")

    def test_edges_that_are_missing(self):
        without = {key: value for key, value in REPORT.items() if key != "edges"}
        self.missed("edges any total=0\n", without, says="the report has no edges")
        short = copy.deepcopy(REPORT)
        short["edges"]["total"] = 7
        self.missed("edges host total=0\n", short, says="groups show 6 edges of 7")

    def test_a_trace_that_is_not_complete(self):
        for name, value in (("clean_end", False), ("lost_records", 1), ("lost_chunks", 1), ("damages", [{"offset": 1}])):
            self.missed("finding sync-copy\n", dict(REPORT, completeness=dict(REPORT["completeness"], **{name: value})),
                        says="not complete")

    def test_what_is_no_report(self):
        self.missed("finding sync-copy\n", "{", says="no report")
        self.missed("finding sync-copy\n", {"rules": []}, says="no report")

    def test_expectations_that_make_no_sense(self):
        for text in ("", "policy observe\n", "finding\n", "edges any\n", "edges sideways total=0\n", "finding x count>=many\n",
                     "finding x count\n", "policy unheard-of\nfinding sync-copy\n", "right\nfinding sync-copy\n",
                     "env A\nfinding sync-copy\n", "findings sync-copy\n", "edges any sum=0\n", "edges fifo unordered-conflicts=1\n"):
            self.misunderstood(text)

    def test_every_difference_has_a_line(self):
        _, printed = run("finding legacy-barrier\nedges fan-in total=1\nno-finding sync-copy\n", REPORT)
        self.assertEqual(3, printed.count("FAILED X1: "))


if __name__ == "__main__":
    unittest.main()

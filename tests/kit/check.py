#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a report with what a case of the kit must say: check.py CASE EXPECTED.txt REPORT.json

Called by tests/device/section_kit.sh. Prints "ok CASE", or a line "FAILED CASE: what" for everything that differs; exit
status 0 only if nothing does, 2 for an expectation that it does not understand. What the report lacks is a failure, never
a reason to look away. Python's standard library only: it runs wherever the programs do.

The lines of an expectation, one statement each; "#" begins a comment:

  policy NAME                     recorded under this policy; observe if there is no such line   } for section_kit.sh,
  env VARIABLE=VALUE              set for every run of the program                               } which runs the
  right POLICY...                 the program's results must also be right under these           } program; only their
  wrong POLICY...                 ... and wrong under these, at least once in five runs          } form is checked here
  finding RULE [CONDITION...]     a finding of this rule meets all conditions
  no-finding RULE [CONDITION...]  none does
  top RULE                        the finding that lost most host time is this rule's
  simulated STATEMENT             asked for only where KIT_SIMULATED is set: a driver's ways that no measurement shows
  edges KIND [CONDITION...]       the implicit edges of this kind (fan-in, fan-out, fifo, host, any), all groups together

Conditions on findings: NAME=NUMBER, NAME>=NUMBER, NAME<=NUMBER for count, host_ns, how many threads,
streams, waits-for (streams), waits-for-kernels it names, and other numbers that it gives; case=WORDS, joined by "_", that its case contains; in=OBJECT for the file name of an object in
its call site; api=FUNCTION.
Conditions on edges: the same comparisons for total, not-needed, needed, maybe-needed and thread-pairs (pairs of
different threads, as far as the groups show them: each shows one of its edges); pair=ACCESS:WHAT,ACCESS:WHAT for a pair that some group shows, in the order of the
two operations: ACCESS is read, write or unknown, WHAT is kernel, copy, memset, free or a function; reason=WORD for the reason
of a verdict "maybe needed"; unordered-conflicts and possible-unordered-conflicts, of kind any, for pairs that nothing orders.
"""
import json
import os
import re
import sys

KINDS = ("fan-in", "fan-out", "fifo", "host")
VERDICTS = ("not-needed", "needed", "maybe-needed")
POLICIES = {"observe", "guarded", "per-thread", "stream", "none"}
COMPARE = {"=": lambda a, b: a == b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b}


class Misunderstood(Exception):
    """The expectation file is wrong, not the report."""


class Statement:
    """One line: a word, its subject, its conditions as (name, comparison, value)."""

    def __init__(self, text):
        self.text = text
        self.word, *rest = text.split()
        self.subject = rest[0] if rest else ""
        self.rest = rest
        self.conditions = []

    def take_conditions(self):
        for part in self.rest[1:]:
            match = re.fullmatch(r"([a-z_-]+)(>=|<=|=)(.+)", part)
            if not match:
                raise Misunderstood(f"{part!r} in {self.text!r}: NAME=VALUE, NAME>=NUMBER or NAME<=NUMBER")
            name, comparison, value = match.groups()
            if comparison != "=" and not value.isdigit():
                raise Misunderstood(f"{part!r} in {self.text!r}: not a number")
            self.conditions.append((name, comparison, int(value) if value.isdigit() else value))


def read_statements(path):
    statements = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            text = line.split("#", 1)[0].strip()
            if text:
                simulated = text.startswith("simulated ")
                if not simulated or os.environ.get("KIT_SIMULATED"):
                    statements.append(Statement(text.removeprefix("simulated ")))
    for statement in statements:
        check_form(statement)
    if not any(s.word in ("finding", "edges") for s in statements):
        raise Misunderstood("it asks nothing of the report")
    return statements


def check_form(statement):
    word, rest = statement.word, statement.rest
    if word in ("policy", "right", "wrong"):
        good = rest and set(rest) <= POLICIES and (word != "policy" or len(rest) == 1)
    elif word == "env":
        good = len(rest) == 1 and "=" in rest[0]
    elif word == "top":
        good = len(rest) == 1
    elif word in ("finding", "no-finding"):
        good = bool(rest)
        statement.take_conditions()
    elif word == "edges":
        good = len(rest) > 1 and rest[0] in KINDS + ("any",)
        statement.take_conditions()
    else:
        good = False
    if not good:
        raise Misunderstood(f"line {statement.text!r}")


# ---- findings ----


def finding_number(finding, name):
    """A number of a finding by its name; None if it has none."""
    if name == "count":
        return finding["count"]
    if name == "host_ns":
        return finding["cost"]["host_ns"]
    value = finding["values"].get(name.replace("-", "_"))
    if isinstance(value, dict):
        return len(value["ids"])
    return value


def finding_meets(finding, condition):
    name, comparison, wanted = condition
    if name == "in":
        return any(os.path.basename(frame["object"] or "") == wanted for frame in finding["callsite"])
    if name == "api":
        return finding["api"] == wanted
    if name == "case":
        return wanted.replace("_", " ") in (finding["case"] or "")
    number = finding_number(finding, name)
    return number is not None and COMPARE[comparison](number, wanted)


def matching_findings(report, statement):
    return [f for f in report["findings"]
            if f["rule"] == statement.subject and all(finding_meets(f, c) for c in statement.conditions)]


def describe_findings(report, rule):
    of_rule = [f for f in report["findings"] if f["rule"] == rule]
    if not of_rule:
        return "no such finding"
    return "there is " + "; ".join(
        f"{f['count']}x {f['api']} ({f['case']}), {f['cost']['host_ns']} ns" for f in of_rule[:4])


def need_rule(report, rule):
    return None if rule in report["rules"] else "this ptds has no such rule"


def check_finding(report, statement):
    missing = need_rule(report, statement.subject)
    if missing or matching_findings(report, statement):
        return missing
    return describe_findings(report, statement.subject)


def check_no_finding(report, statement):
    missing = need_rule(report, statement.subject)
    if missing or not matching_findings(report, statement):
        return missing
    return describe_findings(report, statement.subject)


def check_top(report, statement):
    missing = need_rule(report, statement.subject)
    if missing:
        return missing
    costed = [f for f in report["findings"] if f["cost"]["host_ns"]]
    if not costed:
        return "no finding has a host time"
    top = max(costed, key=lambda f: f["cost"]["host_ns"])["rule"]
    return None if top == statement.subject else f"it is {top}"


# ---- edges ----


def edge_groups(report, kind):
    return [g for g in report["edges"]["groups"] if kind in ("any", g["kind"].replace("_", "-"))]


def thread_pair(group):
    """The threads of a group, which shows one of its edges."""
    return group["from"]["thread"]["id"], group["to"]["thread"]["id"]


def edge_number(report, kind, name):
    groups = edge_groups(report, kind)
    if name == "thread-pairs":
        return len({pair for pair in map(thread_pair, groups) if pair[0] != pair[1]})
    counts = {v: sum(g[v.replace("-", "_")] for g in groups) for v in VERDICTS}
    counts["total"] = sum(counts.values())
    if kind == "any" and name in ("unordered-conflicts", "possible-unordered-conflicts"):
        return report["edges"][name.replace("-", "_")]
    if name not in counts:
        raise Misunderstood(f"edges have no {name}")
    return counts[name]


OPERATIONS = (("cuLaunch", "kernel"), ("cuMemcpy", "copy"), ("cuMemset", "memset"), ("cuMemFree", "free"))


def end_words(end):
    """ACCESS:WHAT of one operation of a pair."""
    what = next((word for start, word in OPERATIONS if (end["api"] or "").startswith(start)), end["api"])
    return f"{end['access']}:{what}"


def pair_words(pair):
    return f"{end_words(pair['first'])},{end_words(pair['second'])}"


def edges_meet(report, kind, condition):
    name, comparison, wanted = condition
    groups = edge_groups(report, kind)
    if name == "pair":
        return any(g["pair"] and g["needed"] + g["maybe_needed"] and pair_words(g["pair"]) == wanted for g in groups)
    if name == "reason":
        return any(g["maybe_needed"] and g["reason"] == wanted for g in groups)
    return COMPARE[comparison](edge_number(report, kind, name), wanted)


def describe_edges(report, kind):
    numbers = ", ".join(f"{v} {edge_number(report, kind, v)}" for v in VERDICTS)
    pairs = sorted({pair_words(g["pair"]) for g in edge_groups(report, kind) if g["pair"]})
    reasons = sorted({g["reason"] for g in edge_groups(report, kind) if g["maybe_needed"] and g["reason"]})
    return "; ".join([f"it has {numbers}"] + [f"pair {p}" for p in pairs] + reasons)


def check_edges(report, statement):
    if "edges" not in report:
        return "the report has no edges"
    kind = statement.subject
    if all(edges_meet(report, kind, c) for c in statement.conditions):
        return None
    return describe_edges(report, kind)


def check_totals(report):
    """Groups that were left out would make every number above too small."""
    edges = report.get("edges")
    if edges is None:
        return None
    shown = edge_number(report, "any", "total")
    return None if shown == edges["total"] else f"groups show {shown} edges of {edges['total']}"


def check_complete(report):
    complete = report["completeness"]
    if not complete["clean_end"] or complete["lost_records"] or complete["lost_chunks"] or complete["damages"]:
        return "the trace is not complete"
    return None


CHECKS = {"finding": check_finding, "no-finding": check_no_finding, "top": check_top, "edges": check_edges}


def differences(report, statements):
    """(what was asked, what there is instead), for all that differs."""
    found = [("whole", check_complete(report)), ("edges", check_totals(report))]
    found += [(s.text, CHECKS[s.word](report, s)) for s in statements if s.word in CHECKS]
    return [(asked, instead) for asked, instead in found if instead]


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__)
    case, expected, path = arguments
    try:
        statements = read_statements(expected)
        with open(path, encoding="utf-8") as text:
            report = json.load(text)
        found = differences(report, statements)
    except (Misunderstood, OSError) as problem:
        print(f"FAILED {case}: {expected}: {problem}")
        return 2
    except (ValueError, KeyError, TypeError) as problem:
        print(f"FAILED {case}: {path} is no report that this program reads: {problem!r}")
        return 1
    for asked, instead in found:
        print(f"FAILED {case}: {asked}: {instead}")
    if not found:
        print(f"ok {case}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

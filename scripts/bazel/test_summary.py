# SPDX-License-Identifier: Apache-2.0
"""Counts test cases from Bazel's build events: test_summary.py EVENTS.json BAZEL_STATUS [LIST OF SKIPS]

Called by scripts/test. A target whose test.xml names no case counts as one case; a target that did not build,
timed out or died outside its cases counts as one failure. What was skipped is named: gtest says it in its test.xml, a script
by a line of its output that begins with SKIP. With a list, one TARGET CASE a line (* for all of a target), a skip that is not on it is a failure.
"""
import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

NO_TESTS_FOUND = 4


def read_events(path):
    try:
        with open(path, encoding="utf-8") as events:
            for line in events:
                try:
                    yield json.loads(line)
                except ValueError:  # cut short: Bazel was interrupted
                    return
    except FileNotFoundError:
        return


def local_path(uri):
    return urllib.parse.unquote(urllib.parse.urlparse(uri).path)


def collect(events):
    """Returns {target: [(status, xml path, log path) of each shard and run]} and the set of tests that never ran."""
    results, broken = {}, set()
    for event in events:
        ident = event.get("id", {})
        if "testResult" in event:
            result = event["testResult"]
            files = {f["name"]: local_path(f.get("uri", "")) for f in result.get("testActionOutput", [])}
            key = ident["testResult"]
            runs = results.setdefault(key["label"], {})
            # A later attempt replaces an earlier one.
            runs[key.get("run"), key.get("shard")] = (result.get("status"), files.get("test.xml"), files.get("test.log"))
        elif "targetCompleted" in ident and not event.get("completed", {}).get("success"):
            broken.add(ident["targetCompleted"]["label"])
        elif "unconfiguredLabel" in ident or "configuredLabel" in ident:
            broken.add(ident.get("unconfiguredLabel", ident.get("configuredLabel"))["label"])
    return {label: list(runs.values()) for label, runs in results.items()}, broken - set(results)


def skip_reason(case):
    """GoogleTest's message begins with the file and the line."""
    skipped = case.find("skipped")
    text = (skipped.get("message") or skipped.text or "") if skipped is not None else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[1:] if len(lines) > 1 else lines)


def cases_of(xml_path):
    """Yields (name, outcome, message), outcome being passed, failed or skipped."""
    try:
        root = ElementTree.parse(xml_path).getroot()
    except (OSError, TypeError, ElementTree.ParseError):
        return
    for case in root.iter("testcase"):
        problem = case.find("failure")
        if problem is None:
            problem = case.find("error")
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        if problem is not None:
            yield name, "failed", (problem.get("message") or problem.text or "").strip()
        elif case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
            yield name, "skipped", skip_reason(case)
        elif case.get("status") != "notrun":
            yield name, "passed", ""


def said_skips(log_path):
    """What a script says that it left out: lines that begin with SKIP or SKIPPED, and perhaps a name before a colon."""
    try:
        with open(log_path, encoding="utf-8", errors="replace") as log:
            lines = [re.match(r"SKIP(?:PED)?\b:?\s*(?:(\S+):\s+)?(.*)", line) for line in log]
    except (OSError, TypeError):
        return
    for line in filter(None, lines):
        yield line.group(1) or "(part of it)", "skipped", line.group(2).strip()


def read_list(path):
    """The skips that are known, as (target, case); what follows a # is the reason."""
    with open(path, encoding="utf-8") as known:
        return {tuple(line.split(None, 1)) for line in (line.split(" #")[0].strip() for line in known) if line and line[0] != "#"}


def one_line(text, width=90):
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


def print_skipped(skipped):
    """By reason, every one by its name: what nobody ran, nobody checked."""
    for reason in sorted(skipped):
        names = skipped[reason]
        print("\nskipped, %d: %s" % (len(names), one_line(reason or "no reason given", 160)))
        for label in sorted({label for label, _ in names}):
            print("  %s: %s" % (label, ", ".join(name for of, name in names if of == label)))


def main():
    events, status = sys.argv[1], int(sys.argv[2])
    known = read_list(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else None
    results, broken = collect(read_events(events))
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    rows = [(label, "(did not build)", "") for label in sorted(broken)]
    skipped = {}
    for label, runs in sorted(results.items()):
        for run_status, xml_path, log_path in runs:
            good = run_status in ("PASSED", "FLAKY")
            cases = list(cases_of(xml_path))
            failures = [case for case in cases if case[1] == "failed"]
            if good and not cases:
                cases = [(label, "passed", "")]
            if not good and not failures:
                cases.append(("(whole target)", "failed", "%s, see %s" % (run_status, log_path)))
            is_script = len(cases) == 1 and cases[0][0].split(".")[-1] == label[2:].replace(":", "/")
            cases += said_skips(log_path) if is_script else []
            for name, outcome, message in cases:
                counts[outcome] += 1
                if outcome == "skipped":
                    skipped.setdefault(message, []).append((label, name))
                    if known is not None and not {(label, name), (label, "*")} & known:
                        counts["failed"] += 1
                        rows.append((label, name, "skipped, and not on the list of skips"))
                if outcome == "failed":
                    rows.append((label, name, one_line(message)))
    counts["failed"] += len(broken)
    if status not in (0, NO_TESTS_FOUND) and counts["failed"] == 0:
        rows.append(("(build)", "bazel exit status %d" % status, "see above"))
        counts["failed"] = 1
    if rows:
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        print("\nfailed:")
        for target, name, message in rows:
            print("  %-*s  %-*s  %s" % (widths[0], target, widths[1], name, message))
    print_skipped(skipped)
    if counts["skipped"]:
        print("%d skipped" % counts["skipped"])
    print("%(passed)d passed, %(failed)d failed" % counts)
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

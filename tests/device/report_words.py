# SPDX-License-Identifier: Apache-2.0
"""report_words.py REPORT: a JSON report of one process or of several in one line, for the table; then its findings, for the log."""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    processes = report.get("processes", [report["totals"]])
    moved, default = (sum(process[name] for process in processes) for name in ("remapped", "default_stream"))
    calls = {}
    for finding in report["findings"]:
        calls[finding["rule"]] = calls.get(finding["rule"], 0) + finding["count"]
    rules = ", ".join(f"{rule} {count}x" for rule, count in calls.items())
    print(f"processes: {len(processes)}, {moved} of {default} default-stream operations moved; {rules or 'no findings'}")
    for finding in report["findings"]:
        print(finding["severity"], finding["rule"], finding["api"], finding["count"], finding["title"], sep="  ")


main()

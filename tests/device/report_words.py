# SPDX-License-Identifier: Apache-2.0
"""report_words.py REPORT: a JSON report of one process or of several in one line, for the table; then its findings, for the log."""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    processes = report["processes"] if "processes" in report else [{**report["totals"], "completeness": report["completeness"]}]
    moved, default = (sum(process[name] for process in processes) for name in ("remapped", "default_stream"))
    everything = {}
    for process in processes:
        for why, count in process["completeness"]["touch_everything"].items():
            everything[why] = everything.get(why, 0) + count
    shown = [finding for finding in report["findings"] if finding["folded"] is None]
    folded = len(report["findings"]) - len(shown)
    calls = {}
    for finding in shown:
        calls[finding["rule"]] = calls.get(finding["rule"], 0) + finding["count"]
    rules = ", ".join(f"{rule} {count}x" for rule, count in calls.items())
    opaque = ", ".join(f"{count} {why}" for why, count in everything.items())
    print(f"processes: {len(processes)}, {moved} of {default} default-stream operations moved; taken to touch everything: "
          f"{opaque or 'none'}; {len(shown)} findings{': ' if rules else ''}{rules}; {folded} more in one line a cause")
    for finding in report["findings"]:
        print(finding["folded"] or "shown", finding["severity"], finding["rule"], finding["api"], finding["count"], finding["title"], sep="  ")


main()

# SPDX-License-Identifier: Apache-2.0
"""savings_words.py REPORT... CLAIM [AS_IS_MS... -- MENDED_MS...]: do JSON reports say what mending the program saves?

CLAIM as in tests/apps/mended/mended.def. Begins with `ok` (within a factor of two, or both within what runs of one program
differ by; medians of the runs and of the reports), `unknown`, or `OFF`. Without times: the rules at the claim's calls, or in a word what the default stream costs.
"""

import json
import statistics
import sys

# What counts as nothing: 1 ms, or so much of the run; or what the runs scatter by.
NOISE_MS, NOISE_SHARE = 1.0, 0.05


def rules_of(report, claim):
    """The findings at the claim's calls, and their rules."""
    findings = [finding for finding in report["findings"] if finding["api"] in claim.split(",")]
    # What is done once is so in the mended program, too.
    findings = [finding for finding in findings if finding["count"] > 2]
    return findings, ", ".join(sorted({finding["rule"] for finding in findings})) or "no finding"


def claim_of(report, claim):
    """The least and the most in ms, or None where the report says that it does not know; and from where."""
    if claim == "default":
        found = report["default_stream"]
        known = found["cost"] not in ("up-to", "unknown") or found["by_replay"]
        span = (found["least_ns"] / 1e6, found["most_ns"] / 1e6) if known else None
        return span, found["text"]
    findings, rules = rules_of(report, claim)
    costs = [finding["cost"]["host_ns"] for finding in findings]
    if costs and all(cost is None for cost in costs):
        return None, rules
    most = sum(cost or 0 for cost in costs) / 1e6
    return (most, most), rules


def span_of(reports, claim):
    """The same of several reports: the medians, or None where most do not know."""
    said = [claim_of(report, claim) for report in reports]
    spans = [span for span, _ in said if span is not None]
    if 2 * len(spans) <= len(said):
        return None, said[0][1]
    return tuple(statistics.median(ends) for ends in zip(*spans)), said[0][1]


def compared(reports, claim, as_is, mended):
    before, after = statistics.median(as_is), statistics.median(mended)
    saved = before - after
    scatter = 2 * max(statistics.median(abs(ms - statistics.median(some)) for ms in some) for some in (as_is, mended))
    noise = max(NOISE_MS, NOISE_SHARE * before, scatter)
    span, origin = span_of(reports, claim)
    words = f"{before:.1f} ms, mended {after:.1f} ms: saves {saved:.1f} ms; claimed "
    if span is None:
        return f"unknown  {words}unknown ({origin})"
    least, most = span
    held = least / 2 <= max(saved, 0) <= 2 * most or least - noise <= saved <= most + noise
    shown = f"{most:.1f} ms" if least == most else f"{least:.1f} to {most:.1f} ms"
    return f"{'ok      ' if held else 'OFF     '} {words}{shown} ({origin})"


def main():
    split = next(at for at, word in enumerate(sys.argv) if at > 1 and not word.endswith((".json", ".out")))
    reports = []
    for name in sys.argv[1:split]:
        with open(name, encoding="utf-8") as file:
            reports.append(json.load(file))
    claim, times = sys.argv[split], sys.argv[split + 1:]
    if times:
        middle = times.index("--")
        print(compared(reports, claim, [float(ms) for ms in times[:middle]], [float(ms) for ms in times[middle + 1:]]))
    else:
        print(reports[0]["default_stream"]["cost"] if claim == "default" else rules_of(reports[0], claim)[1])


main()

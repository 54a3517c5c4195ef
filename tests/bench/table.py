# SPDX-License-Identifier: Apache-2.0
"""Turns the lines that scripts/bench collects into a table and a JSON file.

    table.py RAW JSON [--brief]

RAW has lines `configuration repetition call door threads median p10 p90`. Every figure is the median over the repetitions;
a configuration's extra cost is taken within each repetition, against the bare run beside it.
"""
import collections
import json
import statistics
import sys

BARE = "bare"
BRIEF_CALLS = ("launch", "stream-query", "event-record", "ctx-get-current", "memcpy-htod-async")


def read(path):
    """{(call, door, threads): {configuration: {repetition: median ns}}}, and the configurations in their order."""
    rows = collections.OrderedDict()
    configurations = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            configuration, repetition, call, door, threads, median, _p10, _p90 = line.split()
            if configuration not in configurations:
                configurations.append(configuration)
            row = rows.setdefault((call, door, int(threads)), {})
            row.setdefault(configuration, {})[int(repetition)] = float(median)
    return rows, configurations


def compare(samples, configuration):
    """(median ns, extra ns, ratio) of one configuration, or None where it did not run beside the bare one."""
    bare, other = samples.get(BARE, {}), samples.get(configuration, {})
    both = sorted(set(bare) & set(other))
    if not both:
        return None
    extra = statistics.median(other[r] - bare[r] for r in both)
    ratio = statistics.median(other[r] / bare[r] for r in both)
    return statistics.median(other.values()), extra, ratio


def summarise(rows, configurations):
    result = []
    for (call, door, threads), samples in rows.items():
        bare = sorted(samples.get(BARE, {}).values())
        if not bare:
            continue
        entry = {"call": call, "door": door, "threads": threads, "bare_ns": statistics.median(bare),
                 "bare_spread_ns": bare[-1] - bare[0], "configurations": {}}
        for configuration in configurations:
            compared = compare(samples, configuration)
            if configuration != BARE and compared:
                entry["configurations"][configuration] = dict(zip(("ns", "extra_ns", "ratio"), compared))
        result.append(entry)
    return result


def print_table(entries, configurations):
    others = [c for c in configurations if c != BARE]
    widths = [max(14, len(c) + 1) for c in others]
    print("extra ns a call (and ratio) over bare; spread: between the bare runs")
    print(f"{'call':<18}{'door':<17}{'thr':>3}{'bare':>9}{'spread':>8}" + "".join(f"{c:>{w}}" for c, w in zip(others, widths)))
    for e in entries:
        cells = ""
        for configuration, width in zip(others, widths):
            c = e["configurations"].get(configuration)
            text = f"{c['extra_ns']:+.1f} {c['ratio']:.2f}x" if c else "-"
            cells += f"{text:>{width}}"
        print(f"{e['call']:<18}{e['door']:<17}{e['threads']:>3}{e['bare_ns']:>9.1f}{e['bare_spread_ns']:>8.1f}{cells}")


def print_brief(entries, configurations):
    """One line a call, ELF door, for scripts/gpu."""
    others = [c for c in configurations if c != BARE]
    print("  extra ns a call, ELF door: " + ", ".join(others))
    for e in entries:
        if e["door"] != "elf" or e["call"] not in BRIEF_CALLS:
            continue
        found = [e["configurations"].get(c) for c in others]
        cells = " ".join(f"{c['extra_ns']:+.0f}" if c else "-" for c in found)
        print(f"  {e['call']} x{e['threads']}: bare {e['bare_ns']:.0f} (spread {e['bare_spread_ns']:.0f}): {cells}")


def main(arguments):
    brief = "--brief" in arguments
    raw, target = [a for a in arguments if a != "--brief"]
    rows, configurations = read(raw)
    entries = summarise(rows, configurations)
    with open(target, "w", encoding="utf-8") as out:
        json.dump({"configurations": configurations, "rows": entries}, out, indent=1)
    (print_brief if brief else print_table)(entries, configurations)


main(sys.argv[1:])

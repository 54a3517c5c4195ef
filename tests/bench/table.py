# SPDX-License-Identifier: Apache-2.0
"""Turns what scripts/bench collects into a table and a JSON file.

    table.py RAW NOTES JSON MACHINE

RAW has lines `part.driver row configuration repetition value`. Every figure is the median over the repetitions; what a
configuration adds, and its ratio, are taken within each repetition, against the yardstick's run beside it. NOTES has a line
for each thing that was not measured, and why.
"""
import collections
import json
import statistics
import sys

Part = collections.namedtuple("Part", "title yardsticks cell")

DRIVERS = {"alone": "the shim alone, on a driver whose functions return at once", "gpu": "on the GPU",
           "simulated": "on the simulated driver"}


def added(figure):
    """The ratio to a driver that does nothing would say nothing."""
    if figure["driver"] == "alone":
        return f"{figure['extra']:+.1f}"
    return f"{figure['extra']:+.1f} {figure['ratio']:.2f}x"


def in_ratio(figure):
    return f"{figure['median']:.2f} {figure['ratio']:.3f}x"


def in_extra(figure):
    return f"{figure['median']:.2f} {figure['extra']:+.2f}"


def plain(figure):
    return f"{figure['median']:.1f}" if figure["median"] < 1e5 else f"{figure['median']:.0f}"


# What each part of the run shows, one row each; the first yardstick that was measured counts.
PARTS = {
    "calls": Part("ns a call, one thread: added to the bare call, ratio", ["bare"], added),
    "lanes": Part("ns a call, one thread, while another one's work has a lane too: added, ratio", ["bare"], added),
    "threads": Part("ns a call, row: call/door/threads: added, ratio", ["bare"], added),
    "together": Part("ns of a processor a call, row: call/threads, all calling at once: added, ratio", ["bare"], added),
    "cupti": Part("ns a call, beside CUPTI: added, ratio", ["bare"], added),
    "times": Part("ns a call, GPU times recorded or not, row: call/door/threads: added, ratio", ["observe"], added),
    "programs": Part("ms, row: program/threads, a training step: ratio to the yardstick", ["recompiled", "bare"], in_ratio),
    "startup": Part("ms from start to end of a process: added", ["bare"], in_extra),
    "bytes": Part("bytes of trace a call", ["trace"], plain),
    "rate": Part("a million calls a second, one thread, for 2 s", ["bare"], plain),
    "memory": Part("resident kB of a process with so many threads: added", ["bare"], in_extra),
    "growth": Part("kB that a process grows by, row: what/how often: added", ["bare"], in_extra),
}


def read(path):
    """{part: {row: {configuration: {repetition: value}}}}, all in the order of the file."""
    parts = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            part, row, configuration, repetition, value = line.split()
            parts.setdefault(part, {}).setdefault(row, {}).setdefault(configuration, {})[int(repetition)] = float(value)
    return parts


def compare(values, yardstick):
    """One configuration's figures; those in comparison are missing where the yardstick was not measured beside it."""
    figure = {"median": statistics.median(values.values()), "low": min(values.values()), "high": max(values.values()),
              "repetitions": len(values)}
    both = sorted(set(values) & set(yardstick))
    if both:
        figure["extra"] = statistics.median(values[r] - yardstick[r] for r in both)
        if all(yardstick[r] for r in both):
            figure["ratio"] = statistics.median(values[r] / yardstick[r] for r in both)
    return figure


def summarise(key, rows):
    part, _, driver = key.partition(".")
    result = {"part": part, "driver": driver, "what": PARTS[part].title, "rows": []}
    for row, samples in rows.items():
        yardstick = next((y for y in PARTS[part].yardsticks if y in samples), None)
        figures = {name: compare(values, samples.get(yardstick, {})) for name, values in samples.items()}
        result["rows"].append({"row": row, "yardstick": yardstick, "configurations": figures})
    return result


def cell_text(part, driver, entry, name):
    figure = entry["configurations"].get(name)
    if figure is None:
        return "-"
    if name == entry["yardstick"]:
        return f"{figure['median']:.1f}"
    try:
        return PARTS[part].cell({**figure, "driver": driver})
    except KeyError:
        return plain(figure)


def print_part(summary):
    part = summary["part"]
    rows = summary["rows"]
    names = list(dict.fromkeys(name for entry in rows for name in entry["configurations"]))
    cells = [[entry["row"], *(cell_text(part, summary["driver"], entry, name) for name in names)] for entry in rows]
    widths = [max(len(line[i]) for line in [["", *names], *cells]) for i in range(len(names) + 1)]
    print(f"\n{summary['part']}, {DRIVERS[summary['driver']]}: {summary['what']}")
    for line in [["", *names], *cells]:
        print(line[0].ljust(widths[0]) + "".join("  " + text.rjust(width) for text, width in zip(line[1:], widths[1:])))


def main():
    raw, notes, target, machine = sys.argv[1:]
    summaries = [summarise(key, rows) for key, rows in read(raw).items()]
    with open(notes, encoding="utf-8") as file:
        left_out = [line.strip() for line in file]
    with open(target, "w", encoding="utf-8") as out:
        json.dump({"machine": machine, "parts": summaries, "left_out": left_out}, out, indent=1)
    print(machine)
    for summary in summaries:
        print_part(summary)
    for line in left_out:
        print(f"\n{line}")


main()

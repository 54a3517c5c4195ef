# SPDX-License-Identifier: Apache-2.0
"""Holds what the shim adds to driver calls, in instructions, against tests/bench/budget.tsv.

    budget.py TABLE MEASURED            a line for each figure that is over its budget; exit status 1 if there is one
    budget.py TABLE MEASURED --write    the measured figures in the table's form, to be committed

MEASURED has lines `configuration call door instructions`; `bare` is without the shim. The table has measured figures, and
the budget is those and some room, for other compilers and small changes. Figures that the table lacks are not checked.
"""
import collections
import csv
import sys

BARE = "bare"
ROOM, ROOM_SHARE = 6, 0.15


def budget_of(figure):
    return round(figure * (1 + ROOM_SHARE)) + ROOM


def read_table(path):
    """{(call, door): {configuration: figure}}, in the table's order."""
    with open(path, encoding="utf-8") as lines:
        rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
        return {(row.pop("call"), row.pop("door")): {name: int(figure) for name, figure in row.items()} for row in rows}


def read_measured(path):
    """The same shape: instructions that are added to the bare call's. Of a figure that is there more than once the least
    counts: where the loader put things can make two addresses share a place in a cache, for a whole process."""
    counts = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            configuration, call, door, instructions = line.split()
            found = counts[call, door]
            found[configuration] = min(int(instructions), found.get(configuration, int(instructions)))
    return {key: {name: count - found[BARE] for name, count in found.items() if name != BARE}
            for key, found in counts.items() if BARE in found}


def check(table, measured):
    """A line for each figure that is over, or missing."""
    problems = []
    for (call, door), figures in table.items():
        for configuration, figure in figures.items():
            now = measured.get((call, door), {}).get(configuration)
            if now is None:
                problems.append(f"{call} by {door}, {configuration}: not measured")
            elif now > budget_of(figure):
                problems.append(f"{call} by {door}, {configuration}: {now} instructions added, "
                                f"{budget_of(figure)} allowed, {figure} when last committed")
    return problems


def write(table, measured):
    names = next(iter(table.values()))
    print("\t".join(["call", "door", *names]))
    for (call, door) in table:
        print("\t".join([call, door, *(str(measured[call, door][name]) for name in names)]))


def main(arguments):
    table, measured = read_table(arguments[0]), read_measured(arguments[1])
    if "--write" in arguments:
        write(table, measured)
        return 0
    problems = check(table, measured)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

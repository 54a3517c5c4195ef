# SPDX-License-Identifier: Apache-2.0
"""A mutation run: changes the code in small ways, one at a time, and counts which changes the tests notice.

Called by scripts/mutate. Works in a scratch copy, keeps what is known in a state file, and so goes on where it was stopped.
"""
import argparse
import collections
import glob
import hashlib
import json
import os
import re
import sys

import project as projects
import rules

NOTICED = ("noticed", "timeout")
BATCH = 400  # mutants in one build


def all_mutants(root, folders, only):
    found = []
    for folder in folders:
        for ending in ("c", "h"):
            for path in glob.glob(os.path.join(root, folder, "**", "*." + ending), recursive=True):
                name = os.path.relpath(path, root)
                if only and not re.search(only, name):
                    continue
                with open(path, encoding="utf-8") as file:
                    found += rules.mutants(name, file.read())
    return sorted(found)


def key_of(mutant, text):
    """Names a mutant, wherever its line has moved to: by the line, what it becomes, and how many like it stand before."""
    before = text[:mutant.start].count(text[text.rfind("\n", 0, mutant.start) + 1:mutant.start + len(mutant.before)])
    words = [mutant.file, mutant.rule, mutant.text, rules.changed_line(mutant, text), str(before)]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


class State:
    """What is known of each mutant, a line each: written at once, so that a run may be stopped at any moment."""

    def __init__(self, path, fresh):
        self.path, self.known = path, {}
        if fresh and os.path.exists(path):
            os.unlink(path)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("\n"):
                        entry = json.loads(line)
                        self.known[entry["key"]] = entry

    def add(self, entry):
        self.known[entry["key"]] = entry
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def directory(path):
    return "/".join(path.split("/")[:2]) if path.count("/") > 1 else path.split("/")[0]


def ranked(tests, times, path, state):
    """The likeliest to notice for their time first: who noticed mutants near by, and whose name is alike."""
    near, tried = collections.Counter(), 1
    for entry in state.known.values():
        if directory(entry["file"]) == directory(path):
            tried += 1
            near[entry["by"]] += 5 if entry["file"] == path else 1
    stem = os.path.splitext(os.path.basename(path))[0]
    side = path.split("/")[0]

    def cost(test):
        hope = 0.02 + near[test] / tried + (0.5 if stem in test else 0)
        hope += 0.1 if test.startswith(("//tests/interpose", "//tests/guard", "//tests/footprint")) == (side == "interpose") else 0
        return (times[test] + 0.3) / hope, test

    return sorted(tests, key=cost)


def unasked(project, number, passed):
    return [test for test in project.tests_of(number) if passed.get(test) != project.digests[test]]


def alone(project, tests, patience):
    """Of tests in their order: those that are asked of one mutant at a time. The others cost less asked of many at once."""
    chosen = []
    for test in tests:
        if project.seconds[test] > project.slowest or patience <= 0:
            continue
        patience -= project.seconds[test]
        chosen.append(test)
    return chosen


def try_one(project, number, mutant, passed, state, patience):
    """Returns (outcome, by). `passed` are the tests that did not notice it, as they were then; those of now are added."""
    if not project.tests_of(number):
        return "survived", "no test comes through this function"
    left = ranked(unasked(project, number, passed), project.seconds, mutant.file, state)
    if not left:
        return "survived", ""
    tests = alone(project, left, patience)
    try:
        outcome, by = project.run(number, tests)
    finally:
        project.sweep()
    if outcome == "survived":
        passed.update({test: project.digests[test] for test in tests})
        outcome = "pending" if len(tests) < len(left) else outcome
    return outcome, by


def groups(numbers, functions):
    """Parts of them that have no file in common."""
    parts = []
    for number in numbers:
        file = functions[number][:8]
        part = next((part for part in parts if file not in part), None)
        if part is None:
            part = {}
            parts.append(part)
        part[file] = number
    return [list(part.values()) for part in parts]


def culprits(project, test, numbers):
    """{number: outcome} of those that a test notices. One that passes with all of them is taken to notice none."""
    outcome = project.ask_of(test, numbers, len(numbers) == 1) if numbers else "passed"
    if outcome == "passed" or len(numbers) == 1:
        return {} if outcome == "passed" else {numbers[0]: outcome}
    half = len(numbers) // 2
    return {**culprits(project, test, numbers[:half]), **culprits(project, test, numbers[half:])}


def try_together(project, passed_of, enough):
    """What nobody noticed alone, {number: passed}, is asked of all tests that are left, many mutants at once.

    Yields (number, outcome, by)."""
    for numbers in groups(sorted(passed_of), project.functions):
        left = {number: set(unasked(project, number, passed_of[number])) for number in numbers}
        noticed = {}
        for test in sorted(set().union(*left.values()), key=lambda test: (project.seconds[test], test)):
            mine = [number for number in numbers if test in left[number] and number not in noticed]
            if enough():
                break
            found = {}
            if mine and project.ask_of(test, [number for number in numbers if number not in noticed]) != "passed":
                found = culprits(project, test, mine)
            if found and project.ask_of(test, []) != "passed":
                project.left_out[test], found = "failed unchanged as well", {}
            for number in mine:
                passed_of[number][test] = project.digests[test]
            for number, outcome in found.items():
                noticed[number] = outcome
                yield number, "timeout" if outcome == "timeout" else "noticed", test
        for number in numbers:
            if number not in noticed and not unasked(project, number, passed_of[number]):
                yield number, "survived", ""


def table(entries):
    """The lines of the table, and the survivors; what is pending may be one."""
    rows, survivors = collections.OrderedDict(), []
    for entry in sorted(entries, key=lambda entry: (entry["file"], entry["line"])):
        row = rows.setdefault(directory(entry["file"]), collections.Counter())
        outcome = "noticed" if entry["outcome"] in NOTICED else entry["outcome"]
        if outcome in ("pending", "survived"):
            survivors.append(entry)
        row[outcome] += 1
        row["timeout"] += entry["outcome"] == "timeout"
    total = collections.Counter()
    for row in rows.values():
        total.update(row)
    columns = ("noticed", "survived", "not compiled", "timeout", "pending")
    lines = ["%-24s %8s %9s %13s %8s %8s" % (("",) + columns)]
    for name, row in list(rows.items()) + [("all", total)]:
        lines.append("%-24s %8d %9d %13d %8d %8d" % ((name,) + tuple(row[column] for column in columns)))
    judged = total["noticed"] + total["survived"]
    lines.append("%d of %d noticed%s (a timeout is noticed; what does not compile does not count)" % (
        total["noticed"], judged, ", %.1f %%" % (100 * total["noticed"] / judged) if judged else ""))
    return lines, survivors


def report(entries, project):
    lines, survivors = table(entries)
    for test, why in sorted(project.left_out.items()):
        print("left out: %s, %s" % (test, why))
    for entry in survivors:
        print("%s: %s:%d: %s%s\n    %s\n -> %s" % (entry["outcome"], entry["file"], entry["line"], entry["rule"],
                                                        " (%s)" % entry["by"] if entry["by"] else "", entry["text"], entry["changed"]))
    print("\n".join(lines))
    return survivors


def drawn(options, chosen):
    """As many of each folder, in an order that a hash of names makes, so that a sample stays the same, but for what was changed."""
    chosen = sorted(chosen, key=lambda one: hashlib.sha256(("%d %s" % (options.seed, one[0])).encode()).digest())
    seen, ranks = collections.Counter(), {}
    for key, mutant in chosen:
        side = mutant.file.split("/")[0]
        ranks[key] = seen[side]
        seen[side] += 1
    return sorted(chosen, key=lambda one: ranks[one[0]])[:options.sample or None]


def choose(options, root):
    """[(number, key, mutant, text of its file)] of the sample. The number is the same in each run, so that a build serves the next."""
    mutants, texts = all_mutants(root, options.folder, options.only), {}
    for path in {mutant.file for mutant in mutants}:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            texts[path] = file.read()
    chosen = [(key_of(mutant, texts[mutant.file]), mutant) for mutant in mutants]
    return [(int(key, 16) % 0x7fffffff + 1, key, mutant, texts[mutant.file]) for key, mutant in drawn(options, chosen)]


class Trying:
    """One batch of mutants that were built at once: (number, key, mutant, text of its file)."""

    def __init__(self, options, project, state, left):
        self.options, self.project, self.state, self.began = options, project, state, project.now()
        self.left, self.tried = left, 0
        self.passed = {key: dict(state.known.get(key, {}).get("passed", {})) for _, key, _, _ in left}

    def note(self, one, outcome, by, seconds):
        number, key, mutant, text = one
        self.state.add({"key": key, "file": mutant.file, "line": mutant.line, "rule": mutant.rule, "outcome": outcome, "by": by,
                        "text": mutant.text, "changed": rules.changed_line(mutant, text), "seconds": round(seconds, 1),
                        "passed": self.passed[key] if outcome in ("survived", "pending") else {}})
        self.tried += 1
        say("%d/%d %-12s %6.1f s  %s:%d %s  %s" % (self.tried, len(self.left), outcome, seconds, mutant.file, mutant.line,
                                                   mutant.rule, by))

    def alone(self, broken, enough):
        def cost(one):  # the cheapest first: of as many as there is time for something is known
            left = [] if one[0] in broken else unasked(self.project, one[0], self.passed[one[1]])
            return sum(self.project.seconds[test] for test in left)

        for one in sorted(self.left, key=cost):
            number, key, mutant, _ = one
            if self.state.known.get(key, {}).get("outcome") == "pending":
                continue
            if enough():
                return
            start = self.project.now()
            outcome, by = ("not compiled", "") if number in broken else try_one(
                self.project, number, mutant, self.passed[key], self.state, self.options.patience)
            self.note(one, outcome, by, self.project.now() - start)

    def together(self, enough):
        of = {one[0]: one for one in self.left if self.state.known.get(one[1], {}).get("outcome") == "pending"}
        if of:
            say("%d mutants together..." % len(of))
        try:
            for number, outcome, by in try_together(self.project, {number: self.passed[one[1]] for number, one in of.items()}, enough):
                self.note(of[number], outcome, by, 0)
        finally:  # who stops it here loses no answer
            self.project.sweep()
            for one in of.values():
                if self.state.known[one[1]]["outcome"] == "pending":
                    self.note(one, "pending", "", 0)


def mutate(options, project, root):
    """The run. Returns the survivors. Survivors of earlier runs are asked of the tests that changed since."""
    state = State(os.path.join(project.scratch, "state.jsonl"), options.fresh)
    chosen, began = choose(options, root), project.now()

    def open_question(key):
        return state.known.get(key, {}).get("outcome", "pending") in ("pending", "survived")

    def enough():
        return project.now() - began > options.budget * 60

    for first in range(0, len(chosen), BATCH):
        batch = chosen[first:first + BATCH]
        left = [one for one in batch if open_question(one[1])]
        if left and not enough():
            broken = project.prepare([(number, mutant, text) for number, _, mutant, text in batch], say)
            trying = Trying(options, project, state, left)
            trying.alone(broken, enough)
            trying.together(enough)
    known = [dict(state.known[key], line=mutant.line) for _, key, mutant, _ in chosen if key in state.known]
    if len(known) < len(chosen):
        say("%d of %d were not tried: call it again, it goes on" % (len(chosen) - len(known), len(chosen)))
    return report(known, project)


def say(text):
    print(text, flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="scripts/mutate", description="Which small changes of the code do the tests notice?")
    parser.add_argument("--sample", type=int, default=200, help="how many mutants, 0: all (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default %(default)s)")
    parser.add_argument("--budget", type=float, default=60, help="minutes after which none is begun (default %(default)s)")
    parser.add_argument("--only", default="", help="files whose path this regular expression finds")
    parser.add_argument("--folder", nargs="*", default=["interpose", "analysis"])
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=30, help="seconds that a test may take (default %(default)s)")
    parser.add_argument("--patience", type=float, default=15, help="seconds of tests that are asked of a mutant alone (default %(default)s)")
    parser.add_argument("--slowest", type=float, default=8, help="tests that take longer, unmutated, are asked only of many mutants at once, "
                        "of what nobody else noticed (default %(default)s s)")
    parser.add_argument("--longest", type=float, default=600, help="seconds that a test may take, unmutated (default %(default)s)")
    parser.add_argument("--without", default=r"^//tests/(bench|apps/speed|gate)[:/]|^//scripts",
                        help="tests to leave out: what measures time (default %(default)s)")
    parser.add_argument("--scratch", help="folder for the copy and the state (default below ~/.cache/ptds-mutate)")
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    root = os.getcwd()
    scratch = options.scratch or os.path.join(os.path.expanduser("~/.cache/ptds-mutate"),
                                              hashlib.sha256(root.encode()).hexdigest()[:12])
    tree = os.path.join(scratch, "tree")
    os.makedirs(tree, exist_ok=True)
    projects.copy_tree(root, tree)
    project = projects.Project(tree, scratch, options)
    try:
        mutate(options, project, tree)
        return 0
    finally:
        project.choose(0)  # what was built is as Bazel left it


if __name__ == "__main__":
    sys.exit(main())

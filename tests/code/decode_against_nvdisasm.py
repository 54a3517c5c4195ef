# SPDX-License-Identifier: Apache-2.0
"""Compares the front end for machine code with NVIDIA's disassembler, instruction by instruction.

decode_against_nvdisasm.py DUMP_CODE FILE...: DUMP_CODE is //tests/code:dump_code, a file is a cubin (cuobjdump -xelf all, nvcc
-cubin). Needs nvdisasm, in PATH or named by NVDISASM. Compares
  name       the operation
  guard      the predicate under which it is done
  registers  exactly those that it changes, by the disassembler's live ranges: first, and how many
  sets       exactly the predicates that it changes
  reads      registers that the small form's steps read: none that the instruction does not read; all where they are moved,
             added or part of an address
  target     where jumps and calls lead
Prints each that differs, up to a number, then sums by operation and in all. Ends with 1 if any differs."""

import collections
import os
import re
import shutil
import subprocess
import sys

SHOWN = 60
CODE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*/\* 0x[0-9a-f]{16} \*/")
SECOND = re.compile(r"^\s+/\* 0x[0-9a-f]{16} \*/")
GUARD = re.compile(r"^@(!?)(U?P[0-9T]+)\s+")
RUN = re.compile(r"(U?R)(\d+):(\d+),")
FILES = {"GPR": "R", "UGPR": "UR", "PRED": "P", "UPRED": "UP"}
# What a step leaves out on purpose: what is multiplied by 0, what no address can come from.
EXACT = {"move", "sum", "join", "load", "store", "atomic"}
# Uniform registers for which it draws no column.
UNDRAWN = {f"UR{number}" for number in (*range(4), *range(63, 256))}
# The disassembler lists no single predicates for the first two; for calls it lists what a function may change.
ALL = {"R2P", "UR2UP", "CALL"}
# Operands that choose or count for nothing: another lane's number, an index into what is not looked at, what 0 is times.
CHOOSING = re.compile(r"SHFL|c\[0x[24]\]|U?IMAD.* U?RZ, ")


def disassembler():
    found = os.environ.get("NVDISASM") or shutil.which("nvdisasm")
    if not found:
        sys.exit("nvdisasm is not in PATH, and NVDISASM does not name it")
    return found


def columns(header):
    """Of the line that numbers the registers: for each file, where its numbers stand."""
    found = []
    for part in re.finditer(r"\|([^|]*)", header):
        begin = part.start() + 1
        found.append([(begin + one.start(), int(one.group())) for one in re.finditer(r"\d+", part.group(1))])
    return found


def marks(line, places, names):
    """The registers that are changed and that are read."""
    changed, read = set(), set()
    for name, numbers in zip(names, places):
        for at, number in numbers:
            mark = line[at : at + len(str(number))].strip()
            if mark in ("^", "x"):
                changed.add(f"{FILES[name]}{number}")
            if mark in ("v", "x"):
                read.add(f"{FILES[name]}{number}")
    return changed, read


def disassembled(path):
    """Section, place, text, changed, read of each instruction; where labels are."""
    command = [disassembler(), "-c", "-hex", "-plr", path]
    labels, found, section, names, places, pending, place_next = {}, [], None, [], None, None, []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace") as process:
        for line in process.stdout:
            if line.startswith("\t.section\t.text"):
                section, places = line.split("\t")[2].split(",")[0].strip('"'), None
                continue
            body, bar, tail = line.partition("// ")
            if line[0] not in " \t/\n" and ":" in body:
                place_next.append(body.strip().rstrip(":"))
                continue
            if bar and "GPR" in tail or "PRED" in tail:
                names = [one.strip() for one in tail.strip().strip("|").split("|")]
            elif bar and re.match(r"\|( +# [ 0-9]*\|)+\s*$", tail):
                places = columns(tail)
            begun = CODE.match(body)
            if begun:
                pending = begun
            elif pending and SECOND.match(body):
                at, text = int(pending.group(1), 16), pending.group(2).rstrip(" ;")
                for label in place_next:
                    labels[section, label] = (section, at)
                    labels.setdefault(label, (section, at))
                place_next, pending = [], None
                found.append((section, at, text, *(marks(tail, places, names) if places else (None, None))))
    return found, labels


def decoded(dump, path):
    """By section and place: name, guard, registers and predicates that it changes."""
    output = subprocess.run([dump, "decode", path], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in output.splitlines():
        section, at, name, guard, runs, sets = line.split("\t")
        changed = set()
        for file, first, count in RUN.findall(runs):
            changed |= {f"{file}{int(first) + one}" for one in range(int(count))}
        found[section, int(at, 16)] = (name, guard.rstrip(","), changed, set(filter(None, sets.split(","))))
    return found


def steps(dump, path):
    """By section and place: kinds of its steps, and the registers that they read; jumps."""
    output = subprocess.run([dump, "form", path], capture_output=True, text=True, check=True).stdout
    found, section, last, kernels = collections.defaultdict(list), None, -1, collections.Counter()
    for line in output.splitlines():
        if line.startswith("#kernel\t"):
            fields = line.split("\t")
            section, last = ".text." + fields[1], -1
            kernels["kernels"] += 1
            if fields[2] == "unknown":
                kernels[f"unknown: {fields[5]}"] += 1
            continue
        at, _, registers, text = line.split("\t")
        at = int(at, 16)
        if at < last:  # another section's code that it calls
            section = None
        last = at
        if section:
            found[section, at].append((text, set(filter(None, registers.split(",")))))
    return found, kernels


def base_name(text):
    return re.split(r"[.\s]", GUARD.sub("", text), maxsplit=1)[0].rstrip(";")


def guard_of(text):
    found = GUARD.match(text)
    if not found or found.group(2) in ("PT", "UPT"):
        return "!" if found and found.group(1) else ""
    return found.group(1) + found.group(2)


def kind_of(text):
    return re.sub(r"^@\S+ ", "", text).split(" ", 1)[0].split(":")[0]


def compare_reads(text, read, of_steps, differ):
    by_steps = (set().union(*(one[1] for one in of_steps)) if of_steps else set()) - UNDRAWN
    kinds = {kind_of(one[0]) for one in of_steps}
    if not by_steps <= read:
        differ("reads", text, sorted(by_steps), sorted(read))
    if kinds and kinds <= EXACT and not CHOOSING.search(text):
        described = re.search(r"desc\[UR(\d+)\]", text)
        hidden = {f"UR{int(described.group(1)) + one}" for one in range(2)} if described else set()
        missing = {one for one in read - by_steps - hidden if re.match(r"U?R", one)}
        # Before sm_90 the disassembler leaves out what describes the memory.
        if missing and not (all(one.startswith("UR") for one in missing) and re.search(r"\[R\d+\.64[+-0x]*[0-9a-f]*\]", text)):
            differ("reads not all", text, sorted(by_steps), sorted(read))


def compare(dump, path, sums, shown):
    mine, (theirs, _) = decoded(dump, path), disassembled(path)
    forms, kernels = steps(dump, path)
    sums.update(kernels)
    # It draws nothing for a register that a section changes and never reads.
    drawn = collections.defaultdict(set)
    for section, _, _, changed, read in theirs:
        drawn[section] |= (changed or set()) | (read or set())
    for section, at, text, changed, read in theirs:
        name, guard, registers, predicates = mine.get((section, at), ("?", "", set(), set()))
        where = f"{os.path.basename(path)} {section} {at:#x}"

        def differ(what, text, ours, other):
            sums["differ"] += 1
            sums[f"differ: {what} {base_name(text)}"] += 1
            if shown[0] < SHOWN:
                shown[0] += 1
                print(f"{what}: {where}: {text}: {ours} here, {other} there")

        sums["instructions"] += 1
        if name == "?":
            sums[f"not known: {base_name(text)}"] += 1
            sums["not known"] += 1
            continue
        if name != base_name(text):
            differ("name", text, name, base_name(text))
        if guard != guard_of(text):
            differ("guard", text, guard, guard_of(text))
        if changed is None:
            continue
        sums["with live ranges"] += 1
        if name not in ALL and ((registers | predicates) & drawn[section]) - UNDRAWN != changed - UNDRAWN:
            differ("changes", text, sorted(registers | predicates), sorted(changed))
        compare_reads(text, read, forms.get((section, at), []), differ)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sums, shown = collections.Counter(), [0]
    for path in sys.argv[2:]:
        compare(sys.argv[1], path, sums, shown)
        sums["files"] += 1
    for what in sorted(sums):
        print(f"{sums[what]:>9} {what}")
    sys.exit(1 if sums["differ"] else 0)


if __name__ == "__main__":
    main()

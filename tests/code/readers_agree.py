# SPDX-License-Identifier: Apache-2.0
"""Compares what the two readers say of the same kernels: machine code and PTX of one file.

readers_agree.py PTDS FILE...: PTDS is the command. A file is anything with both in it (nvcc -fatbin -gencode
arch=compute_80,code=[sm_80,compute_80]). For each kernel and each machine code of it, one of
  same           the same memory, in the same ways
  more careful   the machine code names all that PTX names, and more, or is unknown
  less           the machine code names less: the compiler left out what nobody needs
  PTX unknown    the text is unknown, the machine code is not
  differ         each names something that the other does not: looked at by a person
Prints those that differ, then the sums. Ends with 1 if any differ."""

import collections
import json
import subprocess
import sys

USES = {"value": set(), "read": {"r"}, "write": {"w"}, "read-write": {"r", "w"}}


def names(kernel):
    """What a kernel's facts name, as a set of words."""
    found = set()
    for parameter in kernel["parameters"]:
        found |= {("parameter", parameter["offset"], use) for use in USES[parameter["use"]]}
    for way in kernel["through"]:
        found |= {("through", json.dumps(way["from"], sort_keys=True), use) for use in USES[way["use"]]}
    for variable in kernel["variables"]:
        found |= {("variable", variable["name"], use) for use in USES[variable["use"]]}
    return found


def compare(machine, text):
    if machine["verdict"] == "unknown":
        return "same" if text["verdict"] == "unknown" else "more careful"
    if text["verdict"] == "unknown":
        return "PTX unknown"
    of_machine, of_text = names(machine), names(text)
    if of_machine == of_text:
        return "same"
    if of_machine >= of_text:
        return "more careful"
    return "less" if of_machine <= of_text else "differ"


def main():
    command, files = sys.argv[1], sys.argv[2:]
    sums = collections.Counter()
    for path in files:
        done = subprocess.run([command, "kernels", "--ptx", "--format", "json", path], capture_output=True, text=True)
        kernels = json.loads(done.stdout)["kernels"] if done.stdout else []
        texts = {kernel["name"]: kernel for kernel in kernels if kernel["arch"].startswith("compute_")}
        for kernel in kernels:
            text = texts.get(kernel["name"])
            if kernel["arch"].startswith("compute_") or not text:
                continue
            word = compare(kernel, text)
            sums[word] += 1
            if word in ("differ", "less", "PTX unknown"):
                print(word, path, kernel["arch"], kernel["name"])
                print("   machine code only:", sorted(names(kernel) - names(text)))
                print("   PTX only:", sorted(names(text) - names(kernel)))
    print(", ".join(f"{count} {word}" for word, count in sums.most_common()))
    return 1 if sums["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())

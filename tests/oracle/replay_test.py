# SPDX-License-Identifier: Apache-2.0
"""Recorded programs, replayed under other policies than their own, against what CUDA's rules say of the program.

    replay_test.py RUNNER SHIM DRIVER REPLAY [seeds 12]

Each program is recorded under three policies. REPLAY (tests/analysis/replay.cc) says of each trace which calls come before
which under which policy; relation.py says it of the program's lines, under the same policies, and shares no code with it. An
order that is only said is a mistake; so is one that is missing, unless a line of the program keeps its host waiting for how
long nobody has measured. As it ran, `guarded` must order all that conflicts, and may order more: where the shim waits for a
mark, its record names the moment of the wait, which is later.
"""

import collections
import os
import subprocess
import sys
import tempfile

import generate
import oracle
import said
from programs import conflict
from relation import close, on_legacy, on_own, on_per_thread, on_per_thread_all, order

PLACES = {"legacy": on_legacy, "per-thread": on_per_thread, "per-thread,remap": on_per_thread_all, "explicit": on_own}
RECORDED = {"observe": on_legacy, "per-thread": on_per_thread, "guarded": on_legacy}
Tools = collections.namedtuple("Tools", "runner shim driver ptds")


def is_unmeasured(program):
    """Copies of managed memory may keep the host waiting, or not; so may copies of what is not known to be pinned."""
    return any(program.kind(access.memory) == "managed" for op in program.ops if op.name in
               ("h2d_sync", "d2h_sync", "d2d_sync", "set_sync", "read", "aread", "h2d", "d2h", "d2d") for access in op.accesses)


def replayed(replay, trace, threads):
    """Calls as said.py has them, and by policy and call the calls before it."""
    calls, before = [], collections.defaultdict(dict)
    for line in subprocess.run([replay, trace], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if words[0] == "call":
            calls.append((threads.get(int(words[1]) & said.TID_MASK), int(words[2]), words[3]))
        else:
            before[words[0]][len(calls) - 1] = {int(word) for word in words[1:]}
    return calls, before


def by_line(program, calls, before):
    """By line: the lines before it. What `pad` does in many calls its first one stands for."""
    lines = said._line_of_calls(program, [call for call in calls if call[0] is not None])
    line_of = [lines.get((thread, start)) for thread, start, _ in calls]
    out = {}
    for call, earlier in before.items():
        if line_of[call] is not None:
            out.setdefault(line_of[call], {line_of[i] for i in earlier} - {None, line_of[call]})
    return out


def differences(program, place, said_before, guarded=False):
    """(kind, line, line) for each pair of lines that the two do not agree on."""
    true = close(order(program, place))
    for b, before in said_before.items():
        for a in (a for a in said_before if a < b):
            if a in before and not true[b] >> a & 1 and not guarded:
                yield "said", a, b
            if a not in before and true[b] >> a & 1 and (not guarded or conflict(program.ops[a], program.ops[b])):
                yield "missing", a, b


def check(tools, replay, program, folder, name):
    """How many pairs were compared; complains of those that differ."""
    path, pairs, wrong = os.path.join(folder, name), 0, 0
    with open(path, "w", encoding="ascii") as file:
        file.write(program.text())
    for recorded in RECORDED:
        trace = "%s.%s.ptds" % (path, recorded)
        _, threads = oracle.Tools.run(tools, path, oracle.SETTINGS[recorded], trace)
        calls, before = replayed(replay, trace, threads)
        for policy, place in list(PLACES.items()) + [("as-run", RECORDED[recorded])]:
            lines = by_line(program, calls, before[policy])
            pairs += len(lines) * (len(lines) - 1) // 2
            for kind, a, b in differences(program, place, lines, policy == "as-run" and recorded == "guarded"):
                if kind == "said" or not is_unmeasured(program):
                    wrong += 1
                    print("%s, recorded under %s, replayed under %s: %s: %d [%s] before %d [%s]" % (
                        name, recorded, policy, kind, a, program.ops[a].line, b, program.ops[b].line))
    return pairs, wrong


def main():
    runner, shim, driver, replay = (os.path.abspath(path) for path in sys.argv[1:5])
    tools, pairs, wrong = Tools(runner, shim, driver, None), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, 1 + int(sys.argv[5] if len(sys.argv) > 5 else 12)):
            program = generate.program_of(seed)
            if not generate.loses_records(program):
                more, bad = check(tools, replay, program, folder, str(seed))
                pairs, wrong = pairs + more, wrong + bad
    print("%d pairs of lines compared, %d differ" % (pairs, wrong))
    return 0 if pairs >= 1000 and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

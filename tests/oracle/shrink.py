# SPDX-License-Identifier: Apache-2.0
"""Makes a program that shows a complaint as short as it gets: lines are left out as long as the complaint still comes."""

import relation
from programs import Program, conflict


def is_determined(program):
    """Whether legacy orders all that conflicts, so that what the program reads is one thing."""
    before = relation.close(relation.order(program, relation.on_legacy))
    return all(before[b] >> a & 1 or not conflict(program.ops[a], program.ops[b])
               for b in range(len(program.ops)) for a in range(b))


def _without(lines, first, count, determined):
    try:
        program = Program("\n".join(lines[:first] + lines[first + count:]))
        recorded = set()
        for op in program.ops:
            if op.name == "record":
                recorded.add(op.event)
            needs = op.arguments if op.name == "elapsed" else [op.event] if op.event else []
            if any(event not in recorded for event in needs):
                return None
            if any(a.memory not in program.names.memories for a in op.accesses):
                return None
        return program if not determined or is_determined(program) else None
    except KeyError:  # memory that is not there any more
        return None


def shrink(program, shows):
    """`shows(program)`: whether it still complains."""
    lines, count = program.text().splitlines(), max(1, len(program.ops) // 2)
    determined = is_determined(program)  # where it was not, what reads something else proves nothing anyway
    while True:
        first, shorter = 0, False
        while first < len(lines):
            less = _without(lines, first, count, determined)
            if less is not None and shows(less):
                lines, shorter = less.text().splitlines(), True
            else:
                first += count
        if count == 1 and not shorter:
            return Program("\n".join(lines))
        count = max(1, count // 2)

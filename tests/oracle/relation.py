# SPDX-License-Identifier: Apache-2.0
"""Which lines of a program CUDA orders, written down from CUDA's rules alone: no trace, nothing of libptds.

  the same stream         in the order of the calls
  legacy default stream   its work comes after all earlier work of blocking streams (per-thread default streams are blocking
                          ones) of the context, and their work after all its earlier work; non-blocking streams take no part
  events                  what waits comes after what was recorded last; recording and waiting are work on their streams
  the host                a call that waits returns when what it waits for is done. Lines run one after the other, so all that
                          comes later comes after it, whatever the thread
  frees                   wait for all work of the context

An order is a list with a bit mask for each line: the lines that surely come before it.
"""


def bits(mask):
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def close(direct):
    """All lines before each, from the ones directly before. Arcs lead from earlier lines to later ones."""
    before = []
    for mask in direct:
        all_before = mask
        for i in bits(mask):
            all_before |= before[i]
        before.append(all_before)
    return before


# How default-stream work is spread, by (operation, thread) -> name of the stream that it is on in truth.
LEGACY = "legacy"


def _named(stream, thread):
    return ("P", thread) if stream == "P" else stream


def on_legacy(stream, thread):
    """As the program is written, and under every policy that keeps legacy order."""
    return LEGACY if stream in ("L", "X") else _named(stream, thread)


def on_per_thread(stream, thread):
    """As compiled with --default-stream per-thread: 0 is the thread's 0x2; who writes 0x1 gets the legacy stream."""
    return LEGACY if stream == "X" else ("P", thread) if stream == "L" else _named(stream, thread)


def on_per_thread_all(stream, thread):
    """The same, where 0x1 is taken for 0."""
    return on_per_thread("L" if stream == "X" else stream, thread)


def on_own(stream, thread):
    """No implicit order at all: each thread's default-stream work is on a stream that nobody waits for unasked."""
    return ("L", thread) if stream in ("L", "X") else _named(stream, thread)


def on_own_two(stream, thread):
    """The same where a policy moves 0 and leaves 0x1: each is a stream of its own."""
    return ("X", thread) if stream == "X" else on_own(stream, thread)


def is_blocking(stream):
    return stream == LEGACY or stream[0] in ("B", "P")


class Relation:
    """The order of a program's lines, grown line by line; `place` is one of the three above. Without implicit order what the
    host has waited for is done all the same, whatever put it behind other work."""

    def __init__(self, place, frees_wait=True, implicit=True):
        self.place, self.frees_wait, self.implicit = place, frees_wait, implicit
        self.direct, self.on, self.recorded = [], {}, {}
        self.host = 0  # lines that everything from here on comes after
        self.whole, self.before = None if implicit else Relation(place, frees_wait), []  # before: of `whole`, all lines

    def _wait(self, stream):
        """What a wait of the host for a stream waits for."""
        return self._after(LEGACY) if stream == LEGACY else self.on.get(stream, 0)

    def _after(self, stream):
        mask = self.on.get(stream, 0)
        if not self.implicit:
            return mask
        if stream == LEGACY:
            for other, lines in self.on.items():
                mask |= lines if is_blocking(other) else 0
        elif is_blocking(stream):
            mask |= self.on.get(LEGACY, 0)
        return mask

    def _everything(self):
        mask = 0
        for lines in self.on.values():
            mask |= lines
        return mask

    def mask(self, op):
        """The lines directly before op, were it the next one."""
        if op.stream is not None:
            mask = self.host | self._after(self.place(op.stream, op.thread))
            return mask | self.recorded.get(op.event, 0) if op.name == "wait" else mask
        if op.name == "ssync":
            return self.host | self._wait(self.place(op.arguments[0], op.thread))
        if op.name == "esync":
            return self.host | self.recorded.get(op.event, 0)
        if op.name == "csync" or (op.name == "free" and self.frees_wait):
            return self.host | self._everything()
        return self.host

    def _is_done(self, op):
        """Where op makes the host wait: all lines that are done by then in truth."""
        mask = self.whole.mask(op)
        for i in bits(mask):
            mask |= self.before[i]
        self.whole.add(op)
        self.before.append(mask)
        return mask if op.host or op.blocking else 0

    def add(self, op):
        bit = 1 << len(self.direct)
        self.direct.append(self.mask(op) | (0 if self.implicit else self._is_done(op)))
        if op.stream is not None:
            stream = self.place(op.stream, op.thread)
            self.on[stream] = self.on.get(stream, 0) | bit
        if op.name == "record":
            self.recorded[op.event] = bit
        if op.host or op.blocking:
            self.host |= bit


def order(program, place, frees_wait=True, implicit=True):
    relation = Relation(place, frees_wait, implicit)
    for op in program.ops:
        relation.add(op)
    return relation.direct


def default_stream_of(policy):
    """Where a policy puts default-stream work, as far as order goes."""
    return {"per-thread": on_per_thread, "per-thread,remap": on_per_thread_all}.get(policy, on_legacy)

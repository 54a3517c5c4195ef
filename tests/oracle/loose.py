# SPDX-License-Identifier: Apache-2.0
"""Random programs whose bytes no order determines, or not for the reason that their calls show: what a report may say of them
is harder than of those of generate.py.

  races    conflicting lines without an order, wherever they come
  luck     as races, but few, and each behind a wait that mostly covers it
  unread   kernels and memsets write memory that nothing reads, on streams that nothing orders
  alike    whatever is written is the same value
  polled   the host looks at memory that a kernel writes, and goes on when it sees the value

A seed's program is always the same.
"""

from generate import WORDS, Generator
from programs import Op, Program
from relation import Relation, on_legacy

KINDS = ("races", "luck", "unread", "alike", "polled")
ANYWAY = {"races": 0.5, "luck": 0.1, "unread": 0, "alike": 0.6, "polled": 0}
VALUE = 7
NOT_ALIKE = ("inc", "cinc", "vinc", "add", "deep", "gather", "cgather", "scatter", "cscatter", "kcopy", "ccopy", "pcopy", "vget", "tcopy")


class Loose(Generator):
    """One program as it grows."""

    def __init__(self, seed):
        super().__init__(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.anyway, self.loses, self.wrong = ANYWAY[self.kind], False, False
        self.threads, self.lines = min(self.threads, 4), min(self.lines, 24)
        if self.kind == "alike":
            for name in NOT_ALIKE:
                self.weights.pop(name, None)
            self.weights["fill"] = 3
        self.weights.pop("clock", None)

    def fresh(self):
        return VALUE if self.kind == "alike" else super().fresh()

    def force(self, line):
        """Adds a line whatever lacks order."""
        assert self._try(line, anyway=True) is None

    def step(self):
        line = self.draw() if self.random.random() < self.anyway else None
        if line is None:
            super().step()
        elif line.split()[1] not in ("hread", "hwrite", "aread"):  # of which no trace can know
            if self.kind == "luck" and self.random.random() < 0.7:
                self.put("%d ssync %s" % (self.thread(), self.stream()))
            self.force(line)
        if self.kind == "unread":
            self.write_unread()
        if self.kind == "polled" and self.random.random() < 0.4:
            self.poll()

    def write_unread(self):
        how = self.random.choice(("fill", "set", "cfill"))
        self.force("%d %s %s U0%s %d" % (self.thread(), how, self.stream(), self.part(), self.fresh()))

    def poll(self):
        """A kernel writes, the host sees it, and somebody reads on another stream, which nothing orders but the host."""
        value, stream = self.fresh(), self.stream()
        other = self.random.choice([name for name in "LBN" if name[0] != stream[0]])
        other += "" if other == "L" else "0"
        target = self.memory(("device",))
        if target is None:
            return
        if self.random.random() < 0.6:
            self.force("%d spin %s 300" % (self.thread(), stream))
        self.force("%d cfill %s W0+0:%d %d" % (self.thread(), stream, WORDS, value))
        self.force("%d hpoll W0+0:%d %d" % (self.thread(), WORDS, value))
        if self.random.random() < 0.5:
            self.force("%d ccopy %s %s+0:%d W0+0:%d" % (self.thread(), other, target, WORDS, WORDS))
            self.force("%d csync" % self.thread())

    def memories(self):
        super().memories()
        if self.kind == "unread":
            self.put("0 alloc U0 device %d" % WORDS)
        if self.kind == "polled":
            self.put("0 alloc W0 mapped %d" % WORDS)
            self.put("0 hwrite W0+0:%d %d" % (WORDS, self.fresh()))
        self.put("0 csync")


def program_of(seed):
    return Loose(seed).make()

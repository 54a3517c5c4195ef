# SPDX-License-Identifier: Apache-2.0
"""Random programs whose every byte legacy order determines: no two lines that conflict are left without order in it, but for a
few programs that are wrong even so.

Where order lacks, something that makes it is put before (an event, an empty kernel on the default stream, a wait) or the
line is left out. A seed's program is always the same.
"""

import random

from programs import KERNELS, Op, Program, conflict
from relation import Relation, bits, on_legacy

PARTS, PART_WORDS = 4, 32
WORDS = PARTS * PART_WORDS
SPINS = (0, 0, 100, 200, 400)
TRIES = 8

# What a program may have: weights of the operations.
COPIES = {"set": 4, "set_sync": 1, "d2d": 5, "d2d_sync": 1, "h2d": 3, "d2h": 3, "read": 1}
KERNEL = {"fill": 2, "cfill": 2, "kcopy": 2, "ccopy": 3, "pcopy": 3, "inc": 2, "cinc": 2, "add": 1, "deep": 1}
HOST = {"hread": 4, "hwrite": 2, "h2d": 3, "d2h": 5, "aread": 1, "h2d_sync": 1, "d2h_sync": 1}
VARIABLES = {"vset": 2, "vinc": 2, "vget": 3}
TABLES = {"gather": 2, "cgather": 2, "scatter": 1, "cscatter": 2}
TEXTURES = {"tcopy": 4}
FUNCTIONS = {"hostfn": 2}
POOL = {"pool": 4}
RENEW = {"renew": 3}
CLOCK = {"clock": 2}
ORDER = {"record": 3, "wait": 3, "ssync": 2, "esync": 1, "empty": 1}
FLAVOURS = [
    [COPIES, ORDER],
    [COPIES, KERNEL, ORDER],
    [COPIES, HOST, ORDER],
    [KERNEL, HOST, ORDER],
    [KERNEL, VARIABLES, ORDER],
    [COPIES, KERNEL, POOL, RENEW, ORDER],
    [COPIES, KERNEL, HOST, VARIABLES, POOL, RENEW, ORDER],
    [COPIES, KERNEL, TABLES, TEXTURES, ORDER],
    [COPIES, KERNEL, HOST, FUNCTIONS, ORDER],
    [COPIES, KERNEL, CLOCK, ORDER],
    [COPIES, KERNEL, HOST, VARIABLES, TABLES, TEXTURES, FUNCTIONS, POOL, RENEW, CLOCK, ORDER],
]
STREAM_SETS = ["L", "LLB", "LLBB", "LLXB", "LLBN", "LP", "LLPB", "LLBBN", "LLXPBBNN"]
MANY_STREAMS = "LLLLXPBBBBBBBNNNNN"  # and with them many threads
LOST_CALLS = 30000  # so many more, and a trace of the least size has lost what was before


class Generator:
    """One program as it grows."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.weights = {}
        for part in FLAVOURS[seed % len(FLAVOURS)]:
            for name, weight in part.items():
                self.weights[name] = self.weights.get(name, 0) + weight
        self.threads = self.random.choice((1, 1, 2, 2, 3, 4))
        self.streams = self.random.choice(STREAM_SETS[1:] if self.threads == 1 else STREAM_SETS)
        self.lines = self.random.randint(6, 30)
        if seed % 25 == 7:
            self.threads, self.streams, self.lines = 12, MANY_STREAMS, 100
        self.loses, self.wrong = seed % 25 == 3, seed % 10 == 6
        self.program, self.relation = Program(), Relation(on_legacy)
        self.before, self.value, self.made, self.recorded = [], 1, 0, set()
        self.live, self.fixed, self.clocks = [], [], 0

    def _try(self, line, anyway=False):
        """Adds the line if all that it conflicts with comes before it, or anyway; else the line that does not."""
        op = Op(line, self.program.names)
        mask = self.relation.mask(op)
        before = mask
        for i in bits(mask):
            before |= self.before[i]
        for i, other in enumerate(self.program.ops):
            if not anyway and not before >> i & 1 and conflict(other, op):
                return i
        self.program.ops.append(op)
        self.relation.add(op)
        self.before.append(before)
        return None

    def put(self, line):
        missing = self._try(line)
        assert missing is None, line

    def thread(self):
        return self.random.randrange(self.threads)

    def stream(self):
        kind = self.random.choice(self.streams)
        if kind in "BN":
            return kind + str(self.random.randrange(self.streams.count(kind)))
        return kind

    def part(self, words=None):
        """Where in a memory: the whole, a half, a quarter, now and then a few words."""
        if words is None:
            words = self.random.choice((WORDS, WORDS // 2, PART_WORDS, PART_WORDS, PART_WORDS, 8))
        return "+%d:%d" % (self.random.randrange(WORDS // words) * words if words >= PART_WORDS else
                           self.random.randrange(PARTS) * PART_WORDS, words)

    def memory(self, kinds):
        names = [n for n in self.live if self.program.kind(n) in kinds]
        return self.random.choice(names) if names else None

    def fresh(self):
        self.value += 1
        return self.value

    def _where(self, name):
        """The kinds of the memories of an operation."""
        device, pinned = ("device", "pool", "chunks"), ("pinned", "mapped", "registered")
        host = pinned + ("managed",)
        # Whether a synchronous copy of managed memory keeps the host waiting was not measured.
        fixed = {"h2d": (device, host), "h2d_sync": (device, pinned), "d2h": (host, device), "d2h_sync": (pinned, device),
                 "read": (device,), "aread": (device,), "hread": (host,), "hwrite": (host,), "hostfn": (host,)}.get(name)
        count = {"kcopy": 2, "ccopy": 2, "pcopy": 2, "d2d": 2, "d2d_sync": 2, "add": 3}.get(name, 1)
        shared = ("mapped", "managed") if name in KERNELS and self.random.random() < 0.25 else ()
        return fixed or (device + shared,) * count

    def _operands(self, name):
        """Memories and parts of an operation, all as long; no part twice."""
        names = [self.memory(kinds) for kinds in self._where(name)]
        if None in names:
            return None
        first = self.part()
        out, words = [names[0] + first], int(first.split(":")[1])
        for other in names[1:]:
            part = self.part(words)
            if other + part in out and words < WORDS:
                part = "+%d:%d" % ((int(part[1:].split(":")[0]) + PART_WORDS) % WORDS // words * words, words)
            if other + part in out:
                return None
            out.append(other + part)
        return out

    def draw(self):
        """A line that does something to memory, or orders."""
        name = self.random.choices(list(self.weights), list(self.weights.values()))[0]
        thread = self.thread()
        if name in ("record", "wait"):
            event = "E%d" % self.random.randrange(4)
            if name == "wait" and event not in self.recorded:
                return None
            self.recorded.add(event)
            return "%d %s %s %s" % (thread, name, self.stream(), event)
        if name == "esync":
            return "%d esync %s" % (thread, self.random.choice(sorted(self.recorded))) if self.recorded else None
        if name in ("ssync", "empty"):
            return "%d %s %s" % (thread, name, self.stream())
        if name == "vset":
            return "%d vset %s V%d %d" % (thread, self.stream(), self.random.randrange(2), self.fresh())
        if name == "vinc":
            return "%d vinc %s V%d %d" % (thread, self.stream(), self.random.randrange(2), self.random.choice((8, 256)))
        if name in ("scatter", "cscatter"):
            return "%d %s %s Q0 %d %d %d" % (thread, name, self.stream(), self.random.choice((1, 2)),
                                             self.random.choice((WORDS, PART_WORDS)), self.fresh())
        operands = self._operands("fill" if name in ("vget", "gather", "cgather", "tcopy") else name)
        if operands is None:
            return None
        if name == "vget":
            operands.insert(0, "V%d" % self.random.randrange(2))
        if name in ("gather", "cgather"):
            operands += ["Q0", str(self.random.choice((1, 2)))]
        if name == "tcopy":
            operands.append("X0")
        if name in ("fill", "cfill", "set", "set_sync", "hwrite", "hostfn"):
            operands.append(str(self.fresh()))
        named = [] if name in ("set_sync", "d2d_sync", "h2d_sync", "d2h_sync", "read", "hread", "hwrite") else [self.stream()]
        return " ".join([str(thread), name] + named + operands)

    def clock(self):
        """Two events with timing around what comes, whose time is read at the end."""
        if self.clocks < 8:
            self.put("%d record %s T%d" % (self.thread(), self.stream(), self.clocks))
            self.clocks += 1

    def renew(self):
        """An allocation is freed, and another made, which mostly lies where it lay."""
        name = self.memory(("device",))
        if name and name not in self.fixed and self.random.random() < 0.7 and self._try("%d free %s" % (self.thread(), name)) is None:
            self.live.remove(name)
            self.alloc("device")

    def pool(self):
        name = self.memory(("pool",))
        if name and self.random.random() < 0.6:
            if self._try("%d pfree %s %s" % (self.thread(), self.stream(), name)) is None:
                self.live.remove(name)
            return
        name = "A%d" % self.made
        self.made += 1
        stream, thread = self.stream(), self.thread()
        self.put("%d palloc %s %s %d" % (thread, stream, name, WORDS))
        self.put("%d fill %s %s+0:%d %d" % (thread, stream, name, WORDS, self.fresh()))
        self.live.append(name)

    def alloc(self, kind):
        name = {"device": "D", "pinned": "H", "mapped": "M", "managed": "G", "chunks": "C", "registered": "R"}[kind]
        name += str(self.made)
        self.made += 1
        self.put("0 alloc %s %s %d" % (name, kind, WORDS))
        if kind in ("device", "chunks"):
            self.put("0 set_sync %s+0:%d %d" % (name, WORDS, self.fresh()))
        else:
            self.put("0 hwrite %s+0:%d %d" % (name, WORDS, self.fresh()))
        self.live.append(name)

    def order(self, missing, line):
        """Puts something that may bring the line after the one that it lacks."""
        other, op = self.program.ops[missing], Op(line, self.program.names)
        how = self.random.randrange(5)
        if how == 0 and other.stream and op.stream and (other.stream != "P" or other.thread == op.thread):
            event = "E%d" % self.random.randrange(4)
            self.recorded.add(event)
            self.put("%d record %s %s" % (op.thread, other.stream, event))
            self.put("%d wait %s %s" % (op.thread, op.stream, event))
        elif how == 1:
            self.put("%d empty L" % op.thread)
        elif how == 2 or other.stream == "P":
            self.put("%d ssync L" % op.thread)
        elif how == 3 and other.stream:
            self.put("%d ssync %s" % (op.thread, other.stream))

    def step(self):
        line = None
        for _ in range(TRIES):
            line = line or self.draw()
            if line is None:
                continue
            missing = self._try(line, self.wrong and self.random.random() < 0.2)
            if missing is None:
                return
            if self.random.random() < 0.5:
                self.order(missing, line)
            else:
                line = None

    def spin(self):
        us = self.random.choice(SPINS)
        if us:
            self.put("%d spin %s %d" % (self.thread(), self.stream(), us))

    def memories(self):
        for kind in ["device"] * self.random.choice((1, 2, 3)) + ["pinned"]:
            self.alloc(kind)
        for kind in "mapped", "managed", "chunks", "registered":
            if self.random.random() < 0.2:
                self.alloc(kind)
        for variable in "V0", "V1":
            if "vset" in self.weights:
                self.put("0 vset L %s %d" % (variable, self.fresh()))
        if "gather" in self.weights:
            self.alloc("device")
            self.fixed = [self.memory(("device",)), self.memory(("device", "chunks"))]
            self.put("0 alloc Q0 device 8")
            self.put("0 table2 Q0 %s %s" % (self.fixed[0], self.fixed[1]))
            self.put("0 texture X0 %s" % self.fixed[0])
            self.put("0 csync")
        elif self.random.random() < 0.7:
            self.put("0 csync")
        if self.loses:
            self.put("0 pad N7 %d" % LOST_CALLS)

    def make(self):
        self.memories()
        end = len(self.program.ops) + self.lines
        big = {name: getattr(self, name) for name in ("pool", "renew", "clock") if self.weights.pop(name, 0)}
        while len(self.program.ops) < end:
            what = self.random.choice(list(big)) if big and self.random.random() < 0.15 else None
            if what:
                big[what]()
            else:
                if self.random.random() < 0.4:
                    self.spin()
                self.step()
        self.put("0 csync")
        for i in range(1, self.clocks):
            self.put("0 elapsed T%d T%d" % (i - 1, i))
        for name in sorted(self.live):
            self.put("0 %s %s+0:%d" % ("hread" if self.program.host_can_touch(name) else "read", name, WORDS))
        return self.program


def program_of(seed):
    return Generator(seed).make()


def loses_records(program):
    """Whether the program is one for a trace of the least size."""
    return any(op.name == "pad" for op in program.ops)

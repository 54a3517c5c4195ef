# SPDX-License-Identifier: Apache-2.0
"""The oracle's programs: their language, what each operation touches, and the bytes that legacy order gives.

A program is a list of lines `thread operation arguments`; oracle_runner makes a driver call of each. Streams: L is 0, X is
0x1, P is the thread's 0x2, B0... are blocking and N0... non-blocking ones. `D0+64:32` are 32 words from word 64 on of memory D0.
Nothing here knows of traces or of libptds.
"""

import collections

Access = collections.namedtuple("Access", "memory first end writes")

# The kind of each operation: on a stream ("s" first argument), on the default stream without naming it ("l"), or the host's.
# Then what its arguments are: w written, r read, m a memory that comes or goes, v a variable, e event, - others.
SHAPES = {
    "fill": "sw-", "cfill": "sw-", "kcopy": "swr", "ccopy": "swr", "inc": "sw", "cinc": "sw", "add": "swrr",
    "spin": "s-", "empty": "s", "pad": "s-", "vset": "sv-", "vinc": "sv-", "vget": "svw",
    "set": "sw-", "set_sync": "lw-", "d2d": "swr", "d2d_sync": "lwr", "h2d": "swr", "h2d_sync": "lwr",
    "d2h": "swr", "d2h_sync": "lwr", "read": "lr", "aread": "sr",
    "hread": "hr", "hwrite": "hw-",
    "record": "se", "wait": "se", "esync": "he", "ssync": "h-", "csync": "h",
    "alloc": "hm--", "free": "hm", "palloc": "sm-", "pfree": "sm",
}
KERNELS = {"fill", "cfill", "kcopy", "ccopy", "inc", "cinc", "add", "spin", "empty", "pad", "vset", "vinc", "vget"}
# The host goes on only when they are done.
BLOCKING = {"h2d_sync", "d2h_sync", "read", "aread"}
READS = {"read", "aread", "hread"}

# The driver call of each operation, as the driver exports it.
CALLS = dict.fromkeys(KERNELS, "cuLaunchKernel")
CALLS.update({
    "set": "cuMemsetD32Async", "set_sync": "cuMemsetD32_v2", "d2d": "cuMemcpyDtoDAsync_v2", "d2d_sync": "cuMemcpyDtoD_v2",
    "h2d": "cuMemcpyHtoDAsync_v2", "h2d_sync": "cuMemcpyHtoD_v2", "d2h": "cuMemcpyDtoHAsync_v2",
    "d2h_sync": "cuMemcpyDtoH_v2", "read": "cuMemcpyDtoH_v2", "aread": "cuMemcpyDtoHAsync_v2",
    "record": "cuEventRecord", "wait": "cuStreamWaitEvent", "esync": "cuEventSynchronize",
    "ssync": "cuStreamSynchronize", "csync": "cuCtxSynchronize", "palloc": "cuMemAllocAsync", "pfree": "cuMemFreeAsync",
})
VARIABLE_WORDS = 256


class Op:
    """One line."""

    def __init__(self, line, memories):
        words = line.split()
        self.line, self.thread, self.name, self.arguments = line, int(words[0]), words[1], words[2:]
        shape = SHAPES[self.name]
        self.stream = self.arguments[0] if shape[0] == "s" else "L" if shape[0] == "l" else None
        self.host = shape[0] == "h"
        self.kernel = self.name in KERNELS
        self.blocking = self.name in BLOCKING
        self.event = self.arguments[-1] if "e" in shape else None
        self.memory = None  # that comes or goes
        operands = self.arguments if shape[0] == "s" else [None] + self.arguments
        self.accesses = []
        for how, text in zip(shape[1:], operands[1:]):
            if how in "wr":
                name, part = text.split("+")
                first, count = (int(x) for x in part.split(":"))
                self.accesses.append(Access(name, first, first + count, how == "w"))
            elif how == "v":
                last = int(self.arguments[2]) if self.name == "vinc" else VARIABLE_WORDS
                if self.name == "vget":
                    last = int(self.arguments[2].split(":")[1])
                self.accesses.append(Access(text, 0, last, self.name != "vget"))
            elif how == "m":
                self.memory = text
        if self.name == "alloc":
            memories[self.memory] = (self.arguments[1], int(self.arguments[2]))
        elif self.name == "palloc":
            memories[self.memory] = ("pool", int(self.arguments[2]))
        if self.name in ("free", "palloc", "pfree"):
            self.accesses.append(Access(self.memory, 0, memories[self.memory][1], True))
        if self.name == "inc" or self.name == "cinc" or self.name == "vinc":
            self.accesses += [access._replace(writes=False) for access in self.accesses]

    def call(self):
        """The name of its driver call, or None."""
        if self.name == "alloc":
            return {"device": "cuMemAlloc_v2", "managed": "cuMemAllocManaged", "variable": None}.get(
                self.arguments[1], "cuMemHostAlloc")
        if self.name == "free":
            return "cuMemFreeHost" if self.memory[0] in "HM" else "cuMemFree_v2"
        return CALLS.get(self.name)


class Program:
    """Lines in the order in which they run; `memories`: kind and words of each."""

    def __init__(self, text=""):
        self.ops, self.memories = [], {"V%d" % i: ("variable", VARIABLE_WORDS) for i in range(2)}
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                self.add(line)

    def add(self, line):
        self.ops.append(Op(line, self.memories))

    def text(self):
        return "".join(op.line + "\n" for op in self.ops)

    def host_can_touch(self, memory):
        return self.memories[memory][0] in ("pinned", "mapped", "managed")


def overlap(one, two):
    return one.memory == two.memory and one.first < two.end and two.first < one.end


def conflict(one, two):
    """The first pair of accesses of two operations that meet, one of which writes."""
    for a in one.accesses:
        for b in two.accesses:
            if (a.writes or b.writes) and overlap(a, b):
                return a, b
    return None


# ---- the bytes, one operation after the other ----


def _sources(op, memory):
    """What is written to the first access of op."""
    to, count = op.accesses[0], op.accesses[0].end - op.accesses[0].first
    name = op.name
    if name in ("fill", "cfill", "set", "set_sync", "hwrite", "vset"):
        return [int(op.arguments[-1])] * count
    if name in ("inc", "cinc", "vinc"):
        return [(word + 1) & 0xFFFFFFFF for word in memory[to.memory][to.first:to.end]]
    if name == "vget":
        return memory[to.memory][:count]
    parts = [memory[a.memory][a.first:a.end] for a in op.accesses[1:]]
    return parts[0] if len(parts) == 1 else [(a + b) & 0xFFFFFFFF for a, b in zip(*parts)]


def runs(words):
    """Words as oracle_runner prints them."""
    out, at = [], 0
    while at < len(words):
        end = at
        while end < len(words) and words[end] == words[at]:
            end += 1
        out.append("%d*%d" % (words[at], end - at))
        at = end
    return " ".join(out)


def expected(program):
    """What each line that reads prints, where everything happens in the order of the lines."""
    memory = {name: [0] * words for name, (_, words) in program.memories.items()}
    out = {}
    for index, op in enumerate(program.ops):
        if op.name in READS:
            a = op.accesses[0]
            out[index] = runs(memory[a.memory][a.first:a.end])
        elif op.name == "vget":
            to = op.accesses[1]
            memory[to.memory][to.first:to.end] = _sources(op, memory)[:to.end - to.first]
        elif op.accesses and op.memory is None:
            to = op.accesses[0]
            memory[to.memory][to.first:to.end] = _sources(op, memory)
    return out

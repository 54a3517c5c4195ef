# SPDX-License-Identifier: Apache-2.0
"""The oracle's programs: their language, what each operation touches, and the bytes that legacy order gives.

A program is a list of lines `thread operation arguments`; oracle_runner makes a driver call of each. Streams: L is 0, X is
0x1, P is the thread's 0x2, B0... are blocking and N0... non-blocking ones. `D0+64:32` are 32 words from word 64 on of memory D0.
E0... are events without timing, T0... with. Nothing here knows of traces or of libptds.
"""

import collections

Access = collections.namedtuple("Access", "memory first end writes")

# Of each operation: on a stream ("s", the first argument), on the default stream without naming it ("l"), or the host's ("h").
# Then what its arguments are: w written, r read, b both, m a memory that comes or goes, v a variable, e an event, - others.
SHAPES = {
    "fill": "sw-", "cfill": "sw-", "kcopy": "swr", "ccopy": "swr", "pcopy": "swr", "inc": "sb", "cinc": "sb", "add": "swrr",
    "spin": "s-", "empty": "s", "pad": "s-", "vset": "sv-", "vinc": "sv-", "vget": "svw", "deep": "sb",
    "gather": "sw--", "cgather": "sw--", "scatter": "s----", "cscatter": "s----", "oscatter": "s----", "tcopy": "sw-",
    "slabs": "s-----", "set": "sw-", "set_sync": "lw-", "d2d": "swr", "d2d_sync": "lwr", "h2d": "swr", "h2d_sync": "lwr",
    "d2h": "swr", "d2h_sync": "lwr", "read": "lr", "aread": "sr", "table1": "l--", "table2": "l---", "hostfn": "sw-",
    "hread": "hr", "hwrite": "hw-", "hpoll": "hr-", "texture": "h--",
    "record": "se", "wait": "se", "esync": "he", "ssync": "h-", "csync": "h", "elapsed": "h--",
    "alloc": "hm--", "free": "hm", "palloc": "sm-", "pfree": "sm",
}
ONE_MEMORY = {"fill", "cfill", "kcopy", "ccopy", "pcopy", "inc", "cinc", "add", "deep"}  # by parameters
BY_TABLE = {"gather", "cgather", "scatter", "cscatter", "oscatter"}
KERNELS = ONE_MEMORY | BY_TABLE | {"spin", "empty", "pad", "vset", "vinc", "vget", "tcopy"}
# The host goes on only when they are done.
BLOCKING = {"h2d_sync", "d2h_sync", "read", "aread"}
READS = {"read", "aread", "hread"}

# The driver call of each operation, as the driver exports it.
CALLS = dict.fromkeys(KERNELS, "cuLaunchKernel")
CALLS.update({
    "set": "cuMemsetD32Async", "set_sync": "cuMemsetD32_v2", "slabs": "cuMemcpy3DAsync_v2", "d2d": "cuMemcpyDtoDAsync_v2", "d2d_sync": "cuMemcpyDtoD_v2",
    "h2d": "cuMemcpyHtoDAsync_v2", "h2d_sync": "cuMemcpyHtoD_v2", "d2h": "cuMemcpyDtoHAsync_v2",
    "d2h_sync": "cuMemcpyDtoH_v2", "read": "cuMemcpyDtoH_v2", "aread": "cuMemcpyDtoHAsync_v2",
    "table1": "cuMemcpyHtoD_v2", "table2": "cuMemcpyHtoD_v2", "hostfn": "cuLaunchHostFunc",
    "record": "cuEventRecord", "wait": "cuStreamWaitEvent", "esync": "cuEventSynchronize",
    "ssync": "cuStreamSynchronize", "csync": "cuCtxSynchronize", "palloc": "cuMemAllocAsync", "pfree": "cuMemFreeAsync",
})
ALLOCS = {"device": "cuMemAlloc_v2", "managed": "cuMemAllocManaged", "pinned": "cuMemHostAlloc", "mapped": "cuMemHostAlloc"}
FREES = {"device": "cuMemFree_v2", "managed": "cuMemFree_v2", "pinned": "cuMemFreeHost", "mapped": "cuMemFreeHost"}
OF_THE_HOST = ("pinned", "mapped", "managed", "registered")
VARIABLE_WORDS, POINTER_WORDS = 256, 2


class Names:
    """What the names of a program stand for, as of the lines so far."""

    def __init__(self):
        self.memories = {"V%d" % i: ("variable", VARIABLE_WORDS) for i in range(2)}  # kind, words
        self.tables = {}    # memory: the memories that its pointers lead to
        self.textures = {}  # texture: memory


class Op:
    """One line."""

    def __init__(self, line, names):
        words = line.split()
        self.line, self.thread, self.name, self.arguments = line, int(words[0]), words[1], words[2:]
        shape = SHAPES[self.name]
        self.stream = self.arguments[0] if shape[0] == "s" else "L" if shape[0] == "l" else None
        self.host = shape[0] == "h"
        self.kernel, self.blocking = self.name in KERNELS, self.name in BLOCKING
        self.event = self.arguments[-1] if "e" in shape else None
        self.memory = None  # that comes or goes
        self.accesses = []
        for how, text in zip(shape[1:], self.arguments[1:] if shape[0] == "s" else self.arguments):
            self._argument(how, text)
        self._by_name(names)
        self.memory_kind = names.memories[self.memory][0] if self.memory else None

    def _touch(self, memory, first, end, how):
        self.accesses += [Access(memory, first, end, writes) for writes in {"w": [True], "r": [False], "b": [True, False]}[how]]

    def _argument(self, how, text):
        if how in "wrb":
            name, part = text.split("+")
            first, count = (int(x) for x in part.split(":"))
            self._touch(name, first, first + count, how)
        elif how == "v" and self.name == "vget":
            self._touch(text, 0, int(self.arguments[2].split(":")[1]), "r")
        elif how == "v":
            self._touch(text, 0, int(self.arguments[2]) if self.name == "vinc" else VARIABLE_WORDS,
                        "b" if self.name == "vinc" else "w")
        elif how == "m":
            self.memory = text

    def _slabs(self):
        """Two slices of two rows of so many words, tight but for the slices' distances in rows on either side."""
        words, *apart = (int(x) for x in self.arguments[3:])
        for slab in range(2):
            for (name, rows), how in zip(zip(self.arguments[1:3], apart), "wr"):
                self._touch(name, slab * rows * words, (slab * rows + 2) * words, how)

    def _by_name(self, names):
        """What no argument says by itself."""
        if self.name == "slabs":
            self._slabs()
        if self.name in ("alloc", "palloc"):
            kind = "pool" if self.name == "palloc" else self.arguments[1]
            names.memories[self.memory] = (kind, int(self.arguments[2]))
        if self.name in ("free", "palloc", "pfree"):
            self._touch(self.memory, 0, names.memories[self.memory][1], "w")
        if self.name in ("table1", "table2"):
            names.tables[self.arguments[0]] = self.arguments[1:]
            self._touch(self.arguments[0], 0, POINTER_WORDS * (len(self.arguments) - 1), "w")
        if self.name == "texture":
            names.textures[self.arguments[0]] = self.arguments[1]
        if self.name == "tcopy":
            self._touch(names.textures[self.arguments[2]], 0, self.accesses[0].end - self.accesses[0].first, "r")
        if self.name in BY_TABLE:
            reads = self.name in ("gather", "cgather")
            table, count = (self.arguments[2], int(self.arguments[3])) if reads else (self.arguments[1], int(self.arguments[2]))
            words = self.accesses[0].end - self.accesses[0].first if reads else int(self.arguments[3])
            self._touch(table, 0, POINTER_WORDS * count, "r")
            for memory in names.tables[table][:count]:
                self._touch(memory, 0, words, "r" if reads else "w")

    def call(self):
        """The name of its driver call, or None where there is none, or none that matters."""
        if self.name in ("alloc", "free"):
            return (ALLOCS if self.name == "alloc" else FREES).get(self.memory_kind)
        return CALLS.get(self.name)


class Program:
    """Lines in the order in which they run."""

    def __init__(self, text=""):
        self.ops, self.names = [], Names()
        self.claim = None  # "# Said: not needed 1, needed 2": how many orders of each verdict
        for line in text.splitlines():
            if line.startswith("# Said: "):
                self.claim = line[len("# Said: "):]
            if line.strip() and not line.startswith("#"):
                self.ops.append(Op(line, self.names))

    def text(self):
        return "".join(op.line + "\n" for op in self.ops)

    def kind(self, memory):
        return self.names.memories[memory][0]

    def words(self, memory):
        return self.names.memories[memory][1]

    def host_can_touch(self, memory):
        return self.kind(memory) in OF_THE_HOST


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


def _add(parts):
    return [sum(words) & 0xFFFFFFFF for words in zip(*parts)]


def _written(op, memory):
    """The words that an operation writes, as long as each of its written parts."""
    count = next(a.end - a.first for a in op.accesses if a.writes)
    parts = [memory[a.memory][a.first:a.end] for a in op.accesses if not a.writes]
    if op.name in ("fill", "cfill", "set", "set_sync", "hwrite", "vset", "hostfn", "scatter", "cscatter", "oscatter"):
        return [int(op.arguments[-1])] * count
    if op.name in ("inc", "cinc", "vinc", "deep"):
        return _add(parts + [[1] * count])
    if op.name in ("gather", "cgather"):
        return _add(parts[1:])  # the first is the table
    return _add(parts)


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
    memory = {name: [0] * words for name, (_, words) in program.names.memories.items()}
    out = {}
    for index, op in enumerate(program.ops):
        if op.name in READS:
            a = op.accesses[0]
            out[index] = runs(memory[a.memory][a.first:a.end])
        elif op.name == "slabs":
            for to, at in zip(op.accesses[::2], op.accesses[1::2]):
                memory[to.memory][to.first:to.end] = memory[at.memory][at.first:at.end]
        elif op.memory is None and op.name not in ("table1", "table2") and any(a.writes for a in op.accesses):
            words = _written(op, memory)
            for a in op.accesses:
                if a.writes:
                    memory[a.memory][a.first:a.end] = words
    return out

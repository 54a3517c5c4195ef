# SPDX-License-Identifier: Apache-2.0
"""What was said of a program, held against what is true of it.

Said is what `ptds export --to sqlite` and `ptds report` show a user: implicit orders with their verdicts, findings. True is
relation.py. Each difference is a complaint of a kind; the same kind, most likely the same mistake.
"""

import collections

from programs import BY_TABLE, KERNELS, conflict, expected, overlap
from relation import bits, close, default_stream_of, on_legacy, on_own, on_own_two, order

Complaint = collections.namedtuple("Complaint", "kind text")
Edge = collections.namedtuple("Edge", "kind verdict source target")  # lines
Finding = collections.namedtuple("Finding", "rule severity verdicts")  # verdicts: how many by word, or None.
# The rule "outcome" is what the report says first of the whole run, its severity the word

CERTAINTIES = NOT_NEEDED, MAYBE, NEEDED = "not needed", "maybe needed", "needed"
WORDS = {"not_needed": NOT_NEEDED, "maybe_needed": MAYBE, "needed": NEEDED}
CONST = {"kcopy": False, "ccopy": True}  # kernels whose name says that the source is only read


def what(program, index):
    """A line's kind, as far as complaints tell kinds apart."""
    op = program.ops[index]
    if op.name in KERNELS or op.name in ("palloc", "pfree", "free"):
        return "kernel" if op.name in KERNELS else op.name
    return "memset" if op.name.startswith("set") else "copy" if op.accesses else op.name


def about(program, a, b, recorded):
    """What a conflict is about; `recorded`: the lines that the trace still has."""
    ops, accesses = (program.ops[a], program.ops[b]), conflict(program.ops[a], program.ops[b])
    if accesses is None:
        return "an elapsed time"
    made = next((i for i, op in enumerate(program.ops) if op.memory == accesses[0].memory), None)
    if made is not None and not recorded >> made & 1:
        return "memory whose allocation was recycled"
    if any(op.name in ("hread", "hwrite") for op in ops):
        return "the host's own access"
    if any(op.name == "hostfn" for op in ops):
        return "a host function's access"
    if accesses[0].memory[0] == "V":
        return "a module's variable"
    if any(op.name == "tcopy" and access.memory != op.accesses[0].memory for op, access in zip(ops, accesses)):
        return "a texture"
    if program.kind(accesses[0].memory) == "chunks":
        return "memory of several chunks"
    if any(op.name in BY_TABLE for op in ops):
        return "pointers that lie in memory"
    return "%s then %s, %s memory" % (what(program, a), what(program, b), program.kind(accesses[0].memory))


class Truth:
    """The program's orders, and the pairs of lines that conflict."""

    def __init__(self, program, own=on_own):
        self.program, self.ops = program, program.ops
        self.count = len(program.ops)
        self.legacy = close(order(program, on_legacy))
        self.own_direct = order(program, own)
        self.own = close(self.own_direct)
        self.pairs = [(a, b) for b in range(self.count) for a in range(b)
                      if self.legacy[b] >> a & 1 and conflict(self.ops[a], self.ops[b])]
        self.races = [(a, b) for b in range(self.count) for a in range(b)
                      if not self.legacy[b] >> a & 1 and conflict(self.ops[a], self.ops[b])]
        self.pairs += self.timed()
        self.implicit = [(a, b) for a, b in self.pairs if not self.own[b] >> a & 1]
        without_frees = close(order(program, own, frees_wait=False))
        self.implicit_but_for_frees = [(a, b) for a, b in self.pairs if not without_frees[b] >> a & 1]
        self.lanes = collections.defaultdict(int)
        for i, op in enumerate(self.ops):
            if op.stream is not None:
                self.lanes[on_legacy(op.stream, op.thread)] |= 1 << i

    def under(self, policy):
        """As far as the policy changes which orders are implicit: what a thread gives to 0 and to 0x1 is one stream's until 0
        is moved and 0x1 is not."""
        x, zero = ({op.thread for op in self.ops if stream == (op.arguments[0] if op.name == "ssync" else op.stream)} for stream in "XL")
        return Truth(self.program, on_own_two) if policy == "per-thread" and x & zero else self

    def timed(self):
        """What comes before an event of the default stream whose time is read, as if they conflicted: without the order the time
        is another."""
        out, records = [], {}
        for index, op in enumerate(self.ops):
            if op.name == "record":
                records[op.event] = index
            elif op.name == "elapsed":
                for at in {records[event] for event in op.arguments if self.ops[records[event]].stream in "LX"}:
                    out += [(a, at) for a in bits(self.legacy[at]) if self.ops[a].kernel or self.ops[a].accesses]
        return sorted(set(out))

    def sources(self, edge):
        """The lines that the edge's target comes after by it: all so far of the stream that it names."""
        op = self.ops[edge.source]
        return self.lanes[on_legacy(op.stream, op.thread)] & ((1 << edge.target) - 1)

    def with_edges(self, edges):
        direct = list(self.own_direct)
        for edge in edges:
            direct[edge.target] |= self.sources(edge)
        return close(direct)

    def carried(self, edge):
        """Masks: what comes before the edge or is one of its sources, and what comes after it or is its target."""
        sources, down = self.sources(edge), 0
        for i in bits(sources):
            down |= self.legacy[i]
        up = 1 << edge.target
        for i in range(edge.target + 1, self.count):
            up |= (self.legacy[i] >> edge.target & 1) << i
        return down | sources, up

    def carries(self, masks, a, b):
        return masks[0] >> a & 1 and masks[1] >> b & 1

    def is_for_free(self, masks):
        """Whether the edge would be needed if frees did not wait."""
        return any(self.carries(masks, a, b) for a, b in self.implicit_but_for_frees)

    def only_reads(self, masks):
        """Whether kernels read the same memory over the edge, which no name says of them."""
        return any(seen_conflict(self.program, a, b) == MAYBE for a in bits(masks[0]) for b in bits(masks[1])
                   if a < b and (self.ops[a].kernel or self.ops[b].kernel) and not self.own[b] >> a & 1)

    def ends_with_pool_pending(self, policy):
        """A thread that ends with work pending on its 0x2, on which it used stream-ordered memory: the driver's next
        cuCtxSynchronize may never return. Its last line, or None. A wait for an event, or a recording, is pending as long as
        any work before it is."""
        place = default_stream_of(policy)
        before = close(order(self.program, place))
        for thread in {op.thread for op in self.ops}:
            last = max(i for i, op in enumerate(self.ops) if op.thread == thread)
            lines = [i for i in range(last + 1) if self.ops[i].stream and place(self.ops[i].stream, self.ops[i].thread) ==
                     ("P", thread)]
            done = 0
            for i in range(last + 1):
                done |= before[i] | 1 << i if self.ops[i].host or self.ops[i].blocking else 0
            events = sum(1 << i for i, op in enumerate(self.ops) if op.event)
            work = sum(1 << i for i, op in enumerate(self.ops) if op.stream is not None) & ~events
            if any(self.ops[i].memory for i in lines) and any((before[i] | 1 << i) & work & ~done for i in lines):
                return last
        return None

    def may_overtake(self, policy):
        """A small copy from pinned memory to the device that only implicit order puts after what wrote its source, and that
        pair of lines, or None: the driver reads the source when the call is made, if the copy's own stream is idle."""
        asked_for = close(order(self.program, default_stream_of(policy), implicit=False))
        for b, op in enumerate(self.ops):
            for a in range(b) if op.name == "h2d" else ():
                found = conflict(self.ops[a], op)
                if found and found[0].writes and not asked_for[b] >> a & 1:
                    return a, b
        return None

    def lost(self, policy):
        """Pairs that legacy orders and the policy does not."""
        kept = close(order(self.program, default_stream_of(policy)))
        return [(a, b) for a, b in self.pairs if not kept[b] >> a & 1]


# ---- what the shim can know ----


def seen(op, program):
    """Accesses as a recorder of calls sees them: (memory, first, end, extent known, written for sure, may write)."""
    out = []
    if (op.host and op.name != "free") or op.name == "hostfn":
        return out
    for at, access in enumerate(op.accesses):
        words = program.words(access.memory)
        if not op.kernel:
            out.append((access, True, access.writes, access.writes))
        else:
            const = op.name == "ccopy" and at == 1
            out.append((access._replace(first=0, end=words), False, False, not const))
    return out


def is_opaque(op):
    return op.name in BY_TABLE or op.name in ("hostfn", "tcopy") or (op.event or "").startswith("T")


def seen_conflict(program, a, b):
    """NEEDED, MAYBE or NOT_NEEDED, from what is seen of two lines."""
    worst = MAYBE if is_opaque(program.ops[a]) or is_opaque(program.ops[b]) else NOT_NEEDED
    for one, one_exact, one_sure, one_may in seen(program.ops[a], program):
        for two, two_exact, two_sure, two_may in seen(program.ops[b], program):
            if overlap(one, two) and (one_may or two_may):
                if one_exact and two_exact and (one_sure or two_sure):
                    return NEEDED
                worst = MAYBE
    return worst


def host_may_conflict(truth, masks):
    """Whether the edge lets the host, which nobody sees, come after work on memory that it can touch."""
    hosts = 0
    for i, op in enumerate(truth.ops):
        hosts |= (op.host or op.blocking) << i
    return any(truth.program.host_can_touch(access.memory)
               for i in bits(masks[0]) for access in truth.ops[i].accesses
               if any(not truth.own[h] >> i & 1 for h in bits(masks[1] & hosts)))


# ---- complaints ----


def show(program, index):
    return "%d: %s" % (index, program.ops[index].line)


def pair_text(program, a, b):
    return "[%s] before [%s]" % (show(program, a), show(program, b))


def edge_text(program, edge):
    return "%s %s -> %s: %s" % (edge.kind, show(program, edge.source), show(program, edge.target), edge.verdict)


def wrong_not_needed(truth, edges, recorded):
    """Taking away all orders that are "not needed" must leave every conflict its order. Of what was not recorded
    nothing need be said, but nothing wrong either."""
    kept = truth.with_edges([edge for edge in edges if edge.verdict != NOT_NEEDED])
    masks = None
    for a, b in truth.implicit:
        if kept[b] >> a & 1:
            continue
        masks = masks or [truth.carried(edge) for edge in edges]
        carriers = [edge for edge, mask in zip(edges, masks) if truth.carries(mask, a, b)]
        if not recorded >> a & recorded >> b & 1 and all(edge.verdict != NOT_NEEDED for edge in carriers):
            continue
        p = truth.program
        yield Complaint("%s: %s" % ("not needed" if carriers else "no such order", about(p, a, b, recorded)),
                        "%s is needed; said: %s" % (pair_text(p, a, b),
                                                    "; ".join(edge_text(p, edge) for edge in carriers) or "no order"))


def wrong_needed(truth, edges):
    for edge in edges:
        if edge.verdict != NEEDED or truth.ops[edge.target].name == "free":
            continue
        masks = truth.carried(edge)
        if not any(truth.carries(masks, a, b) for a, b in truth.implicit):
            why = "a free, which waits, is not taken for a wait" if truth.is_for_free(masks) else \
                "kernels that only read" if truth.only_reads(masks) else "nothing conflicts"
            yield Complaint("needed: %s" % why, "%s over %s" % (why, edge_text(truth.program, edge)))


def maybe_though_known(truth, edges):
    """Orders that are called "maybe" although all that they carry was seen in full. Returns the masks of such edges."""
    out = []
    for edge in edges:
        if edge.verdict != MAYBE or truth.ops[edge.target].name == "free":
            continue
        masks = truth.carried(edge)
        if host_may_conflict(truth, masks):
            continue
        said = {seen_conflict(truth.program, a, b) for a in bits(masks[0]) for b in bits(masks[1])
                if a < b and not truth.own[b] >> a & 1}
        if MAYBE not in said:
            out.append(Complaint("maybe %s, is %s" % (edge.kind, NEEDED if NEEDED in said else NOT_NEEDED),
                                 edge_text(truth.program, edge)))
    return out


# ---- findings ----

# Rules of class R that say nothing of a copy that overtakes; any other one does.
NOT_OF_COPIES = {"order-given-up", "thread-relative-handle", "mixed-build", "half-remapped"}
TOLD_OF_ENDS = {"deadlock-risk", "thread-end"}
ABOUT_ORDER = {"order-given-up", "unordered-conflict"}


def says_something(findings):
    """Whether a reader is told that an order that a result may need is gone."""
    return any(f.rule in ABOUT_ORDER and (f.severity == "error" or f.verdicts is None or
                                          any(f.verdicts.get(word) for word in (NEEDED, MAYBE))) for f in findings)


def is_silent(truth, policy, lost, findings, recorded):
    """No word of an order that is gone and that a result needs."""
    lost = [(a, b) for a, b in lost if recorded >> a & 1 and recorded >> b & 1]
    if not lost:
        return
    if says_something(findings):
        if any(f.rule == "outcome" and f.severity == "right" for f in findings):
            yield Complaint("outcome: right", "%s has no order any more, and a finding says so" % pair_text(truth.program, *lost[0]))
        return
    p = truth.program
    conflicts = [(-CERTAINTIES.index(seen_conflict(p, a, b)), a, b) for a, b in lost if conflict(p.ops[a], p.ops[b])]
    if not conflicts:
        yield Complaint("silent: an elapsed time", "%s has no order any more" % pair_text(p, *lost[0]))
        return
    certainty, a, b = min(conflicts)
    threads = "one thread" if p.ops[a].thread == p.ops[b].thread else "two threads"
    seen_as = {NEEDED: "a conflict seen", MAYBE: "memory shared", NOT_NEEDED: "the host's own access"}[CERTAINTIES[-certainty]]
    yield Complaint("silent: %s, %s" % (threads, seen_as), "%s has no order any more" % pair_text(p, a, b))


def is_silent_on_driver(truth, policy, said, printed):
    """No word of what the driver does wrong."""
    line = truth.ends_with_pool_pending(policy)
    if line is not None and not (said.recorded != (1 << truth.count) - 1 or TOLD_OF_ENDS & set(said.rules)):
        yield Complaint("silent: a thread ends with stream-ordered memory pending", "after %s" % show(truth.program, line))
    if policy.endswith("overtake") and printed != expected(truth.program) and truth.may_overtake(policy) and \
            not truth.races and not set(said.rules) - NOT_OF_COPIES:
        yield Complaint("silent: a small copy overtakes", pair_text(truth.program, *truth.may_overtake(policy)))


def is_silent_on_race(truth, said):
    """No word of two copies or memsets that nothing orders, not even legacy. Whether a copy of managed memory keeps the host
    waiting was not measured: it may be complete when its call returns, and what came before it."""
    p = truth.program
    managed = [i for i, op in enumerate(p.ops) if not op.kernel and not op.host and
               any(p.kind(access.memory) == "managed" for access in op.accesses)]
    seen_races = [(a, b) for a, b in truth.races if seen_conflict(p, a, b) == NEEDED and
                  said.recorded >> a & 1 and said.recorded >> b & 1 and not any(a <= i < b for i in managed)]
    if seen_races and "unordered-conflict" not in said.rules:
        yield Complaint("silent: a race", "%s have no order" % pair_text(p, *seen_races[0]))


def wrong_errors(truth, policy, lost, said):
    """An error where nothing is wrong; views that do not agree on it."""
    true = ({"order-given-up"} if lost else set()) | ({"unordered-conflict"} if truth.races else set()) | \
        ({"small-copy"} if truth.may_overtake(policy) else set())
    for rule in sorted(set(said.errors) - true):
        yield Complaint("error: %s" % rule, "nothing is wrong")
    in_report = sorted({finding.rule for finding in said.findings if finding.severity == "error"})
    if said.findings and in_report != said.errors:
        yield Complaint("views disagree", "errors %s in the database, %s in the report" % (said.errors, in_report))
    if bool(said.errors) != bool(said.shouts):
        yield Complaint("views disagree", "errors %s; the summary: %s" % (said.errors, said.shouts))


def wrong_run(truth, policy, lost, printed):
    """Bytes that a policy must not have changed, or that changed though no order was lost."""
    want = expected(truth.program)
    changed = [i for i in want if printed.get(i) != want[i]]
    if changed and not lost and not truth.races and not (policy.endswith("overtake") and truth.may_overtake(policy)):
        i = changed[0]
        yield Complaint("bytes %s" % policy, "%s read %s, not %s" % (show(truth.program, i), printed.get(i), want[i]))


def not_as_claimed(program, policy, verdicts):
    """What a program of found/ says in its own text of its orders under `observe`."""
    said = ", ".join("%s %d" % (word, verdicts[word]) for word in CERTAINTIES if verdicts[word])
    if policy == "observe" and program.claim not in (None, said):
        yield Complaint("not as claimed", "%s, not %s" % (said, program.claim))


def judge(truth, policy, said, printed):
    lost = truth.lost(policy)
    out = list(wrong_run(truth, policy, lost, printed))
    out += wrong_not_needed(truth, said.edges, said.recorded)
    out += wrong_needed(truth, said.edges)
    out += wrong_errors(truth, policy, lost, said)
    out += is_silent(truth, policy, lost, said.findings, said.recorded)
    out += is_silent_on_race(truth, said)
    out += is_silent_on_driver(truth, policy, said, printed)
    return out

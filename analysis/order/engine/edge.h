/* SPDX-License-Identifier: Apache-2.0
 *
 * Implicit edges: orders that the program did not write down, and whether the program needs them. An edge is an order
 * between two calls that the legacy default stream, or a call that waits without being asked to, puts there, and that the
 * explicit order (each thread's default-stream work taken as a stream of that thread's own; streams, events, waits, host
 * synchronisation) does not hold anyway.
 *
 * The verdict is one of three, and never a guess:
 *   - not needed: every pair of operations that the edge alone orders was looked at, all that they touch is known, and
 *     none of them touches the same memory.
 *   - needed: of a pair that it alone orders both ranges are known and overlap, and at least one of the two is written.
 *     The pair is the proof.
 *   - maybe needed: neither can be said. Memory may be shared, or the host may use it; the reason says why.
 */
#ifndef PTDS_ANALYSIS_ORDER_ENGINE_EDGE_H
#define PTDS_ANALYSIS_ORDER_ENGINE_EDGE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum edge_kind {
    EDGE_FAN_IN,  /* legacy work waits for a blocking stream */
    EDGE_FAN_OUT, /* a blocking stream's work waits for the legacy stream */
    EDGE_FIFO,    /* legacy work of one thread waits for legacy work of another */
    EDGE_HOST,    /* the host waits, for work that it did not name: a wait for the legacy stream, which waits for others */
    EDGE_KINDS
};

enum verdict { VERDICT_NOT_NEEDED, VERDICT_NEEDED, VERDICT_MAYBE_NEEDED, VERDICTS };

/* Why it may be needed. */
enum verdict_reason {
    REASON_NONE,
    REASON_OPAQUE, /* an operation on one side may touch memory that the trace does not name */
    REASON_ACCESS, /* both sides use the same memory; whether either writes it cannot be seen */
    REASON_EXTENT, /* both sides use one allocation at different addresses; how far each reaches cannot be seen */
    REASON_RACE,   /* the two sides conflict with work that nothing orders, even today */
    REASON_LOST,   /* records are missing, or the trace ended while the edge was open to more */
    REASON_LIMIT,  /* more was open at once than is followed */
    REASON_HOST,   /* the host may read, or write again, memory that the work used */
    REASON_TIME,   /* a time between events that the program asks for counts the work */
    VERDICT_REASONS
};

/* One end of an edge, or one operation of a pair. */
struct edge_end {
    uint64_t ticks;  /* entry of the call */
    uint32_t thread; /* uid */
    uint32_t stream; /* uid, as the program named it; 0 the host */
    uint32_t stack;  /* STACK id, 0 not recorded */
    uint32_t object; /* a kernel's uid, 0 none */
    uint16_t api;
    uint8_t op; /* enum ptds_op */
    uint8_t twin;
    uint32_t target; /* uid: the stream that it was sent to; 0 the host */
};

enum access { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_UNKNOWN = 3 };

struct edge_pair {
    struct edge_end first, second;
    enum access first_access, second_access;
    uint64_t address, size; /* what both touch; size 0: from address on, extent not seen */
    uint32_t allocation;    /* uid, 0 unknown */
    bool definite;          /* both ranges are known, overlap, and one is surely written */
    bool both_write;    /* neither reads: results differ only if the two leave different bytes, and something reads these */
    bool unmeasured;    /* of a copy that may be read early: of its size nobody knows */
    bool host_may_know; /* of what nothing orders: the host could have read in its memory that the first was done */
};

/* What this run's policy did with an order: it is kept; it is gone, and may have been needed; it is gone, and the pair is
 * the proof that it was needed. */
enum edge_loss { LOSS_NONE, LOSS_POSSIBLE, LOSS_DEFINITE };

struct edge {
    enum edge_kind kind;
    enum verdict verdict;
    enum verdict_reason reason; /* of maybe needed */
    enum edge_loss loss;
    struct edge_end from, to;
    struct edge_pair pair; /* of needed, and of maybe needed where there is one to show */
    bool direct;           /* the pair are the two calls that the edge orders, and no others beside them */
};

extern const char *const edge_kind_names[EDGE_KINDS];           /* "fan-in", "fan-out", "fifo", "host" */
extern const char *const verdict_reason_names[VERDICT_REASONS]; /* "an operation ..." */

/* What the edges do not say. */
struct verdict_totals {
    uint64_t races;          /* conflicts that nothing orders, one side surely writes */
    uint64_t possible_races; /* ... where that cannot be said; not counted again while the two learn nothing new */
    uint64_t dropped;        /* accesses beyond what is followed */
    uint64_t unplaced;       /* calls on streams beyond what is followed */
    uint64_t examined;       /* pairs of accesses; this number and the next are what the verdicts cost */
    uint64_t traced;         /* orders of which the edges were looked for */
};

struct edge_sink {
    /* Called once for each edge, when its verdict is final; in no particular order. */
    void (*edge)(struct edge_sink *sink, const struct edge *edge);
};

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operation touches, as footprint/ answers and the guard asks: memories with ranges, or everything.
 */
#ifndef PTDS_TOUCHED_H
#define PTDS_TOUCHED_H

#include <stdint.h>

struct context;
struct ledger;

/* An allocation, a mapped range, an array, a module's variables: whatever two operations can have in common. Never
 * unmapped: an object whose memory is freed serves for another one later. */
struct memory {
    uint64_t base, bytes;
    uint32_t uid;
    uint8_t kind;            /* enum ptds_memory_kind */
    uint8_t host;            /* the host can touch it while work is pending: pinned, registered, managed */
    uint8_t unknown;         /* enum memory_unknown: pointers may lie in it that nobody has seen */
    uint8_t parts;           /* so many more launches look at which part of it they touch; the guard's */
    uint32_t context_uid;    /* of `context`, which may be another one's entry by now; 0 not known */
    struct context *context; /* where it was allocated: a free waits for that one, whichever is current */
    struct ledger *ledger;   /* the guard's: who touched it; NULL nobody yet */
};

/* How such pointers may have come: in any way, or only by kernels that use a module's variables by name, which write no
 * constant ones. */
enum memory_unknown { UNKNOWN_SOME = 1, UNKNOWN_BY_KERNELS = 2 };

/* One memory that an operation touches: the bytes from begin up to end, as device addresses. All of it: 0, UINT64_MAX. */
struct access {
    struct memory *memory;
    uint64_t begin, end;
    uint32_t writes;
};

/* Why an operation may touch everything. Each has a word in reports. */
#define OPAQUE_REASONS(X) \
    X(NO, "") \
    X(HOST_FUNCTION, "host function") \
    X(WAITS_FOR_VALUE, "wait for a value") \
    X(SEMAPHORE, "external semaphore") \
    X(GRAPH, "graph with nodes that were not seen") \
    X(PARAMETERS, "kernel with unknown parameters") \
    X(POINTERS, "pointers in device memory that were not seen") \
    X(TEXTURE, "texture or surface that was not seen") \
    X(MANY, "more memories than are kept") \
    X(OTHER, "call whose arguments do not name its memory") \
    X(EVENT, "event that a graph records or waits for") \
    X(CODE, "kernel whose code could not be read") \
    X(BASE, "pointer to memory that is not known") \
    X(HEAP, "kernel that uses the device's heap")
enum opaque_reason {
#define X(name, words) OPAQUE_##name,
    OPAQUE_REASONS(X)
#undef X
        OPAQUE_COUNT
};

enum { TOUCHED_MOST = 64 };

struct touched {
    uint16_t count;
    uint8_t opaque; /* enum opaque_reason; not 0: everything, whatever `at` says */
    uint8_t host;   /* the host can touch one of them while this is pending; for async copies, kernels, memsets */
    struct access at[TOUCHED_MOST];
};

#endif

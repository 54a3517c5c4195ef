/* SPDX-License-Identifier: Apache-2.0
 *
 * A random program as a list of operations (plan.c), the order that legacy default streams promise among them (model.c),
 * what each of them does to memory (reference.c), and the same operations as driver calls (act.c). Included by the files of
 * random_turns. Nothing here knows of libptds.
 */
#ifndef APPS_RANDOM_PLAN_H
#define APPS_RANDOM_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PART_WORDS = 256, /* 1 KiB: what the model tells apart */
    PARTS = 4,
    MEM_WORDS = PART_WORDS * PARTS,
    SEATS_MOST = 8, /* threads that take turns at a time; one seat more is the main thread's, for what comes last */
    STREAMS_MOST = 56,
    THREADS_MOST = 24, /* in all: a seat's thread may end and another take its place */
    PASSING_MOST = 20, /* streams that are created and destroyed on the way */
    EVENTS = 5,
    GRAPHS = 3,
    NODES_MOST = 4, /* of one graph */
    STEPS_MOST = 2000,
    OPS_MOST = 16 * STEPS_MOST,
    FLAGS_MOST = 2 * STEPS_MOST,
    ACCESSES_MOST = 3 * NODES_MOST,
    SPIN_LEVELS = 5,
};

/* Memories: device ones first, then what the host can touch. */
enum { DEVICE = 0, POOLED = 4, SCRATCH = 6, PINNED = 8, MAPPED = 11, MEMS = 13 };

/* Streams: explicit 0x1 is LEGACY under another name. A thread's 0x2 and passing streams come after the last of these. */
enum { LEGACY, LEFT, RIGHT, FREE, OTHER_FREE, STREAMS_FIXED };

enum op_kind {
    KERNEL_FILL,
    KERNEL_ADD_ONE,
    KERNEL_COPY,
    KERNEL_ADD,
    KERNEL_EMPTY,
    MEMSET,
    MEMSET_SYNC,
    DEVICE_TO_DEVICE,
    DEVICE_TO_DEVICE_SYNC,
    PINNED_TO_DEVICE,
    PINNED_TO_DEVICE_SYNC,
    PAGEABLE_TO_DEVICE,
    PAGEABLE_TO_DEVICE_SYNC,
    DEVICE_TO_PINNED,
    DEVICE_TO_PINNED_SYNC,
    DEVICE_TO_PAGEABLE,
    DEVICE_TO_PAGEABLE_SYNC,
    HOST_FUNCTION_WRITES,
    HOST_FUNCTION_READS,
    HOST_READS,
    HOST_WRITES,
    EVENT_RECORD,
    EVENT_WAIT,
    EVENT_RECORD_BY_GRAPH, /* these two: by a node of a graph that is made for it and launched on the stream */
    EVENT_WAIT_BY_GRAPH,
    EVENT_RECORD_BY_KERNEL, /* when it begins; it runs that long, then adds one */
    EVENT_SYNCHRONIZE,
    EVENT_QUERY,
    STREAM_SYNCHRONIZE,
    STREAM_QUERY,
    CONTEXT_SYNCHRONIZE,
    GRAPH_MAKE,
    GRAPH_LAUNCH,
    POOL_ALLOC,
    POOL_FREE,
    SCRATCH_ALLOC,
    SCRATCH_FREE,
    STREAM_CREATE,
    STREAM_DESTROY,
    VALUE_WRITE,
    VALUE_WAIT,
    VALUE_BY_HOST,
    THREAD_END,
    OP_KINDS
};

extern const char *const op_names[OP_KINDS];

struct range {
    uint8_t mem, first, parts; /* in parts */
    uint16_t words;            /* from the first one's start; may be fewer than the parts hold */
};

struct access {
    struct range range;
    int writes;
};

struct op {
    uint8_t kind, stream, by_name,
        spin; /* by_name: 0x1 for 0; spin: how long a kernel on the stream runs before, or it itself */
    uint8_t event, graph, nodes, capture_mode;
    uint16_t flag;
    uint32_t nodes_at, value, step;
    struct range to, from, other;
    uint64_t expected, seen; /* digests of what the host reads */
};

/* Per stream, how many of its operations are known to be done before. */
struct clock {
    uint16_t ticks[STREAMS_MOST];
};

enum stream_kind { KIND_LEGACY, KIND_PER_THREAD, KIND_BLOCKING, KIND_NON_BLOCKING };

struct part {
    uint8_t writer, written; /* written: the writer says something */
    uint16_t tick;
    struct clock readers; /* since the last write */
};

struct model {
    struct {
        uint8_t kind, live, seat; /* seat: whose 0x2 it is */
        struct clock last;        /* of the newest operation */
    } streams[STREAMS_MOST];
    unsigned stream_count;
    struct clock host, events[EVENTS], flags[FLAGS_MOST];
    struct part parts[MEMS][PARTS];
    int without_host; /* what the host has waited for is taken for order among accesses of the host alone */
};

struct step {
    uint8_t seat;
    uint32_t first, count;
};

struct plan {
    unsigned seed, seats, step_count, op_count, node_count, flag_count, passing_count, thread_count, seat;
    uint64_t random;
    uint64_t left_out; /* bit per op_kind */
    struct step steps[STEPS_MOST + 1];
    struct op ops[OPS_MOST], nodes[OPS_MOST];
    struct range recent[2];   /* written last: of what the host can touch, of what it cannot */
    struct op graphs[GRAPHS]; /* the launch of each, nodes 0 where there is none */
    uint8_t seat_stream[SEATS_MOST + 1], pool_live[MEMS];
    struct model model;
    uint32_t first[MEMS][MEM_WORDS], memory[MEMS][MEM_WORDS]; /* at the start; the reference's */
};

/* plan.c: all of a seed's program. */
void plan_make(struct plan *p, unsigned seed, unsigned steps);
unsigned plan_any(struct plan *p, unsigned below);
void plan_emit(struct plan *p, struct op *op);

/* plan_order.c: what is put where order lacks. Each returns 0 where it emitted nothing that helps. */
int plan_admit(struct plan *p, struct op *op);
void plan_host_access(struct plan *p, struct op *op);

/* plan_data.c: operations on memory, drawn. */
void plan_draw_kernel(struct plan *p, struct op *op);
void plan_draw_copy(struct plan *p, struct op *op);
void plan_draw_calm(struct plan *p, struct op *op);
void plan_draw_node(struct plan *p, struct op *op);
struct range plan_range(struct plan *p, unsigned mem, unsigned stream);
void plan_draw_stream(struct plan *p, struct op *op);
unsigned plan_device_memory(struct plan *p);

/* model.c */
void model_start(struct model *m);
unsigned model_stream(struct model *m, enum stream_kind kind, unsigned seat);
struct clock model_next(const struct model *m, unsigned stream);
int model_missing(const struct plan *p, const struct op *op); /* a stream whose work op must follow and would not, or -1 */
int model_host_missing(const struct plan *p, const struct op *op, const struct clock *host);
void model_join(struct clock *clock, const struct clock *other);
struct clock model_synchronized(const struct model *m, unsigned stream);
void model_apply(struct plan *p, const struct op *op);
int op_on_stream(enum op_kind kind);
unsigned op_accesses(const struct plan *p, const struct op *op, struct access *accesses);

/* reference.c: applies the operation to p->memory and fills op->expected. */
void reference_start(struct plan *p);
void reference_apply(struct plan *p, struct op *op);
uint64_t reference_digest(const uint32_t *words, unsigned count);

/* print.c */
void print_op(FILE *out, const struct plan *p, const struct op *op);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated driver's own types and the functions its files share. Included by every .c here and by nobody else.
 * One lock (`sim_lock`) guards everything; a function whose comment says "locked" is called with it held. Work of streams
 * (copies, kernels, host functions) runs without it.
 */
#ifndef PTDS_TESTS_SIM_SIM_H
#define PTDS_TESTS_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/impl.h"
#include "tests/sim/memory.h"
#include "tests/sim/ptx.h"

#define SIM_EXPORT __attribute__((visibility("default")))
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- work: what an operation does when its turn comes (work.c) ---- */

enum work_kind {
    WORK_NONE,
    WORK_COPY,
    WORK_FILL,
    WORK_KERNEL,
    WORK_HOST,
    WORK_VALUE,
    WORK_FREE,
    WORK_CHILD,
    WORK_RECORD, /* these and what follows only in nodes */
    WORK_AWAIT,
    WORK_ALLOC /* of `free`, whose memory keeps its address: nothing to do */
};

/* One side of a copy as the program named it. */
struct copy_side {
    CUmemorytype type;
    uint64_t address;
    CUarray array;
    size_t x, y, z, pitch, height; /* x in bytes */
};

/* Bytes to move; both sides are addresses that this process can reach. src NULL: from the staged bytes in the blob. */
struct copy {
    char *dst;
    const char *src;
    size_t width, height, depth;
    size_t dst_pitch, dst_slice, src_pitch, src_slice;
    struct copy_side to, from;
    bool waits;       /* in its synchronous form, whatever memory it is */
    bool to_pageable; /* as long as it is a node */
};

struct fill {
    char *dst;
    size_t pitch, width, height; /* width in elements, pitch in bytes */
    unsigned int value, element; /* element size: 1, 2 or 4 */
    uint64_t at;                 /* what the program calls dst */
};

struct kernel_work {
    const struct function *function; /* the parameters are in the blob */
    unsigned int grid[3], block[3], shared;
    CUkernel kernel;     /* NULL: launched by a CUfunction */
    struct claim *claim; /* what it may touch; held; NULL not said */
};

struct host_work {
    CUhostFn function;
    CUstreamCallback callback;
    CUstream stream;
    void *data;
};

struct value_work {
    void *address;
    uint64_t value;
    unsigned int flags;
    bool wide, wait;
};

struct work {
    enum work_kind kind;
    union {
        struct copy copy;
        struct fill fill;
        struct kernel_work kernel;
        struct host_work host;
        struct value_work value;
        struct {
            CUdeviceptr address;
            uint64_t id; /* of the allocation that goes */
        } free;
        struct graph *child; /* owned */
        struct event *event;
    };
    void *blob; /* owned */
    size_t blob_size;
};

void work_run(struct work *w); /* unlocked */
struct work work_clone(const struct work *w);
void work_clear(struct work *w);
CUgraphNodeType work_node_type(const struct work *w);

/* ---- operations and the threads that run them (engine.c) ---- */

struct op {
    struct work work;
    unsigned int references, pending, waiters;
    bool done, begun;
    struct op *follower; /* begins after this one has begun: the next in the hardware queue; held */
    uint64_t finished_ns, visited;
    struct stream *stream; /* whose tail it is, or NULL */
    struct op **dependents;
    size_t dependent_count, dependent_capacity;
    struct op *next;
};

void sim_lock(void);
void sim_unlock(void);
uint64_t sim_now_ns(void);
void engine_after_fork(void);
struct op *op_new(struct work *w);                            /* takes the work over; held until it is done */
void op_after(struct op *op, struct op *earlier);             /* locked; earlier may be NULL or done */
bool op_comes_after(const struct op *op, struct op *earlier); /* locked; earlier is not done */
void op_submit(struct op *op);                                /* locked; no op_after on it any more */
void op_wait(struct op *op);                                  /* locked; gives the lock up while it waits */
struct op *op_hold(struct op *op);                            /* locked */
void op_release(struct op *op);                               /* locked; NULL is fine */
static inline bool op_busy(const struct op *op)
{
    return op && !op->done;
}

/* ---- handles (handles.c) ---- */

enum handle_type {
    HANDLE_CONTEXT = 1,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_MODULE,
    HANDLE_FUNCTION,
    HANDLE_LIBRARY,
    HANDLE_KERNEL,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
    HANDLE_ARRAY,
    HANDLE_POOL,
    HANDLE_PHYSICAL,
};

void handle_add(const void *handle, enum handle_type type); /* locked, as the other two */
void handle_remove(const void *handle);
bool handle_is(const void *handle, enum handle_type type);

/* ---- contexts and threads (context.c) ---- */

#define CONTEXT_STACK 32

struct context {
    int device;
    unsigned int flags;
    uint64_t id;
    unsigned int retained; /* of a primary context; else who attached to it beside who created it */
    bool primary, hangs;   /* hangs: SIM_THREAD_END */
    struct stream *legacy;
    struct stream *streams; /* all of them, legacy and per-thread ones included */
    struct stream *busy;    /* those of them with work */
    struct op *awaited;     /* what all work comes after that is submitted from now on; NULL nothing */
    size_t limits[16];
    CUfunc_cache cache_config;
};

struct thread {
    uint64_t id;
    bool registered, twin, in_host_function;
    struct context *stack[CONTEXT_STACK];
    int depth;
    CUstreamCaptureMode capture_mode;
    struct stream *own_streams; /* this thread's per-thread streams, one per context */
};

/* Synchronous copies and memsets in it wait. */
static inline bool context_waits(const struct context *ctx)
{
    return (ctx->flags & CU_CTX_SYNC_MEMOPS) != 0;
}

struct thread *thread_self(void);
struct context *context_current(void);
CUresult context_need(struct context **ctx);   /* locked; 201 if none is current, else 0 */
void context_synchronize(struct context *ctx); /* locked */
int device_count(void);
bool sim_initialised(void);

/* ---- streams (stream.c) ---- */

enum stream_kind { STREAM_LEGACY, STREAM_PER_THREAD, STREAM_BLOCKING, STREAM_NON_BLOCKING };

struct node_set {
    struct node **nodes;
    size_t count, capacity;
};

struct stream {
    struct context *ctx;
    enum stream_kind kind;
    int priority;
    uint64_t id;
    bool used_pool;     /* a per-thread one: with stream-ordered memory */
    bool dead;          /* destroyed, or its thread has ended: gone once it is idle */
    unsigned int queue; /* the hardware queue of its pending work, + 1; 0 none yet */
    struct op *tail;
    struct capture *capture;
    struct node_set capture_deps;
    CUaccessPolicyWindow policy_window;
    CUsynchronizationPolicy sync_policy;
    struct stream *next, *next_own, *next_busy;
    struct stream **link, **link_busy; /* what points here; link_busy NULL: not in that list */
};

struct stream *stream_new(struct context *ctx, enum stream_kind kind, int priority); /* locked, as all of these */
void stream_retire(struct stream *s);
CUresult stream_find(CUstream handle, struct stream **out);
CUresult stream_push(struct stream *s, struct work *w, struct op **held); /* takes the work over */
CUresult stream_push_done(struct stream *s, struct work *w);              /* and waits until it is done */
void stream_append(struct stream *s, struct op *op);
void stream_order_after(struct stream *s, struct op *op);
void stream_op_done(struct op *op); /* a stream's tail */
bool stream_busy(struct stream *s);
void stream_synchronize(struct stream *s);
void streams_free(struct context *ctx);
CUstream stream_handle(struct stream *s);

/* ---- hardware queues (queues.c) ---- */

void queue_behind(struct stream *s, struct op *op); /* locked; before op_submit */
void queues_after_fork(void);

/* ---- events (event.c) ---- */

struct event {
    unsigned int flags;
    uint64_t generation;
    struct op *op;
    uint64_t capture_id; /* not 0: last recorded in that capture */
    struct node_set capture_deps;
};

void event_record_behind(struct event *e, struct op *held); /* locked; takes it over */

/* ---- captures and graphs (capture.c, graph.c) ---- */

struct node {
    struct work work;
    struct node_set deps;
    struct graph *graph;
    size_t index;        /* in its graph */
    uint64_t id, origin; /* origin: the id of the node that this is a copy of */
    void **parameters;   /* what cuGraphKernelNodeGetParams pointed to; owned */
};

struct graph {
    struct node_set nodes;
    bool embedded; /* a child node's */
};

struct graph_exec {
    struct graph *graph; /* a copy of its own */
    struct op *last;
    uint64_t flags;
};

struct capture {
    uint64_t id;
    CUstreamCaptureMode mode;
    uint64_t thread;
    bool invalid, borrowed_graph;
    struct graph *graph;
    struct stream *origin;
    struct capture *next;
};

void node_set_add(struct node_set *set, struct node *node);
void node_set_copy(struct node_set *to, const struct node_set *from);
void node_set_clear(struct node_set *set);
struct graph *graph_new(void);
struct graph *graph_clone(const struct graph *graph);
void graph_free(struct graph *graph);
struct node *graph_copy_of(const struct graph *graph, const struct node *node); /* in a clone or what it holds, or NULL */
struct node *graph_add(struct graph *graph, struct work *w, const struct node_set *deps);
CUresult pool_alloc_node(CUDA_MEM_ALLOC_NODE_PARAMS *p, struct work *w);
CUresult pool_free_node(CUdeviceptr p, struct work *w);
bool pool_keeps(const void *pool, size_t bytes);     /* locked; of what is freed: it counts as used still */
CUresult pool_back_graph(const struct graph *graph); /* locked; about to be launched: its memory is there, and used */
CUresult graph_exec_launch(struct graph_exec *exec, struct stream *s);

CUresult capture_legacy_use(struct context *ctx);   /* 906 and invalidates, or 0 */
CUresult capture_legacy_query(struct context *ctx); /* 906 without harm, or 0 */
CUresult capture_unsafe(void);                      /* 900 and invalidates, or 0 */
CUresult capture_add(struct stream *s, struct work *w);
CUresult capture_forbid(struct stream *s); /* 900 and invalidates if s captures */
CUresult capture_any(struct context *ctx); /* 900 and invalidates if anything of ctx captures */
CUresult capture_record(struct stream *s, struct event *e);
CUresult capture_wait(struct stream *s, struct event *e);
CUresult capture_observe(struct stream *s);            /* 906 on legacy, 900 on a capturing one, both invalidate */
CUresult capture_observe_event(const struct event *e); /* e was recorded in a capture: 907 and invalidates, or 1 */
void capture_forget(struct stream *s);

/* ---- copies (copy.c) ---- */

enum copy_mode { COPY_SYNC, COPY_ASYNC };

CUresult copy_issue(CUstream handle, struct copy copy, enum memory_kind dst, enum memory_kind src, enum copy_mode mode);
CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *p, CUstream stream, enum copy_mode mode); /* unlocked */
CUresult copy_describe(const CUDA_MEMCPY3D *p, struct copy *out);
CUresult copy_linear(CUstream handle, uint64_t dst, uint64_t src, size_t size, enum copy_mode mode);

/* ---- modules and kernels (module.c, kernels.c) ---- */

#define MAX_PARAMETERS 32 /* of a test's own kernel without PTX */

struct parameter {
    size_t offset, size;
};

typedef void (*kernel_function)(const struct kernel_work *k, const unsigned char *parameters);

struct function {
    char *name;
    const struct ptx_function *code; /* NULL: a test's own, without PTX */
    kernel_function run;             /* a test's own; goes before the code */
    struct module *module;
    struct parameter *parameters; /* owned */
    size_t parameter_count, parameter_bytes;
    bool launched;
    int attributes[CU_FUNC_ATTRIBUTE_MAX];
    struct function *next;
};

struct module {
    struct context *ctx;
    bool ptx;
    struct ptx_text *text;
    struct function *functions;
    uint64_t memory; /* where the text's variables lie; 0 if there are none */
    uint64_t memory_id;
};

struct module *module_parse(struct context *ctx, const void *image);
void module_free(struct module *m);
struct function *module_function(struct module *m, const char *name);
CUresult module_variable(const struct module *m, const char *name, CUdeviceptr *address, size_t *size);
bool function_runs(const struct function *f); /* no: the interpreter does not know all of its code */
void variables_place(struct module *m);       /* no room for them: m->memory stays 0 */
void variables_free(struct module *m);
void module_load_over(void); /* locked; waits for a load that holds others (SIM_LOAD_HOLDS), or not at all */
struct function *function_of(CUfunction handle); /* either kind of handle; locked */
kernel_function kernel_find(const char *name, const char **signature);

/* ---- the knobs (knobs.c) ---- */

struct entry {
    const char *symbol;
    void *address;
    int since;
    bool twin, has_twin, row;
    unsigned long calls;
    uintptr_t last_stream;
    unsigned long fail_at;
    CUresult fail_code;
    uint64_t delay_ns;
    unsigned long nap_at, nap_ns;
    bool hidden, before_init, keeps_errno;
};

extern struct entry sim_entries[];
extern const int sim_entry_count;

#define NO_HANDLE ((uintptr_t)-1)

CUresult call_enter(int entry, bool twin, uintptr_t stream);
void knobs_load(void);
int knob_driver_version(void);
int knob_devices(void);
bool knob_pageable(void);
uint64_t knob_launch_ns(void);
bool knob_load_holds(void);
bool knob_small_copies_overtake(void);
bool knob_thread_end_hangs(void);
bool knob_claims_abort(void);
unsigned int knob_queues(void); /* hardware queues; 0: as many as streams */
size_t knob_spacing(void);      /* bytes from where an allocation begins to where the next one does, at least; 0 any */
bool knob_tells_unknown(void);
void hide_symbol(void *address);

#endif

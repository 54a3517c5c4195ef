/* SPDX-License-Identifier: Apache-2.0
 *
 * A run as a list of steps, which can be replayed under another policy: for each call what its thread did before it, what
 * it put on a device, and what it waited for. Gathered while the report is made. Takes some hundred bytes a call.
 */
#ifndef PTDS_ANALYSIS_WHATIF_RECORDED_H
#define PTDS_ANALYSIS_WHATIF_RECORDED_H

#include "analysis/base/id_map.h"
#include "analysis/base/sorted.h"
#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STEP_UNKNOWN UINT64_MAX

/* What an operation needs of its device while it runs. */
enum engine { ENGINE_NONE, ENGINE_KERNELS, ENGINE_TO_DEVICE, ENGINE_TO_HOST, ENGINES };

/* Times in ns from the start of the run. */
struct step {
    uint64_t enter, leave;      /* leave: of a call that is not timed, enter */
    uint64_t waited;            /* of leave - enter: lost to waiting for a device */
    uint64_t usual;             /* what such a call takes alone (held.h); leave - enter where nobody knows */
    uint64_t held;              /* for so long other threads' calls may have held it up */
    uint64_t began, ran;        /* on its device: ns after enter, ns; STEP_UNKNOWN */
    uint64_t longest;           /* at most this long it ran, whatever is not known */
    uint32_t thread, context;   /* positions */
    uint32_t kind;              /* of driver function: api * 2 + twin */
    uint32_t named, sent, own;  /* streams, numbered from 0: as named, as sent to, and the thread's own one */
    uint32_t event, generation; /* of an event record, and of waits for one */
    uint32_t touches, first;    /* of recorded->touches */
    uint32_t gpu_threads;       /* of a kernel */
    struct order_call order;    /* if it names a stream */
    uint8_t op, engine, waits;  /* enum ptds_op, enum engine, enum wait_scope: what it waits for before it returns */
    bool submits, work, opaque; /* opaque: it may touch all memory */
    bool guessed;               /* `ran` is its share of a wait, which the run's host made for it */
    bool last;                  /* its thread made no call after it */
    bool shown;                 /* its work uses memory that the host can touch meanwhile, or may */
    bool copies, meets;         /* a copy that its thread waits for; another thread was in one meanwhile (held.h) */
};

/* What a kernel does with its parameters: bits, by the 8-byte word they begin in. Others may be written. */
struct kernel_touches {
    uint64_t reads, nothing;
    uint32_t variables; /* as in KERNEL */
    bool opaque;
};

/* The memory, by its uid, that a step's work touches. */
struct step_touch {
    uint32_t memory;
    bool writes;
};

struct recorded {
    struct report_watch watch; /* first; `progress` is the caller's */
    TABLE_OF(struct step) steps;
    TABLE_OF(struct step_touch) touches;
    TABLE_OF(uint32_t) last; /* by thread: its newest step, plus one */
    struct sorted live;      /* allocations: first byte -> place in `memories` */
    TABLE_OF(struct {
        uint64_t end;
        uint32_t uid;
    })
    memories;
    TABLE_OF(uint64_t) quick; /* ns plus one, by api * 2 + twin; 0: not looked up yet */
    TABLE_OF(struct kernel_touches) kernel_touches;
    struct id_map kernel_by_uid, own_by_thread;
    struct id_map of_host;   /* uids of memory that the host can touch, too */
    uint32_t streams;        /* numbers given to threads' own ones */
    uint64_t gpu, gpu_timed; /* steps with work for a device; of them, those with a time */
    bool joined;             /* there was work on blocking streams: the legacy stream and they waited for each other */
    bool meets_often;        /* most threads were in copies that met others' again and again */
    bool too_many, out_of_memory;
};

enum { RECORDED_MOST = 4000000 }; /* steps; a longer run is not replayed */
enum { RECORDED_OWN = 1 << 20 };  /* threads' own streams are numbered from here on: the model's slots are below */

/* `watch` of report_build_watched. */
void recorded_begin(struct recorded *recorded);
void recorded_end(struct recorded *recorded);

#ifdef __cplusplus
}
#endif
#endif

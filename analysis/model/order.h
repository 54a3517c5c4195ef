/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operations of a trace come before which. There are three such orders, over the same operations:
 *
 *   ORDER_EXPLICIT  what the program wrote down: each stream in turn, events and waits for them, and what a thread waited
 * for before it went on.
 *
 *   ORDER_LEGACY    the same and the legacy stream's implicit order, on the streams that the program named. This is what
 * the program has without the shim.
 *
 *   ORDER_REAL      the same as ORDER_LEGACY, but on the streams that the work was sent to. This is what the GPU did.
 *
 * Implicit order: the legacy stream waits for all blocking and per-thread streams of its context, and they wait for it.
 * Non-blocking streams don't. A stream of a kind that the trace does not tell is taken for a non-blocking one: an order may
 * lack something that is true, and never has something that is not.
 */
#ifndef PTDS_ANALYSIS_MODEL_ORDER_H
#define PTDS_ANALYSIS_MODEL_ORDER_H

#include "analysis/base/clock.h"
#include "analysis/base/table.h"
#include "interpose/trace/format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum order_kind { ORDER_EXPLICIT, ORDER_LEGACY, ORDER_REAL, ORDER_COUNT };

/* How a stream takes part. */
enum order_role { ORDER_ROLE_NONE, ORDER_ROLE_LEGACY, ORDER_ROLE_BLOCKING };

struct order_stream {
    struct vclock clock;    /* of its last operation */
    uint64_t last;          /* that operation */
    uint64_t joined_legacy; /* the legacy operation that is already in `clock` */
    uint64_t host_version;
    uint32_t host_thread; /* whose knowledge, at host_version, is already in `clock` */
    uint32_t context;
    enum order_role role;
    bool dirty; /* has operations that the legacy stream has not joined */
};

struct order_context {
    TABLE_OF(uint32_t) dirty; /* slots */
    TABLE_OF(uint32_t) slots; /* all ever used in this context */
    uint32_t legacy;          /* slot + 1 of the legacy stream, 0: none yet */
};

struct order_host {
    struct vclock clock; /* what the thread knows to be complete */
    uint64_t version;
};

struct order_event {
    struct vclock clock;
    uint32_t generation;
};

struct order {
    bool implicit;
    TABLE_OF(struct order_stream) streams;   /* by slot */
    TABLE_OF(struct order_context) contexts; /* by context position */
    TABLE_OF(struct order_host) hosts;       /* by thread position */
    TABLE_OF(struct order_event) events;     /* live ones, and free places */
    TABLE_OF(uint32_t) free_events;
    struct id_map event_by_uid;
    uint64_t unknown_generations; /* waits for a recording that the trace does not hold; they order nothing */
};

/* A stream begins to use a slot. False without memory. */
bool order_open(struct order *order, uint32_t slot, uint32_t context, enum order_role role);

/* The stream is gone and its work done: the slot may serve another. */
void order_close(struct order *order, uint32_t slot);

/* What the stream's next operation comes after: what thread position `thread` knows, and the implicit edges. */
void order_join(struct order *order, uint32_t slot, uint32_t thread);

/* Whether that is in the stream's clock already. */
static inline bool order_joined(const struct order *order, const struct order_stream *stream, uint32_t thread)
{
    if (thread >= order->hosts.count || stream->host_thread != thread ||
        stream->host_version != order->hosts.items[thread].version)
        return false;
    const struct order_context *context = &order->contexts.items[stream->context];
    if (!order->implicit || stream->role == ORDER_ROLE_NONE)
        return true;
    if (stream->role == ORDER_ROLE_LEGACY)
        return context->dirty.count == 0;
    return stream->dirty &&
           (context->legacy == 0 || order->streams.items[context->legacy - 1].last == stream->joined_legacy);
}

/* Operation `op` (rising) on `slot`, issued by host thread position `thread`. */
static inline void order_submit(struct order *order, uint32_t slot, uint32_t thread, uint64_t op)
{
    struct order_stream *stream = &order->streams.items[slot];
    if (!order_joined(order, stream, thread))
        order_join(order, slot, thread);
    stream->last = op;
    vclock_raise(&stream->clock, slot, op);
}

/* The event gets its generation from the stream's last operation (submit the record itself first). */
void order_record(struct order *order, uint32_t event, uint32_t generation, uint32_t slot);

/* What an event stands for at this generation: NULL if it stands for nothing or the trace holds no such recording. */
const struct vclock *order_event_clock(const struct order *order, uint32_t event, uint32_t generation);

/* The stream's next operations come after the event. Submit the wait itself after this. */
void order_wait(struct order *order, uint32_t slot, uint32_t event, uint32_t generation);
void order_forget_event(struct order *order, uint32_t event);

/* Everything that waiting for the stream covers, joined into `out`: with implicit edges a wait for the legacy stream covers
 * the blocking ones too. */
void order_cover_stream(const struct order *order, uint32_t slot, struct vclock *out);
void order_cover_event(struct order *order, uint32_t event, uint32_t generation, struct vclock *out);
void order_cover_context(const struct order *order, uint32_t context, struct vclock *out);

/* The thread now knows all of `clock` to be complete. */
void order_host_knows(struct order *order, uint32_t thread, const struct vclock *clock);

/* Does operation `op` of `from` come before the last operation of `to`? */
bool order_before(const struct order *order, uint32_t from, uint64_t op, uint32_t to);

void order_free(struct order *order);

#ifdef __cplusplus
}
#endif
#endif

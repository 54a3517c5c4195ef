/* SPDX-License-Identifier: Apache-2.0
 *
 * Happens-before: which operations of a trace come before which, under one policy. Explicit order is what the program wrote
 * down: each stream in turn, events and waits for them, what a thread waited for before it went on. Implicit order is added
 * by what implicit_order.h says of each stream.
 *
 * Each stream has a vector clock: at[slot] is the last operation on that slot's stream that its own last operation comes
 * after. Operations are numbered by their calls, rising. Fed by model.c. Example: order/README.md.
 */
#ifndef PTDS_ANALYSIS_MODEL_ORDER_H
#define PTDS_ANALYSIS_MODEL_ORDER_H

#include "analysis/base/id_map.h"
#include "analysis/base/vclock.h"
#include "analysis/base/table.h"
#include "analysis/model/implicit_order.h"

#ifdef __cplusplus
extern "C" {
#endif

struct order_stream {
    struct vclock clock;    /* of its last operation */
    uint64_t last;          /* that operation */
    uint64_t joined_legacy; /* the legacy operation that is already in `clock` */
    uint64_t joined_news;   /* ... and how much of the context's news by then */
    uint64_t host_version;
    uint32_t host_thread; /* whose knowledge, at host_version, is already in `clock` */
    uint32_t context;
    enum order_role role;
    uint8_t joins, waits; /* implicit_order.h: after which roles its operations come, and a wait for it returns */
    bool open;
    bool dirty; /* it has operations that the legacy stream has not joined */
    bool knows; /* its clock has more than these operations and what the legacy stream's clock has */
};

/* News of a context: the streams of which the legacy stream's clock rose lately. A stream that joined the legacy stream
 * before them need not compare the other entries. */
enum { ORDER_NEWS = 64 };

struct order_context {
    uint32_t news[ORDER_NEWS]; /* slots; the last is at news_count - 1, modulo */
    uint64_t news_count;
    TABLE_OF(uint32_t) dirty; /* slots */
    TABLE_OF(uint32_t) slots; /* all ever used in this context */
    uint32_t legacy;          /* slot + 1 of the legacy stream, 0: none yet */
};

struct order_host {
    struct vclock clock; /* what the thread knows to be complete */
    uint64_t version;
    uint64_t told; /* the version that is already in the clock of the last stream it was told to, */
    uint32_t told_slot;
};

struct order_event {
    struct vclock clock;
    uint32_t generation;
};

/* The place of an event in every table of events, of all orders of a trace and of the verdicts. An event has a place from
 * its first record until it is destroyed. */
#define ORDER_NO_EVENT UINT32_MAX
struct order_events {
    struct id_map place_by_uid;
    struct id_map outside;   /* uids of those that another process may record, too */
    TABLE_OF(uint32_t) free; /* places below `count` */
    uint32_t count;
};
static inline uint32_t order_event_place(const struct order_events *events, uint32_t uid)
{
    uint32_t place;
    return id_map_get(&events->place_by_uid, uid, &place) ? place : ORDER_NO_EVENT;
}
/* Whether another process may have recorded it since the trace's last recording, or first: what a wait for it is behind,
 * the trace does not tell. */
static inline bool order_event_is_outside(const struct order_events *events, uint32_t uid)
{
    uint32_t ignored;
    return (events->outside.used | events->outside.small_room) != 0 && id_map_get(&events->outside, uid, &ignored);
}
uint32_t order_event_make(struct order_events *events, uint32_t uid); /* ORDER_NO_EVENT without memory */
/* Its place may serve another event: what tables have there must be cleared before. */
void order_event_drop(struct order_events *events, uint32_t uid);
void order_events_free(struct order_events *events);

struct order {
    unsigned policy;                         /* enum order_policy */
    TABLE_OF(struct order_stream) streams;   /* by slot */
    TABLE_OF(struct order_context) contexts; /* by context position */
    TABLE_OF(struct order_host) hosts;       /* by thread position */
    struct order_events *places;             /* of events, by uid */
    TABLE_OF(struct order_event) events;     /* by place; generation 0: not recorded in this order */
    uint64_t unknown_generations;            /* waits for a recording that the trace does not hold; they order nothing */
    struct vclock doubted; /* later operations may come after operations up to these without being known to */
};

/* A stream of the context (position) begins to use the slot. False without memory. */
bool order_open(struct order *order, uint32_t slot, uint32_t context, enum order_role role);

/* The stream is gone and its work done: the slot may serve another. */
void order_close(struct order *order, uint32_t slot);

/* Joins into the stream's clock what its next operation comes after: what thread position `thread` knows, and implicit
 * order. */
void order_join(struct order *order, uint32_t slot, uint32_t thread);

/* Whether implicit order has something new for the stream's next operation to come after. */
static inline bool order_has_new(const struct order *order, const struct order_stream *stream)
{
    if (stream->joins == 0)
        return false;
    const struct order_context *context = &order->contexts.items[stream->context];
    if (stream->role == ORDER_ROLE_LEGACY)
        return context->dirty.count != 0;
    return context->legacy != 0 && order->streams.items[context->legacy - 1].last > stream->joined_legacy;
}

/* Whether all that the thread knows is in the stream's clock already. Several threads may use a stream by turns. */
static inline bool order_told(const struct order_stream *stream, uint32_t slot, const struct order_host *host,
                              uint32_t thread)
{
    return (stream->host_thread == thread && stream->host_version == host->version) ||
           (host->told_slot == slot && host->told == host->version);
}

/* Whether all that order_join would add is in the stream's clock already. */
static inline bool order_joined(const struct order *order, uint32_t slot, uint32_t thread)
{
    const struct order_stream *stream = &order->streams.items[slot];
    return thread < order->hosts.count && order_told(stream, slot, &order->hosts.items[thread], thread) &&
           (stream->joins == 0 || stream->role == ORDER_ROLE_LEGACY || stream->dirty) && !order_has_new(order, stream);
}

/* Operation `op` (rising) on `slot`, issued by host thread position `thread`. */
static inline void order_submit(struct order *order, uint32_t slot, uint32_t thread, uint64_t op)
{
    struct order_stream *stream = &order->streams.items[slot];
    if (!order_joined(order, slot, thread))
        order_join(order, slot, thread);
    stream->last = op;
    vclock_raise(&stream->clock, slot, op);
}

/* The event's recording of this generation stands for the stream's clock. Submit the record itself first. */
void order_record(struct order *order, uint32_t event, uint32_t generation, uint32_t slot);

/* What the event's recording of this generation stands for; NULL: for nothing, or the trace does not tell. */
const struct vclock *order_event_clock(const struct order *order, uint32_t event, uint32_t generation);

/* The stream's next operations come after the event. Submit the wait itself after this. */
void order_wait(struct order *order, uint32_t slot, uint32_t event, uint32_t generation);
void order_forget_event(struct order *order, uint32_t event);

/* Joined into `out`: what an operation that is submitted to the stream now would come after (but for what its thread
 * knows), or what is done when a wait for the stream returns. */
void order_cover_stream(const struct order *order, uint32_t slot, enum order_act act, struct vclock *out);
/* The same for an event: nothing, where the trace holds no such recording. */
void order_cover_event(const struct order *order, uint32_t event, uint32_t generation, struct vclock *out);
void order_cover_context(const struct order *order, uint32_t context, struct vclock *out);

void order_cover_host(const struct order *order, uint32_t thread, struct vclock *out); /* joins what the thread knows */

/* Stream `waits` comes after what was on `behind` up to operation `upto`. What that came after in turn is known only if it
 * is the last there; else it is in doubt. */
void order_wait_stream(struct order *order, uint32_t waits, uint32_t behind, uint64_t upto);
/* The stream's next operation comes after all of `clock`. */
void order_come_after(struct order *order, uint32_t slot, const struct vclock *clock);
/* A wait for a recording without a clock (order_event_clock). Unless that is known to stand for nothing, all is in doubt.
 */
void order_doubt_event(struct order *order, uint32_t event, uint32_t generation);
/* A stream or the host waits for other streams, and which ones is not known. */
void order_doubt_all(struct order *order);

/* The thread now knows all of `clock` to be complete. */
void order_host_knows(struct order *order, uint32_t thread, const struct vclock *clock);

/* Does operation `op` of `from` come before the last operation of `to`? */
bool order_before(const struct order *order, uint32_t from, uint64_t op, uint32_t to);

void order_free(struct order *order);

#ifdef __cplusplus
}
#endif
#endif

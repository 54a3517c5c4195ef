/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of order.h as vector clocks. Called by model.c and model_orders.c, once or twice an operation. Implicit order
 * costs something only where there is news: streams without new operations since the last legacy operation are not looked
 * at, nor are the entries of the legacy stream's clock that did not rise. So a clock may rise by other than implicit order
 * only in come_after.
 */
#include "analysis/model/order.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"

static struct order_host *host_of(struct order *order, uint32_t thread)
{
    void *grown = table_grow(order->hosts.items, &order->hosts.room, (size_t)thread + 1, sizeof *order->hosts.items);
    if (grown == NULL)
        return NULL;
    order->hosts.items = grown;
    if (order->hosts.count <= thread)
        order->hosts.count = (size_t)thread + 1;
    return &order->hosts.items[thread];
}

static struct order_context *context_of(struct order *order, uint32_t context)
{
    void *grown =
        table_grow(order->contexts.items, &order->contexts.room, (size_t)context + 1, sizeof *order->contexts.items);
    if (grown == NULL)
        return NULL;
    order->contexts.items = grown;
    if (order->contexts.count <= context)
        order->contexts.count = (size_t)context + 1;
    return &order->contexts.items[context];
}

/* The legacy stream is new: no stream has joined it, and it has joined none. */
static void become_legacy(struct order *order, struct order_context *context, uint32_t slot)
{
    context->legacy = slot + 1;
    context->news_count += ORDER_NEWS + 1;
    for (size_t i = 0; i < context->slots.count; i++)
        order->streams.items[context->slots.items[i]].knows = true;
}

static void add_news(struct order_context *context, uint32_t slot)
{
    context->news[context->news_count++ % ORDER_NEWS] = slot;
}

static void learn_all(struct order_context *context, struct order_stream *legacy, const struct vclock *clock)
{
    for (uint32_t slot = 0; slot < clock->room; slot++)
        if (clock->at[slot] > vclock_get(&legacy->clock, slot))
            add_news(context, slot);
    vclock_join(&legacy->clock, clock);
}

/* The stream comes after `clock` by explicit order. */
static void come_after(struct order *order, uint32_t slot, const struct vclock *clock)
{
    struct order_stream *stream = &order->streams.items[slot];
    struct order_context *context = &order->contexts.items[stream->context];
    if (clock->room == 0)
        return;
    stream->knows = true;
    if (context->legacy == slot + 1)
        learn_all(context, stream, clock);
    else
        vclock_join(&stream->clock, clock);
}

bool order_open(struct order *order, uint32_t slot, uint32_t context, enum order_role role)
{
    void *grown = table_grow(order->streams.items, &order->streams.room, (size_t)slot + 1, sizeof *order->streams.items);
    if (grown == NULL)
        return false;
    order->streams.items = grown;
    struct order_context *in = context_of(order, context);
    if (in == NULL || !TABLE_ADD(&in->slots))
        return false;
    for (size_t i = 0; i < order->hosts.count; i++) /* no thread has told this stream anything */
        if (order->hosts.items[i].told_slot == slot)
            order->hosts.items[i].told = 0;
    *TABLE_LAST(&in->slots) = slot;
    if (order->streams.count <= slot)
        order->streams.count = (size_t)slot + 1;
    struct order_call call = {.named = role, .sent = role, .stays = true}; /* of work on this stream */
    struct order_stream *stream = &order->streams.items[slot];
    *stream = (struct order_stream){.context = context, .role = role, .open = true};
    stream->joins = (uint8_t)implicit_order_under(order->policy, &call).after;
    call.act = ORDER_WAITS;
    stream->waits = (uint8_t)implicit_order_under(order->policy, &call).after;
    if (role == ORDER_ROLE_LEGACY)
        become_legacy(order, in, slot);
    return true;
}

void order_close(struct order *order, uint32_t slot)
{
    if (slot >= order->streams.count || !order->streams.items[slot].open)
        return;
    struct order_stream *stream = &order->streams.items[slot];
    struct order_context *in = &order->contexts.items[stream->context];
    for (size_t i = 0; i < in->dirty.count; i++)
        if (in->dirty.items[i] == slot)
            in->dirty.items[i] = in->dirty.items[--in->dirty.count];
    for (size_t i = 0; i < in->slots.count; i++)
        if (in->slots.items[i] == slot)
            in->slots.items[i] = in->slots.items[--in->slots.count];
    if (in->legacy == slot + 1)
        in->legacy = 0;
    vclock_free(&stream->clock);
    *stream = (struct order_stream){0};
}

static void join_dirty(const struct order *order, const struct order_context *context, struct vclock *into)
{
    for (size_t i = 0; i < context->dirty.count; i++)
        vclock_join(into, &order->streams.items[context->dirty.items[i]].clock);
}

/* `joined` knows nothing that the legacy stream does not, but for its own operations. */
static void join_stream(struct order_context *context, struct order_stream *legacy, struct order_stream *joined,
                        uint32_t slot)
{
    if (joined->knows || legacy->clock.room < joined->clock.room) {
        learn_all(context, legacy, &joined->clock);
    } else {
        vclock_raise(&legacy->clock, slot, joined->last);
        add_news(context, slot);
    }
    joined->knows = false;
}

static void enter_legacy(struct order *order, struct order_context *context, struct order_stream *stream, uint32_t slot)
{
    bool known = context->legacy == slot + 1; /* else there are two legacy streams, and the other one has the news */
    for (size_t i = 0; i < context->dirty.count; i++) {
        struct order_stream *dirty = &order->streams.items[context->dirty.items[i]];
        if (known) {
            join_stream(context, stream, dirty, context->dirty.items[i]);
        } else {
            vclock_join(&stream->clock, &dirty->clock);
            dirty->knows = true;
        }
        dirty->dirty = false;
    }
    context->dirty.count = 0;
}

static void join_legacy(const struct order_context *context, const struct order_stream *legacy, struct order_stream *stream)
{
    uint64_t news = context->news_count - stream->joined_news;
    if (news > ORDER_NEWS || stream->clock.room < legacy->clock.room) {
        vclock_join(&stream->clock, &legacy->clock);
        return;
    }
    for (uint64_t i = stream->joined_news; i < context->news_count; i++) {
        uint32_t slot = context->news[i % ORDER_NEWS];
        vclock_raise(&stream->clock, slot, vclock_get(&legacy->clock, slot));
    }
    vclock_raise(&stream->clock, context->legacy - 1, legacy->last);
}

static void enter_blocking(struct order *order, struct order_context *context, struct order_stream *stream, uint32_t slot)
{
    if (context->legacy != 0) {
        const struct order_stream *legacy = &order->streams.items[context->legacy - 1];
        if (legacy->last > stream->joined_legacy) {
            join_legacy(context, legacy, stream);
            stream->joined_news = context->news_count;
        }
        stream->joined_legacy = legacy->last;
    }
    if (!stream->dirty && TABLE_ADD(&context->dirty)) {
        *TABLE_LAST(&context->dirty) = slot;
        stream->dirty = true;
    }
}

void order_join(struct order *order, uint32_t slot, uint32_t thread)
{
    struct order_stream *stream = &order->streams.items[slot];
    struct order_context *context = &order->contexts.items[stream->context];
    struct order_host *host = host_of(order, thread);
    if (host != NULL && !order_told(stream, slot, host, thread)) {
        come_after(order, slot, &host->clock);
        stream->host_thread = thread;
        stream->host_version = host->told = host->version;
        host->told_slot = slot;
    }
    if (stream->joins & ORDER_OF(ORDER_ROLE_BLOCKING))
        enter_legacy(order, context, stream, slot);
    else if (stream->joins & ORDER_OF(ORDER_ROLE_LEGACY))
        enter_blocking(order, context, stream, slot);
}

uint32_t order_event_make(struct order_events *events, uint32_t uid)
{
    uint32_t place = order_event_place(events, uid);
    if (place != ORDER_NO_EVENT)
        return place;
    place = events->free.count != 0 ? *TABLE_LAST(&events->free) : events->count;
    if (!id_map_put(&events->place_by_uid, uid, place))
        return ORDER_NO_EVENT;
    if (events->free.count != 0)
        events->free.count--;
    else
        events->count++;
    return place;
}

void order_event_drop(struct order_events *events, uint32_t uid)
{
    uint32_t place = order_event_place(events, uid);
    if (place == ORDER_NO_EVENT)
        return;
    id_map_remove(&events->place_by_uid, uid);
    if (TABLE_ADD(&events->free))
        *TABLE_LAST(&events->free) = place;
}

void order_events_free(struct order_events *events)
{
    id_map_free(&events->place_by_uid);
    id_map_free(&events->outside);
    free(events->free.items);
    *events = (struct order_events){0};
}

static struct order_event *event_of(const struct order *order, uint32_t event)
{
    uint32_t place = order_event_place(order->places, event);
    return place < order->events.count ? &order->events.items[place] : NULL;
}

static struct order_event *event_at(struct order *order, uint32_t place)
{
    void *grown = place != ORDER_NO_EVENT
                      ? table_grow(order->events.items, &order->events.room, (size_t)place + 1, sizeof *order->events.items)
                      : NULL;
    if (grown == NULL)
        return NULL;
    order->events.items = grown;
    if (order->events.count <= place)
        order->events.count = (size_t)place + 1;
    return &order->events.items[place];
}

void order_record(struct order *order, uint32_t event, uint32_t generation, uint32_t slot)
{
    struct order_event *found = event_at(order, order_event_make(order->places, event));
    if (found == NULL)
        return;
    vclock_copy(&found->clock, &order->streams.items[slot].clock);
    found->generation = generation;
}

const struct vclock *order_event_clock(const struct order *order, uint32_t event, uint32_t generation)
{
    const struct order_event *found = event_of(order, event);
    bool is_there = generation != 0 && found != NULL && found->generation == generation;
    return is_there && !order_event_is_outside(order->places, event) ? &found->clock : NULL;
}

void order_cover_event(const struct order *order, uint32_t event, uint32_t generation, struct vclock *out)
{
    const struct vclock *clock = order_event_clock(order, event, generation);
    if (clock != NULL)
        vclock_join(out, clock);
}

/* Generation 0 was never recorded; the driver treats that as complete. Any other recording is of work that is there by now.
 */
void order_doubt_event(struct order *order, uint32_t event, uint32_t generation)
{
    bool outside = order_event_is_outside(order->places, event);
    if (generation == 0 && !outside)
        return;
    order->unknown_generations += !outside;
    order_doubt_all(order);
}

void order_wait(struct order *order, uint32_t slot, uint32_t event, uint32_t generation)
{
    const struct vclock *clock = order_event_clock(order, event, generation);
    if (clock != NULL)
        come_after(order, slot, clock);
    else
        order_doubt_event(order, event, generation);
}

void order_wait_stream(struct order *order, uint32_t waits, uint32_t behind, uint64_t upto)
{
    struct vclock covered = {0};
    order_cover_stream(order, behind, ORDER_WAITS, &covered);
    if (order->streams.items[behind].last <= upto) {
        come_after(order, waits, &covered);
    } else {
        struct vclock known = {0};
        vclock_raise(&known, behind, upto);
        come_after(order, waits, &known);
        vclock_free(&known);
        if (behind < covered.room) /* else there was no memory */
            covered.at[behind] = 0;
        vclock_join(&order->doubted, &covered);
    }
    vclock_free(&covered);
}

void order_come_after(struct order *order, uint32_t slot, const struct vclock *clock)
{
    come_after(order, slot, clock);
}

void order_doubt_all(struct order *order)
{
    for (uint32_t slot = 0; slot < order->streams.count; slot++)
        vclock_raise(&order->doubted, slot, order->streams.items[slot].last);
}

void order_forget_event(struct order *order, uint32_t event)
{
    struct order_event *found = event_of(order, event);
    if (found == NULL)
        return;
    vclock_free(&found->clock);
    found->generation = 0;
}

void order_cover_stream(const struct order *order, uint32_t slot, enum order_act act, struct vclock *out)
{
    const struct order_stream *stream = &order->streams.items[slot];
    const struct order_context *context = &order->contexts.items[stream->context];
    unsigned roles = act == ORDER_SUBMITS ? stream->joins : stream->waits;
    vclock_join(out, &stream->clock);
    if (roles & ORDER_OF(ORDER_ROLE_BLOCKING))
        join_dirty(order, context, out);
    if ((roles & ORDER_OF(ORDER_ROLE_LEGACY)) && context->legacy != 0 && context->legacy != slot + 1)
        vclock_join(out, &order->streams.items[context->legacy - 1].clock);
}

void order_cover_context(const struct order *order, uint32_t context, struct vclock *out)
{
    if (context >= order->contexts.count)
        return;
    const struct order_context *in = &order->contexts.items[context];
    for (size_t i = 0; i < in->slots.count; i++)
        vclock_raise(out, in->slots.items[i], order->streams.items[in->slots.items[i]].last);
}

void order_cover_host(const struct order *order, uint32_t thread, struct vclock *out)
{
    if (thread < order->hosts.count)
        vclock_join(out, &order->hosts.items[thread].clock);
}

void order_host_knows(struct order *order, uint32_t thread, const struct vclock *clock)
{
    struct order_host *host = host_of(order, thread);
    if (host == NULL)
        return;
    vclock_join(&host->clock, clock);
    host->version++;
}

bool order_before(const struct order *order, uint32_t from, uint64_t op, uint32_t to)
{
    return to < order->streams.count && vclock_get(&order->streams.items[to].clock, from) >= op;
}

void order_free(struct order *order)
{
    for (size_t i = 0; i < order->streams.count; i++)
        vclock_free(&order->streams.items[i].clock);
    for (size_t i = 0; i < order->contexts.count; i++) {
        free(order->contexts.items[i].dirty.items);
        free(order->contexts.items[i].slots.items);
    }
    for (size_t i = 0; i < order->hosts.count; i++)
        vclock_free(&order->hosts.items[i].clock);
    for (size_t i = 0; i < order->events.count; i++)
        vclock_free(&order->events.items[i].clock);
    free(order->streams.items);
    free(order->contexts.items);
    free(order->hosts.items);
    free(order->events.items);
    vclock_free(&order->doubted);
    *order = (struct order){.policy = order->policy, .places = order->places};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What this run's policy did with legacy's orders. Two questions: whether the policy promises them all (then nobody asks
 * further), and else whether a pair is in order all the same, on the streams that the work was really sent to: program
 * order, events, the real legacy stream's implicit edges, host waits, and the waits that the shim put there (EDGE records).
 * Called by verdict.c for each call, and by whoever found a pair that legacy ordered. Must never call an order gone that
 * may have been kept: where it does not know, it was.
 *
 * The order is one of model/order.h; its operations are numbered by the ticks of their calls, plus one.
 */
#include "analysis/order/engine.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_STREAMS_MOST = 1024, THE_HOST = 0 };

bool kept_begin(struct verdicts *v)
{
    bool promised = definitions_keep_order(&v->trace->defs);
    bool takes = !promised && (v->trace->flags & PTDS_CALL_REMAPPED), overtakes = !promised && v->trace->from_pinned;
    if (!takes && !overtakes)
        return true;
    v->kept = calloc(1, sizeof *v->kept);
    if (v->kept == NULL)
        return false;
    v->kept->takes = takes;
    v->kept->overtakes = overtakes;
    v->kept->real.implicit = true;
    return true;
}

void kept_end(struct verdicts *v)
{
    if (v->kept == NULL)
        return;
    order_free(&v->kept->real);
    order_free(&v->kept->asked);
    id_map_free(&v->kept->slot_by_uid);
    free(v->kept->streams.items);
    free(v->kept);
}

/* Those that are kept, one after the other; NULL after the last. */
static struct order *next_order(struct kept *kept, const struct order *last)
{
    if (last == NULL && kept->takes)
        return &kept->real;
    return last != &kept->asked && kept->overtakes ? &kept->asked : NULL;
}

static const struct order *any_order(const struct kept *kept)
{
    return kept->takes ? &kept->real : &kept->asked;
}

/* A stream that is gone and whose work everybody knows to be done. */
static uint32_t idle_slot(const struct kept *kept, uint64_t ticks)
{
    const struct order *real = any_order(kept);
    for (uint32_t i = 0; i < kept->streams.count; i++)
        if (kept->streams.items[i].ended < ticks && real->hosts.count != 0 &&
            vclock_get(&real->hosts.items[THE_HOST].clock, i) >= real->streams.items[i].last)
            return i;
    return NO_LANE;
}

static uint32_t open_slot(struct verdicts *v, const struct call *call, uint32_t uid)
{
    struct kept *kept = v->kept;
    const struct stream_def *def = definitions_stream(&v->trace->defs, uid);
    uint32_t context = lanes_context(v, def != NULL && def->context != 0 ? def->context : call->r.context);
    uint32_t slot = kept->streams.count % 16 == 0 ? idle_slot(kept, call->r.enter) : NO_LANE;
    if (slot != NO_LANE) {
        id_map_remove(&kept->slot_by_uid, kept->streams.items[slot].uid);
        memset(kept->lately, 0, sizeof kept->lately);
        for (struct order *order = next_order(kept, NULL); order != NULL; order = next_order(kept, order))
            order_close(order, slot);
    } else if (kept->streams.count < KEPT_STREAMS_MOST && TABLE_ADD(&kept->streams)) {
        slot = (uint32_t)kept->streams.count - 1;
    }
    if (slot == NO_LANE || context == NO_LANE)
        return NO_LANE;
    kept->streams.items[slot] = (struct kept_stream){
        .uid = uid,
        .ended = def != NULL ? def->ended : UINT64_MAX,
        .sure = def != NULL && def->kind != PTDS_STREAM_UNKNOWN,
    };
    enum order_role role = def != NULL ? model_role(def->kind) : ORDER_ROLE_NONE;
    bool opened = id_map_put(&kept->slot_by_uid, uid, slot);
    for (struct order *order = next_order(kept, NULL); order != NULL; order = next_order(kept, order))
        opened &= order_open(order, slot, context, role);
    return opened ? slot : NO_LANE;
}

static uint32_t find_slot(const struct kept *kept, uint32_t uid)
{
    uint32_t slot;
    return uid != 0 && id_map_get(&kept->slot_by_uid, uid, &slot) ? slot : NO_LANE;
}

static uint32_t slot_of(struct verdicts *v, const struct call *call, uint32_t uid)
{
    struct kept_lately *lately = &v->kept->lately[uid % 16];
    if (uid != 0 && lately->uid == uid)
        return lately->slot;
    uint32_t slot = find_slot(v->kept, uid);
    if (slot == NO_LANE && uid != 0)
        slot = open_slot(v, call, uid);
    v->kept->unsure |= slot == NO_LANE && uid != 0;
    if (slot != NO_LANE)
        *lately = (struct kept_lately){uid, slot};
    return slot;
}

static uint32_t target_of(const struct call *call)
{
    return call->r.target != 0 || (call->r.flags & PTDS_CALL_REMAPPED) ? call->r.target : call->r.stream;
}

/* All that the other stream's work may have come after, as far as it was put there before `until`: rather too much. */
static void join_edge(struct verdicts *v, struct order *order, const struct call *call, const struct ptds_rec_EDGE *edge)
{
    uint32_t waits = slot_of(v, call, edge->waits), behind = slot_of(v, call, edge->behind);
    uint64_t until = edge->until != 0 ? edge->until : call->r.enter;
    struct vclock covered = {0};
    if (waits == NO_LANE || behind == NO_LANE)
        return;
    order_cover_stream(order, behind, &covered);
    for (uint32_t i = 0; i < covered.room; i++)
        covered.at[i] = covered.at[i] <= until ? covered.at[i] : until;
    if (!vclock_join(&order->streams.items[waits].clock, &covered))
        v->kept->unsure = true;
    vclock_free(&covered);
}

/* More waits than the reader keeps. */
static void join_all(struct verdicts *v, struct order *order, uint32_t waits)
{
    for (uint32_t i = 0; waits != NO_LANE && i < order->streams.count; i++)
        if (i != waits && !vclock_join(&order->streams.items[waits].clock, &order->streams.items[i].clock))
            v->kept->unsure = true;
}

static void submit_to(struct verdicts *v, struct order *order, const struct call_view *view, uint32_t slot)
{
    const struct call *call = view->call;
    for (uint32_t i = 0; i < call->edges && i < CALL_EDGES; i++)
        join_edge(v, order, call, &call->edge[i]);
    if (call->edges > CALL_EDGES)
        join_all(v, order, slot);
    if (!view->submits || slot == NO_LANE)
        return;
    if (call->r.op == PTDS_OP_EVENT_WAIT)
        order_wait(order, slot, call->r.object, call->r.generation);
    order_submit(order, slot, THE_HOST, call->r.enter + 1);
    if (call->r.op == PTDS_OP_EVENT_RECORD)
        order_record(order, call->r.object, call->r.generation, slot);
}

void kept_submit(struct verdicts *v, const struct call_view *view)
{
    if (!view->submits && view->call->edges == 0)
        return;
    uint32_t slot = slot_of(v, view->call, target_of(view->call));
    for (struct order *order = next_order(v->kept, NULL); order != NULL; order = next_order(v->kept, order))
        submit_to(v, order, view, slot);
}

static void cover(struct verdicts *v, struct order *order, const struct call_view *view, struct vclock *out)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint32_t slot, context;
    switch (view->scope) {
    case WAIT_STREAM: /* the legacy stream waits for others, used or not */
        slot = slot_of(v, view->call, target_of(view->call));
        if (slot != NO_LANE)
            order_cover_stream(order, slot, out);
        break;
    case WAIT_EVENT: order_cover_event(order, call->object, call->generation, out); break;
    case WAIT_CONTEXT:
        context = lanes_context(v, call->context);
        if (context != NO_LANE)
            order_cover_context(order, context, out);
        break;
    case WAIT_NONE: break;
    }
}

void kept_cover(struct verdicts *v, const struct call_view *view, struct cover *out)
{
    if (v->kept->takes)
        cover(v, &v->kept->real, view, &out->real);
    if (v->kept->overtakes)
        cover(v, &v->kept->asked, view, &out->asked);
}

void kept_learn(struct verdicts *v, const struct cover *cover)
{
    if (v->kept->takes)
        order_host_knows(&v->kept->real, THE_HOST, &cover->real);
    if (v->kept->overtakes)
        order_host_knows(&v->kept->asked, THE_HOST, &cover->asked);
}

static bool comes_after(const struct order *order, uint32_t first, uint32_t second, const struct vclock *covered,
                        uint64_t ticks)
{
    uint64_t known = order->hosts.count != 0 ? vclock_get(&order->hosts.items[THE_HOST].clock, first) : 0;
    if (covered != NULL)
        known = larger(known, vclock_get(covered, first));
    else if (second != NO_LANE)
        known = larger(known, vclock_get(&order->streams.items[second].clock, first));
    return known > ticks;
}

/* Forgotten, so it was done by then; or nobody knows. */
static bool can_tell(const struct kept *kept, uint32_t slot)
{
    return slot != NO_LANE && kept->streams.items[slot].sure;
}

bool kept_is_given_up(const struct verdicts *v, const struct edge_end *first, const struct cover *cover)
{
    const struct kept *kept = v->kept;
    if (kept == NULL || !kept->takes || kept->unsure || kept->real.unknown_generations != 0)
        return false;
    uint32_t slot = find_slot(kept, first->target), second = cover == NULL ? find_slot(kept, v->end->target) : NO_LANE;
    return can_tell(kept, slot) && (second == NO_LANE || kept->streams.items[second].sure) &&
           !comes_after(&kept->real, slot, second, cover != NULL ? &cover->real : NULL, first->ticks);
}

bool kept_by_nothing_asked(const struct verdicts *v, const struct edge_end *first)
{
    const struct kept *kept = v->kept;
    if (kept == NULL || !kept->overtakes || kept->unsure || kept->asked.unknown_generations != 0)
        return false;
    uint32_t slot = find_slot(kept, first->target), second = find_slot(kept, v->end->target);
    return can_tell(kept, slot) && can_tell(kept, second) && !comes_after(&kept->asked, slot, second, NULL, first->ticks);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens and closes strands, and keeps the lists of a context's strands. Called for each new class of calls, and by the
 * files that go through a group. A strand's place is reused only when no later call can conflict with its operations. Ids
 * are the trace's and are mapped, never used as indices. Nothing here but opening and closing may take time by the number
 * of strands.
 */
#include "analysis/order/strands/strands.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/model/model_slots.h"
#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/fan_ins.h"
#include "analysis/order/strands/forgotten.h"
#include "analysis/order/strands/groups.h"
#include "analysis/order/strands/opaque_strands.h"
#include "analysis/order/strands/open_edges.h"

uint32_t strands_context(struct verdicts *v, uint32_t uid)
{
    uint32_t at;
    if (!model_slots_context(v->model, uid, &at))
        return NO_STRAND;
    void *grown = table_grow(v->contexts.items, &v->contexts.room, (size_t)at + 1, sizeof *v->contexts.items);
    if (grown == NULL)
        return NO_STRAND;
    v->contexts.items = grown;
    for (; v->contexts.count <= at; v->contexts.count++)
        v->contexts.items[v->contexts.count] =
            (struct context){.queue = NO_STRAND, .legacy.newest = NO_STRAND, .blocking.newest = NO_STRAND};
    return at;
}

#define LIST_DROP(list, value) \
    do { \
        for (size_t i_ = 0; i_ < (list)->count; i_++) \
            if ((list)->items[i_] == (value)) \
                (list)->items[i_--] = (list)->items[--(list)->count]; \
    } while (0)

static void unlink_strand(struct verdicts *v, struct strand_list *list, const struct strand *strand)
{
    *(strand->newer != NO_STRAND ? &strands_at(v, strand->newer)->older : &list->newest) = strand->older;
    if (strand->older != NO_STRAND)
        strands_at(v, strand->older)->newer = strand->newer;
}

static void link_newest(struct verdicts *v, struct strand_list *list, uint32_t at)
{
    struct strand *strand = strands_at(v, at);
    strand->newer = NO_STRAND;
    strand->older = list->newest;
    if (list->newest != NO_STRAND)
        strands_at(v, list->newest)->newer = at;
    list->newest = at;
}

static bool is_in(const struct strand_list *list, const struct strand *strand, uint32_t at)
{
    return strand->rank < list->count && list->items[strand->rank] == at;
}

void strands_be_newest(struct verdicts *v, struct strand_list *list, uint32_t at)
{
    const struct strand *strand = strands_at(v, at);
    if (list->newest == at || !is_in(list, strand, at))
        return;
    unlink_strand(v, list, strand);
    link_newest(v, list, at);
}

void strands_recent(const struct verdicts *v, const struct strand_list *list, uint64_t since, struct recent *out)
{
    const struct strand *strand;
    size_t count = 0;
    out->items = list->items;
    out->count = list->count;
    for (uint32_t at = list->newest; at != NO_STRAND; at = strand->older) {
        strand = strands_at(v, at);
        if (strand->last == 0)
            continue; /* the strand is new, and the call at hand is its first operation */
        if (strand->last <= since)
            break;
        if (count == RECENT_MOST)
            return;
        size_t place = count++;
        for (; place != 0 && out->few[place - 1] > strand->rank; place--)
            out->few[place] = out->few[place - 1];
        out->few[place] = strand->rank;
    }
    for (size_t i = 0; i < count; i++)
        out->few[i] = list->items[out->few[i]];
    out->items = out->few;
    out->count = count;
}

static void leave_list(struct verdicts *v, struct strand_list *list, uint32_t at)
{
    const struct strand *strand = strands_at(v, at);
    if (!is_in(list, strand, at))
        return;
    unlink_strand(v, list, strand);
    list->items[strand->rank] = list->items[--list->count];
    strands_at(v, list->items[strand->rank])->rank = strand->rank;
}

static bool join_list(struct verdicts *v, struct strand_list *list, uint32_t at)
{
    if (!TABLE_ADD(list))
        return false;
    strands_at(v, at)->rank = (uint32_t)list->count - 1;
    *TABLE_LAST(list) = at;
    link_newest(v, list, at);
    return true;
}

static void free_strand(struct verdicts *v, struct strand *strand)
{
    for (uint32_t about = 0; about < strand->arrivals_room; about++) {
        forgotten_limit(v, &strand->arrivals[about], about);
        for (uint32_t i = 0; i < strand->arrivals[about].count; i++)
            open_edges_drop(v, arrivals_items(&strand->arrivals[about])[i].edge);
        if (strand->arrivals[about].room > 1)
            free(strand->arrivals[about].many);
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        free(strand->access[i].items);
        free(strand->opaque[i].items);
    }
    groups_free(v, strand);
    fan_ins_free(v, strand);
    free(strand->arrivals);
    free(strand->settled_ways);
    free(strand->forgotten.items);
    vclock_free(&strand->expl);
    vclock_free(&strand->full);
    vclock_free(&strand->grown);
    *strand = (struct strand){.group = NO_GROUP};
}

void strands_close(struct verdicts *v, uint32_t at)
{
    struct strand *strand = strands_at(v, at);
    struct context *context = &v->contexts.items[strand->context];
    LIST_DROP(&context->all, at);
    leave_list(v, &context->legacy, at);
    leave_list(v, &context->blocking, at);
    if (strand->is_opaque)
        opaque_strands_close(v, at);
    if (context->queue == at)
        context->queue = NO_STRAND;
    id_map_remove(&v->strand_by_key, strand->key);
    memset(v->alike, 0, sizeof v->alike);
    forgotten_limit_all(v, at);
    free_strand(v, strand);
}

static bool remembers(const struct verdicts *v, const struct strand *strand)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    for (uint32_t about = 0; about < strand->arrivals_room; about++) {
        struct arrival_list *list = &strand->arrivals[about];
        if (list->count != 0 && arrivals_items(list)[list->count - 1].op > vclock_get(&host->expl, about))
            return true;
    }
    return groups_remember(v, strand) || fan_ins_remember(v, strand);
}

/* A strand whose stream or thread is gone, and whose work, and all that came before it, every later call comes after. */
static uint32_t idle_strand(const struct verdicts *v, uint64_t ticks)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    for (uint32_t i = 1; i < v->strands.count; i++) {
        const struct strand *strand = strands_at(v, i);
        if (strand->ended < ticks && vclock_get(&host->expl, i) >= strand->last && !remembers(v, strand))
            return i;
    }
    return NO_STRAND;
}

uint32_t strands_to_close(const struct verdicts *v, uint64_t ticks)
{
    bool wanted = v->strands.count % 16 == 0 || v->strands.count >= STRANDS_MOST;
    return wanted ? idle_strand(v, ticks) : NO_STRAND;
}

static uint32_t new_place(struct verdicts *v)
{
    return v->strands.count < STRANDS_MOST && TABLE_ADD(&v->strands) ? (uint32_t)v->strands.count - 1 : NO_STRAND;
}

static bool enlist(struct verdicts *v, struct context *context, enum order_role role, uint32_t at)
{
    if (!TABLE_ADD(&context->all))
        return false;
    *TABLE_LAST(&context->all) = at;
    if (role == ORDER_ROLE_LEGACY)
        return join_list(v, &context->legacy, at);
    if (role == ORDER_ROLE_BLOCKING)
        return join_list(v, &context->blocking, at);
    return role == ORDER_ROLE_NONE;
}

/* Whether the call's work is not where the thread's other legacy work is: the run's policy left it in place. Where each
 * conflict is told, another policy is asked about: then, whether every policy leaves it in place. */
static bool is_kept(const struct verdicts *v, uint32_t flags)
{
    uint32_t stays = PTDS_CALL_EXPLICIT | PTDS_CALL_KEPT_CAPTURE | PTDS_CALL_KEPT_REFUSED | PTDS_CALL_KEPT_EXCLUDED |
                     PTDS_CALL_KEPT_NO_WAY;
    return v->conflicts != NULL ? (flags & stays) != 0 : v->moved && !(flags & PTDS_CALL_REMAPPED);
}

static uint32_t owner_of(const struct verdicts *v, const struct call *call)
{
    return is_kept(v, call->r.flags) ? call->thread | STRAND_KEPT : call->thread;
}

/* The stream that the call names, or where it names none the one that it was sent to; 0: none. */
static uint32_t stream_of(const struct call *call)
{
    return call->r.stream != 0 ? call->r.stream : call->r.target;
}

/* 0: the call names no stream. */
static uint64_t key_of(const struct verdicts *v, const struct call *call)
{
    uint32_t stream = stream_of(call);
    const struct stream_def *def = definitions_stream(&v->trace->defs, stream);
    struct order_call named = {.named = def != NULL ? implicit_order_role(def->kind) : ORDER_ROLE_NONE};
    bool own = implicit_order_under(ORDER_EXPLICIT, &named).place == ORDER_AT_OWN;
    return stream != 0 ? stream | (own ? ((uint64_t)owner_of(v, call) + 1) << 32 : 0) : 0;
}

uint32_t strands_of_call(const struct verdicts *v, const struct call *call)
{
    uint32_t at;
    uint64_t key = key_of(v, call);
    return key != 0 && id_map_get(&v->strand_by_key, key, &at) ? at : NO_STRAND;
}

static uint32_t group_of(uint32_t context, enum order_role role)
{
    if (role == ORDER_ROLE_NONE)
        return NO_GROUP;
    return context * GROUPS_A_CONTEXT + (role == ORDER_ROLE_LEGACY ? GROUP_LEGACY : GROUP_BLOCKING);
}

/* When its stream ends; of the legacy stream, when the thread does, if that is sooner. */
static uint64_t end_of(const struct verdicts *v, const struct call *call, const struct stream_def *def,
                       enum order_role role)
{
    uint64_t ended = def != NULL ? def->ended : UINT64_MAX;
    const struct thread_def *thread = role == ORDER_ROLE_LEGACY ? definitions_thread(&v->trace->defs, call->thread) : NULL;
    return thread != NULL && thread->ended < ended ? thread->ended : ended;
}

static void fill(struct verdicts *v, uint32_t at, const struct call *call, uint32_t context)
{
    const struct stream_def *def = definitions_stream(&v->trace->defs, stream_of(call));
    bool sure = def != NULL && def->kind != PTDS_STREAM_UNKNOWN;
    enum order_role role =
        sure ? implicit_order_role(def->kind) : ORDER_ROLE_BLOCKING; /* the role that orders most, for it may be that */
    *strands_at(v, at) = (struct strand){
        .born = v->now,
        .key = key_of(v, call),
        .stream = stream_of(call),
        .context = context,
        .role = role,
        .open = true,
        .after = (uint8_t)implicit_order_under(ORDER_LEGACY, &(struct order_call){.named = role}).after,
        .group = group_of(context, role),
        .serial = ++v->serials,
        .sure = sure,
        .ended = end_of(v, call, def, role),
    };
    if (!enlist(v, &v->contexts.items[context], role, at))
        v->limited = true;
}

uint32_t strands_open(struct verdicts *v, const struct call *call, uint32_t closed)
{
    const struct stream_def *def = definitions_stream(&v->trace->defs, stream_of(call));
    uint64_t key = key_of(v, call);
    if (key == 0)
        return NO_STRAND;
    uint32_t context = strands_context(v, def != NULL && def->context != 0 ? def->context : call->r.context),
             at = closed != NO_STRAND ? closed : new_place(v);
    if (context == NO_STRAND || at == NO_STRAND || !id_map_put(&v->strand_by_key, key, at)) {
        v->limited = true;
        v->totals.unplaced++;
        return NO_STRAND;
    }
    fill(v, at, call, context);
    return at;
}

const struct edge_end *strands_end_of(const struct verdicts *v, const struct milestone *milestone)
{
    return milestone->op >= v->ends_from ? &v->ends[milestone->op % ENDS] : &milestone->end;
}

static void keep_ends(const struct verdicts *v, struct milestone *milestones, size_t count)
{
    while (count-- > 0 && milestones[count].op >= v->ends_from)
        milestones[count].end = v->ends[milestones[count].op % ENDS];
}

void strands_keep_ends(struct verdicts *v)
{
    for (uint32_t i = 0; i < v->strands.count; i++) {
        struct strand *strand = strands_at(v, i);
        keep_ends(v, &strand->newest, 1);
        for (unsigned k = 0; k < CLASSES; k++) {
            keep_ends(v, strand->access[k].items, strand->access[k].count);
            keep_ends(v, strand->opaque[k].items, strand->opaque[k].count);
        }
    }
}

void strands_free(struct verdicts *v)
{
    for (uint32_t i = 0; i < v->strands.count; i++)
        forgotten_limit_all(v, i);
    for (size_t i = 0; i < v->strands.count; i++)
        free_strand(v, &v->strands.items[i]);
    for (size_t i = 0; i < v->contexts.count; i++) {
        free(v->contexts.items[i].all.items);
        free(v->contexts.items[i].legacy.items);
        free(v->contexts.items[i].blocking.items);
    }
    free(v->strands.items);
    free(v->opaque_strands.items);
    free(v->contexts.items);
    id_map_free(&v->strand_by_key);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes and what each of them knows. Called for every operation of a trace: nothing here may take time that grows with the
 * trace. Ids are the trace's and are mapped, never used as indices.
 */
#include "analysis/base/id_map.h"
#include "analysis/model/model_slots.h"
#include "analysis/order/blame.h"

#include <stdlib.h>
#include <string.h>

uint32_t lanes_context(struct verdicts *v, uint32_t uid)
{
    uint32_t at;
    if (!model_slots_context(v->model, uid, &at))
        return NO_LANE;
    void *grown = table_grow(v->contexts.items, &v->contexts.room, (size_t)at + 1, sizeof *v->contexts.items);
    if (grown == NULL)
        return NO_LANE;
    v->contexts.items = grown;
    for (; v->contexts.count <= at; v->contexts.count++)
        v->contexts.items[v->contexts.count] =
            (struct context){.queue = NO_LANE, .legacy.newest = NO_LANE, .blocking.newest = NO_LANE};
    return at;
}

#define LIST_DROP(list, value) \
    do { \
        for (size_t i_ = 0; i_ < (list)->count; i_++) \
            if ((list)->items[i_] == (value)) \
                (list)->items[i_--] = (list)->items[--(list)->count]; \
    } while (0)

static void unlink_lane(struct verdicts *v, struct lane_list *list, const struct lane *lane)
{
    *(lane->newer != NO_LANE ? &lanes_at(v, lane->newer)->older : &list->newest) = lane->older;
    if (lane->older != NO_LANE)
        lanes_at(v, lane->older)->newer = lane->newer;
}

static void link_newest(struct verdicts *v, struct lane_list *list, uint32_t at)
{
    struct lane *lane = lanes_at(v, at);
    lane->newer = NO_LANE;
    lane->older = list->newest;
    if (list->newest != NO_LANE)
        lanes_at(v, list->newest)->newer = at;
    list->newest = at;
}

static bool is_in(const struct lane_list *list, const struct lane *lane, uint32_t at)
{
    return lane->rank < list->count && list->items[lane->rank] == at;
}

void lanes_be_newest(struct verdicts *v, struct lane_list *list, uint32_t at)
{
    const struct lane *lane = lanes_at(v, at);
    if (list->newest == at || !is_in(list, lane, at))
        return;
    unlink_lane(v, list, lane);
    link_newest(v, list, at);
}

void lanes_recent(const struct verdicts *v, const struct lane_list *list, uint64_t since, struct recent *out)
{
    const struct lane *lane;
    size_t count = 0;
    out->items = list->items;
    out->count = list->count;
    for (uint32_t at = list->newest; at != NO_LANE; at = lane->older) {
        lane = lanes_at(v, at);
        if (lane->last == 0)
            continue; /* it is new, and this is its first operation */
        if (lane->last <= since)
            break;
        if (count == RECENT_MOST)
            return;
        size_t place = count++;
        for (; place != 0 && out->few[place - 1] > lane->rank; place--)
            out->few[place] = out->few[place - 1];
        out->few[place] = lane->rank;
    }
    for (size_t i = 0; i < count; i++)
        out->few[i] = list->items[out->few[i]];
    out->items = out->few;
    out->count = count;
}

static void leave_list(struct verdicts *v, struct lane_list *list, uint32_t at)
{
    const struct lane *lane = lanes_at(v, at);
    if (!is_in(list, lane, at))
        return;
    unlink_lane(v, list, lane);
    list->items[lane->rank] = list->items[--list->count];
    lanes_at(v, list->items[lane->rank])->rank = lane->rank;
}

static bool join_list(struct verdicts *v, struct lane_list *list, uint32_t at)
{
    if (!TABLE_ADD(list))
        return false;
    lanes_at(v, at)->rank = (uint32_t)list->count - 1;
    *TABLE_LAST(list) = at;
    link_newest(v, list, at);
    return true;
}

static void free_lane(struct verdicts *v, struct lane *lane)
{
    for (uint32_t about = 0; about < lane->brought_room; about++) {
        blame_limit(v, &lane->brought[about], about);
        for (uint32_t i = 0; i < lane->brought[about].count; i++)
            edges_drop(v, known_items(&lane->brought[about])[i].edge);
        if (lane->brought[about].room > 1)
            free(lane->brought[about].many);
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        free(lane->access[i].items);
        free(lane->opaque[i].items);
    }
    groups_free(v, lane);
    fans_free(v, lane);
    free(lane->brought);
    free(lane->blamed);
    free(lane->forgotten.items);
    vclock_free(&lane->expl);
    vclock_free(&lane->full);
    vclock_free(&lane->grown);
    *lane = (struct lane){.group = NO_GROUP};
}

static void close_lane(struct verdicts *v, uint32_t at)
{
    struct lane *lane = lanes_at(v, at);
    struct context *context = &v->contexts.items[lane->context];
    places_write_all_back(v);
    LIST_DROP(&context->all, at);
    leave_list(v, &context->legacy, at);
    leave_list(v, &context->blocking, at);
    if (lane->is_opaque)
        conflicts_close(v, at);
    if (context->queue == at)
        context->queue = NO_LANE;
    id_map_remove(&v->lane_by_key, lane->key);
    memset(v->alike, 0, sizeof v->alike);
    blame_limit_all(v, at);
    free_lane(v, lane);
}

static bool remembers(const struct verdicts *v, const struct lane *lane)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (uint32_t about = 0; about < lane->brought_room; about++) {
        struct known_list *list = &lane->brought[about];
        if (list->count != 0 && known_items(list)[list->count - 1].op > vclock_get(&host->expl, about))
            return true;
    }
    return groups_remember(v, lane) || fans_remember(v, lane);
}

/* A lane whose stream or thread is gone, and whose work, and all before it, everybody comes after anyway. */
static uint32_t idle_lane(const struct verdicts *v, uint64_t ticks)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (uint32_t i = 1; i < v->lanes.count; i++) {
        const struct lane *lane = lanes_at(v, i);
        if (lane->ended < ticks && vclock_get(&host->expl, i) >= lane->last && !remembers(v, lane))
            return i;
    }
    return NO_LANE;
}

static uint32_t free_place(struct verdicts *v, uint64_t ticks)
{
    uint32_t at = v->lanes.count % 16 == 0 || v->lanes.count >= LANES_MOST ? idle_lane(v, ticks) : NO_LANE;
    if (at != NO_LANE) {
        close_lane(v, at);
        return at;
    }
    return v->lanes.count < LANES_MOST && TABLE_ADD(&v->lanes) ? (uint32_t)v->lanes.count - 1 : NO_LANE;
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

static uint32_t open_lane(struct verdicts *v, const struct call *call, uint64_t key, uint32_t stream,
                          const struct stream_def *def)
{
    uint32_t uid = def != NULL && def->context != 0 ? def->context : call->r.context;
    uint32_t context = lanes_context(v, uid), at = free_place(v, call->r.enter);
    if (context == NO_LANE || at == NO_LANE || !id_map_put(&v->lane_by_key, key, at))
        return NO_LANE;
    struct lane *lane = lanes_at(v, at);
    bool sure = def != NULL && def->kind != PTDS_STREAM_UNKNOWN;
    enum order_role role = sure ? order_role_of(def->kind) : ORDER_ROLE_BLOCKING; /* which it may be */
    *lane = (struct lane){.born = v->now, .key = key, .stream = stream, .context = context, .role = role, .open = true};
    lane->after = (uint8_t)order_under(ORDER_LEGACY, &(struct order_call){.named = role}).after;
    lane->group = role == ORDER_ROLE_NONE
                      ? NO_GROUP
                      : context * GROUPS_A_CONTEXT + (role == ORDER_ROLE_LEGACY ? GROUP_LEGACY : GROUP_BLOCKING);
    lane->serial = ++v->serials;
    lane->sure = sure;
    lane->ended = def != NULL ? def->ended : UINT64_MAX;
    if (role == ORDER_ROLE_LEGACY) {
        const struct thread_def *thread = definitions_thread(&v->trace->defs, call->thread);
        if (thread != NULL)
            lane->ended = thread->ended < lane->ended ? thread->ended : lane->ended;
    }
    if (!enlist(v, &v->contexts.items[context], role, at))
        v->limited = true;
    return at;
}

/* Whether the call's work is not where the thread's other legacy work is: because this run's policy left it there, or,
 * where conflicts are told for another policy's sake, any would. */
static bool is_kept(const struct verdicts *v, uint32_t flags)
{
    uint32_t stays = PTDS_CALL_EXPLICIT | PTDS_CALL_KEPT_CAPTURE | PTDS_CALL_KEPT_REFUSED | PTDS_CALL_KEPT_EXCLUDED |
                     PTDS_CALL_KEPT_NO_WAY;
    return v->conflicts != NULL ? (flags & stays) != 0 : v->moved && !(flags & PTDS_CALL_REMAPPED);
}

/* Whose lane of the legacy stream. */
static uint32_t owner_of(const struct verdicts *v, const struct call *call)
{
    return is_kept(v, call->r.flags) ? call->thread | LANE_KEPT : call->thread;
}

uint32_t lanes_of_call(struct verdicts *v, const struct call *call, bool make)
{
    uint32_t stream = call->r.stream != 0 ? call->r.stream : call->r.target, at;
    const struct stream_def *def = definitions_stream(&v->trace->defs, stream);
    struct order_call named = {.named = def != NULL ? order_role_of(def->kind) : ORDER_ROLE_NONE};
    bool own = order_under(ORDER_EXPLICIT, &named).place == ORDER_AT_OWN;
    uint64_t key = stream | (own ? ((uint64_t)owner_of(v, call) + 1) << 32 : 0);
    if (stream == 0)
        return NO_LANE;
    if (id_map_get(&v->lane_by_key, key, &at))
        return at;
    if (!make)
        return NO_LANE;
    at = open_lane(v, call, key, stream, def);
    if (at == NO_LANE) {
        v->limited = true;
        v->totals.unplaced++;
    }
    return at;
}

const struct edge_end *lanes_end(const struct verdicts *v, const struct mark *mark)
{
    return mark->op >= v->ends_from ? &v->ends[mark->op % ENDS] : &mark->end;
}

static void keep_ends(const struct verdicts *v, struct mark *marks, size_t count)
{
    while (count-- > 0 && marks[count].op >= v->ends_from)
        marks[count].end = v->ends[marks[count].op % ENDS];
}

void lanes_keep_ends(struct verdicts *v)
{
    for (uint32_t i = 0; i < v->lanes.count; i++) {
        struct lane *lane = lanes_at(v, i);
        keep_ends(v, &lane->newest, 1);
        for (unsigned k = 0; k < CLASSES; k++) {
            keep_ends(v, lane->access[k].items, lane->access[k].count);
            keep_ends(v, lane->opaque[k].items, lane->opaque[k].count);
        }
    }
}

void lanes_free(struct verdicts *v)
{
    for (uint32_t i = 0; i < v->lanes.count; i++)
        blame_limit_all(v, i);
    for (size_t i = 0; i < v->lanes.count; i++)
        free_lane(v, &v->lanes.items[i]);
    for (size_t i = 0; i < v->contexts.count; i++) {
        free(v->contexts.items[i].all.items);
        free(v->contexts.items[i].legacy.items);
        free(v->contexts.items[i].blocking.items);
    }
    free(v->lanes.items);
    free(v->opaque_lanes.items);
    free(v->contexts.items);
    id_map_free(&v->lane_by_key);
}

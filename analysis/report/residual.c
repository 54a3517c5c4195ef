/* SPDX-License-Identifier: Apache-2.0
 *
 * Why each blocked call waited. Two replays of the run tell: what of that the program wrote down (ORDER_EXPLICIT), and what
 * is left of the run's own order without the driver's implicit one (ORDER_AS_RUN_EXPLICIT: streams' turns, events, the
 * shim's waits). Called by the command. No time may be counted twice, and none be left out.
 */
#include "analysis/report/residual.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/model/model_orders.h"
#include "analysis/report/report.h"
#include "analysis/report/walk_calls.h"

enum { SITES_MOST = 1 << 14 };

/* As rules declare it. */
static const enum removed_by declared[RESIDUAL_KINDS] = {
    [RESIDUAL_OWN] = REMOVED_WITH_WAIT,  /* over-wide-sync, sync-copy */
    [RESIDUAL_CONTEXT] = REMOVED_STAYS,  /* device-wide-sync */
    [RESIDUAL_HELD] = REMOVED_NEVER,     /* lock-contention */
    [RESIDUAL_DATA] = REMOVED_WITH_DATA, /* rules do not tell such waits from others */
    [RESIDUAL_MIXED] = REMOVED_WITH_WAIT, [RESIDUAL_SHARED] = REMOVED_WITH_WAIT, [RESIDUAL_LEGACY] = REMOVED_WITH_WAIT,
};

struct site {
    uint64_t ns;
    uint32_t stack, api;
    enum residual_kind kind;
};

struct waiting {
    struct residual *out;
    struct removed_policies removed_by;
    uint32_t asked, run;       /* replays */
    TABLE_OF(uint32_t) placed; /* by call: its stream's slot in `asked`, plus one */
    TABLE_OF(struct site) sites;
    struct id_map site_by_key;
    bool failed;
};

static const struct order *order_of(const struct model *model, uint32_t replay)
{
    return &model->replays.items[replay].order;
}

/* Whether `covered` has the operation, on the stream that the program wrote it down for. */
static bool is_asked(const struct waiting *f, const struct vclock *covered, uint64_t op)
{
    uint32_t placed = op < f->placed.count ? f->placed.items[op] : 0;
    return placed != 0 && vclock_get(covered, placed - 1) >= op;
}

#define KIND(kind) (1u << (kind))

/* Why the call waits for each stream that has work pending. */
static unsigned reasons_of(const struct waiting *f, const struct model *model, const struct call_view *view)
{
    struct vclock real = {0}, asked = {0}, run = {0};
    unsigned reasons = 0;
    model_orders_cover(model, &model->real, view, &real);
    model_orders_cover(model, order_of(model, f->asked), view, &asked);
    model_orders_cover(model, order_of(model, f->run), view, &run);
    for (uint32_t slot = 0; slot < model->streams.count; slot++) {
        uint64_t op = vclock_get(&real, slot);
        if (op == view->number) /* the call's own operation; what is behind that on its stream? */
            op = model->streams.items[slot].last_work;
        if (!model_is_pending(model, slot) || op <= vclock_get(&model->done, slot))
            continue;
        bool legacy = model->streams.items[slot].kind == PTDS_STREAM_LEGACY;
        reasons |= is_asked(f, &asked, op)                               ? KIND(RESIDUAL_OWN)
                   : slot == view->target && !legacy                     ? KIND(RESIDUAL_SHARED)
                   : slot == view->target || vclock_get(&run, slot) < op ? KIND(RESIDUAL_LEGACY)
                                                                         : KIND(RESIDUAL_DATA);
    }
    vclock_free(&real);
    vclock_free(&asked);
    vclock_free(&run);
    return reasons;
}

static enum residual_kind kind_of(const struct waiting *f, const struct model *model, const struct call_view *view)
{
    static const enum residual_kind gravest_first[] = {RESIDUAL_DATA, RESIDUAL_SHARED, RESIDUAL_LEGACY};
    if (view->scope == WAIT_CONTEXT)
        return RESIDUAL_CONTEXT;
    if (view->by_shim)
        return RESIDUAL_DATA;
    unsigned reasons = reasons_of(f, model, view);
    if ((reasons & KIND(RESIDUAL_OWN)) && reasons != KIND(RESIDUAL_OWN))
        return RESIDUAL_MIXED;
    for (unsigned i = 0; i < sizeof gravest_first / sizeof *gravest_first; i++)
        if (reasons & KIND(gravest_first[i]))
            return gravest_first[i];
    return RESIDUAL_OWN;
}

static void add_to_site(struct waiting *f, enum residual_kind kind, const struct ptds_rec_CALL *call, uint64_t ns)
{
    uint64_t key = call->stack | (uint64_t)call->api << 32 | (uint64_t)kind << 48;
    uint32_t at;
    if (!id_map_get(&f->site_by_key, key, &at)) {
        if (f->sites.count >= SITES_MOST || !TABLE_ADD(&f->sites))
            return;
        at = (uint32_t)f->sites.count - 1;
        f->sites.items[at] = (struct site){.stack = call->stack, .api = call->api, .kind = kind};
        if (!id_map_put(&f->site_by_key, key, at))
            return;
    }
    f->sites.items[at].ns += ns;
}

static void add(struct waiting *f, enum residual_kind kind, struct model *model, const struct call_view *view, uint64_t ns)
{
    if (ns == 0)
        return;
    struct removed_set removed_by = removed_by_policy_of_call(declared[kind], &f->removed_by, model, view);
    removed_by_policy_add(&f->out->part[kind].removed_by, &removed_by);
    f->out->part[kind].ns += ns;
    f->out->part[kind].calls++;
    add_to_site(f, kind, &view->call->r, ns);
}

static void place(struct waiting *f, struct model *model, const struct call_view *view)
{
    uint32_t slot = view->submits ? model_orders_open_slot(model, f->asked, view) : MODEL_NO_SLOT;
    while (f->placed.count <= view->number) {
        if (!TABLE_ADD(&f->placed)) {
            f->failed = true;
            return;
        }
        *TABLE_LAST(&f->placed) = 0;
    }
    f->placed.items[view->number] = slot + 1; /* MODEL_NO_SLOT + 1 is 0 */
}

static void take_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct waiting *f = walker->data;
    place(f, model, view);
    if (!view_is_blocked(view))
        return;
    if (view->lost_ns != 0)
        add(f, kind_of(f, model, view), model, view, view->lost_ns);
    add(f, RESIDUAL_HELD, model, view, view->held_ns);
}

static bool begin(struct walker *walker, struct model *model)
{
    struct waiting *f = walker->data;
    f->asked = model_orders_replay(model, ORDER_EXPLICIT);
    f->run = model_orders_replay(model, ORDER_AS_RUN_EXPLICIT);
    return f->asked != UINT32_MAX && f->run != UINT32_MAX;
}

/* A damaged trace's threads are blocked for longer than they live, and the total is less then. */
static void add_up(const struct report *report, struct residual *out)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < RESIDUAL_KINDS; i++)
        all += out->part[i].ns;
    for (unsigned i = 0; i < RESIDUAL_KINDS && all > report->totals.blocked_ns; i++) {
        uint64_t over = all - report->totals.blocked_ns;
        over = over < out->part[i].ns ? over : out->part[i].ns;
        out->part[i].ns -= over;
        all -= over;
    }
    out->known = all == report->totals.blocked_ns;
}

static void find_sites(const struct waiting *f)
{
    for (size_t i = 0; i < f->sites.count; i++) {
        const struct site *site = &f->sites.items[i];
        struct residual_part *part = &f->out->part[site->kind];
        if (site->ns <= part->most_ns)
            continue;
        part->most_ns = site->ns;
        part->stack = site->stack;
        part->api = site->api;
    }
}

/* Whether data asked for it, as far as the shim saw. */
static bool is_kept(const struct definitions *defs, enum residual_kind kind)
{
    unsigned run = implicit_order_policy(defs) & ~(unsigned)ORDER_REMAPS_EXPLICIT;
    return kind == RESIDUAL_DATA ||
           (kind == RESIDUAL_SHARED && run == ORDER_GUARDED); /* conflicting threads share a lane */
}

/* Which orders these waits stand for nobody knows, so all of the run's count; and that all are needed says nothing of one.
 */
struct removed_question residual_goes(const struct report *report, enum residual_kind kind)
{
    struct removed_question about = {.by = declared[kind], .calls = report->residual.part[kind].removed_by};
    for (unsigned i = 0; i < VERDICTS && report->edges.analysed; i++)
        about.verdicts[i] = edge_table_count(&report->edges, (enum verdict)i);
    if (!report->edges.analysed || about.verdicts[VERDICT_NEEDED] != 0 || is_kept(&report->trace.defs, kind))
        about.verdicts[VERDICT_MAYBE_NEEDED]++;
    return about;
}

int residual_find(struct report *report)
{
    struct residual found = {0};
    struct waiting f = {.out = &found, .removed_by = removed_by_policy_prepare(&report->trace.defs)};
    struct walker walker = {.begin = begin, .call = take_call, .data = &f};
    report->residual = found;
    if (report->totals.remapped == 0 || !trace_has_time(&report->trace) || !selection_is_all(&report->selection))
        return 0;
    int status = walk_calls(report, &walker);
    find_sites(&f);
    free(f.placed.items);
    free(f.sites.items);
    id_map_free(&f.site_by_key);
    if (status != 0 || f.failed)
        return -1;
    add_up(report, &found);
    report->residual = found;
    return 0;
}

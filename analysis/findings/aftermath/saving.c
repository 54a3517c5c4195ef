/* SPDX-License-Identifier: Apache-2.0
 *
 * The waits of saving.h. Driven by the report's pass with every call while any is open, so bounded; the rules and the
 * watched waits (aftermath.c) open them. Must not charge more than a call lost.
 */
#include "analysis/findings/aftermath/saving.h"

#include "analysis/findings/finding.h"
#include "analysis/model/implicit_order.h"

static uint64_t slot_bit(uint32_t slot)
{
    return UINT64_C(1) << slot % 64;
}

void saving_begin(struct saving *saving, const struct model *model, const struct call_view *view)
{
    *saving = (struct saving){.thread = view->call->thread,
                              .open = true,
                              .enter = view->call->r.enter,
                              .leave = view->call->r.leave,
                              .gap = UINT64_MAX,
                              .lost_ns = view->lost_ns};
    for (uint32_t i = 0; i < view->waits.count && i < PENDING_KEPT; i++) {
        saving->waited |= slot_bit(view->waits.slot[i]);
        saving->roles |= ORDER_OF(implicit_order_role(model->streams.items[view->waits.slot[i]].kind));
    }
    if (view->waits.count > PENDING_KEPT)
        saving->waited = UINT64_MAX;
}

/* Whether the work would have run beside what was waited for, as far as streams go. */
static bool runs_beside(const struct saving *saving, const struct call_view *view)
{
    enum order_role role = implicit_order_role(view->target_kind);
    unsigned behind = role == ORDER_ROLE_LEGACY     ? ORDER_OF(ORDER_ROLE_BLOCKING)
                      : role == ORDER_ROLE_BLOCKING ? ORDER_OF(ORDER_ROLE_LEGACY)
                                                    : 0;
    return view->work && view->target != MODEL_NO_SLOT && (saving->waited & slot_bit(view->target)) == 0 &&
           (saving->roles & behind) == 0;
}

static bool is_sync(unsigned op)
{
    return op == PTDS_OP_STREAM_SYNC || op == PTDS_OP_EVENT_SYNC || op == PTDS_OP_CTX_SYNC;
}

/* Whether the thread would have had to wait here: a synchronous copy completes nothing but what it copies where the driver
 * stages it, and a load may only load, but both keep the thread until earlier work is done. */
static bool waits_anyhow(const struct call_view *view)
{
    return view->scope != WAIT_NONE &&
           (view->completes || view->blocked || (view->call->r.flags & PTDS_CALL_IMPLICIT) != 0);
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

void saving_look(struct saving *saving, const struct trace *trace, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (!saving->open || view->call->thread != saving->thread)
        return;
    uint64_t apart = call->enter > saving->leave ? call->enter - saving->leave : 0;
    if (saving->gap == UINT64_MAX)
        saving->gap = apart;
    if (waits_anyhow(view) && (view->waits.count != 0 || saving->more || view->work)) {
        saving->saved_ns = saving->more ? at_most(trace_ns(trace, apart), saving->lost_ns) : 0;
        saving->apart_ns = saving->more ? at_most(trace_ns(trace, apart - saving->gap), saving->lost_ns) : 0;
        saving->more |= view->work;
        saving->open = false;
        return;
    }
    saving->again |= is_sync(call->op) && !saving->more;
    saving->other |= runs_beside(saving, view);
    saving->more |= view->work;
}

/* Whose calls concern it. */
static void be_open(struct savings *savings, const struct open_saving *open)
{
    savings->if_more |= open->kind == SAVE_ALL_IF_MORE || (open->kind == SAVE_BESIDE_OR_UNKNOWN && !open->later);
    savings->threads |= open->kind == SAVE_ALL_IF_MORE ? 0 : UINT64_C(1) << open->saving.thread % 64;
}

static void add(struct savings *savings, enum saving_kind kind, struct finding *finding, const struct call_view *view)
{
    if (savings->count == SAVINGS_OPEN) { /* the oldest never came to anything */
        savings->open[0].finding->unknown += savings->open[0].calls;
        for (uint32_t i = 1; i < savings->count; i++)
            savings->open[i - 1] = savings->open[i];
        savings->count--;
    }
    struct open_saving *open = &savings->open[savings->count++];
    *open = (struct open_saving){.kind = kind, .finding = finding, .calls = 1};
    saving_begin(&open->saving, savings->model, view);
    be_open(savings, open);
}

void saving_watch(struct savings *savings, enum saving_kind kind, struct finding *finding, const struct call_view *view)
{
    if (finding == NULL)
        return;
    if (!view->timed) {
        finding_cost_unknown(finding);
        return;
    }
    for (uint32_t i = 0; kind == SAVE_ALL_IF_MORE && i < savings->count; i++) {
        struct open_saving *open = &savings->open[i];
        if (open->kind != kind || open->finding != finding || open->saving.thread != view->call->thread)
            continue;
        open->calls++;
        open->saving.lost_ns += view->lost_ns;
        return;
    }
    add(savings, kind, finding, view);
}

/* Whether the call can change anything about it. */
static inline bool is_concerned(const struct open_saving *open, const struct call_view *view)
{
    bool by_any = open->kind == SAVE_ALL_IF_MORE || open->kind == SAVE_BESIDE_OR_UNKNOWN;
    return (by_any && view->work) || (open->kind != SAVE_ALL_IF_MORE && open->saving.thread == view->call->thread);
}

/* What a wait saved whose thread has waited again. */
static void charge(const struct open_saving *open)
{
    const struct saving *saving = &open->saving;
    bool beside = open->kind != SAVE_UNTIL_NEXT_WAIT && saving->other && !saving->again;
    uint64_t saved = beside ? saving->lost_ns : saving->saved_ns;
    if (saving->more && saved != 0)
        finding_cost(open->finding, saved);
    else if (open->kind == SAVE_BESIDE_OR_UNKNOWN && open->later)
        finding_cost_unknown(open->finding);
}

/* Whether it is settled. */
static bool settle(struct open_saving *open, const struct trace *trace, const struct call_view *view)
{
    struct saving *saving = &open->saving;
    open->later |= view->work;
    if (open->kind == SAVE_ALL_IF_MORE) {
        if (view->work)
            finding_cost_calls(open->finding, saving->lost_ns, open->calls);
        return view->work;
    }
    saving_look(saving, trace, view);
    if (!saving->open)
        charge(open);
    return !saving->open;
}

void saving_end(struct savings *savings)
{
    for (uint32_t i = 0; i < savings->count; i++)
        if (savings->open[i].kind == SAVE_BESIDE_OR_UNKNOWN && savings->open[i].later)
            finding_cost_unknown(savings->open[i].finding);
    savings->count = 0;
}

void saving_look_all(struct savings *savings, const struct call_view *view)
{
    uint32_t kept = 0;
    savings->if_more = false;
    savings->threads = 0;
    for (uint32_t i = 0; i < savings->count; i++) {
        struct open_saving *open = &savings->open[i];
        if (is_concerned(open, view) && settle(open, savings->model->trace, view))
            continue;
        be_open(savings, open);
        if (kept != i)
            savings->open[kept] = *open;
        kept++;
    }
    savings->count = kept;
}

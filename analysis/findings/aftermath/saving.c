/* SPDX-License-Identifier: Apache-2.0
 *
 * The waits of saving.h. Driven by the report's pass with every call while any is open, so bounded; the rules and the
 * watched waits (aftermath.c) open them. Must not charge more than a call lost.
 */
#include "analysis/findings/aftermath/saving.h"

#include "analysis/findings/finding.h"

void saving_begin(struct saving *saving, const struct call_view *view)
{
    *saving = (struct saving){.thread = view->call->thread,
                              .open = true,
                              .enter = view->call->r.enter,
                              .leave = view->call->r.leave,
                              .gap = UINT64_MAX,
                              .lost_ns = view->lost_ns};
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
    saving->more |= view->work;
}

/* Whose calls concern it. */
static void be_open(struct savings *savings, const struct open_saving *open)
{
    savings->if_more |= open->kind == SAVE_ALL_IF_MORE;
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
    saving_begin(&open->saving, view);
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
    return open->kind == SAVE_ALL_IF_MORE ? view->work : open->saving.thread == view->call->thread;
}

/* Whether it is settled. */
static bool settle(struct open_saving *open, const struct trace *trace, const struct call_view *view)
{
    struct saving *saving = &open->saving;
    if (open->kind == SAVE_ALL_IF_MORE) {
        if (view->work)
            finding_cost_calls(open->finding, saving->lost_ns, open->calls);
        return view->work;
    }
    saving_look(saving, trace, view);
    if (open->kind == SAVE_ALL_BEFORE_WAIT && saving->more && !saving->again) {
        finding_cost(open->finding, saving->lost_ns);
        return true;
    }
    if (!saving->open && saving->more && saving->saved_ns != 0)
        finding_cost(open->finding, saving->saved_ns);
    return !saving->open;
}

void saving_look_all(struct savings *savings, const struct call_view *view)
{
    uint32_t kept = 0;
    savings->if_more = false;
    savings->threads = 0;
    for (uint32_t i = 0; i < savings->count; i++) {
        struct open_saving *open = &savings->open[i];
        if (is_concerned(open, view) && settle(open, savings->trace, view))
            continue;
        be_open(savings, open);
        if (kept != i)
            savings->open[kept] = *open;
        kept++;
    }
    savings->count = kept;
}

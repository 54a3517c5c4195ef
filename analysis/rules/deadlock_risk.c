/* SPDX-License-Identifier: Apache-2.0
 *
 * deadlock-risk: a call that waits for more than it was asked to, while a kernel is pending that does not end by itself: a
 * collective that waits for another process or for this thread's next launch, a persistent kernel. And calls that had not
 * returned when the trace ended. Run by the pass for calls that wait without being asked, and at the end. Where nothing
 * shows that the kernel was still running, it says nothing: only calls that blocked, or never came back, count.
 */
#include <ctype.h>
#include <string.h>

#include "analysis/trace/in_flight.h"
#include "analysis/findings/rule.h"
#include "analysis/model/model_orders.h"

enum { OUTSIDE_PROGRESS, OUTLIVED, NEVER_RETURNED };
enum { FAR_BACK = 256, LONG_NS = 1000000000 };

static const char *const details[] = {
    "waited for a collective or persistent kernel, by its name",
    "waited for a kernel that other work, submitted much later, had overtaken",
    "had not returned when the trace ended",
};

static bool has_word(const char *text, size_t size, const char *word)
{
    size_t length = strlen(word);
    for (size_t at = 0; at + length <= size; at++) {
        size_t same = 0;
        while (same < length && tolower((unsigned char)text[at + same]) == word[same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

static bool is_unending(const char *text, size_t size)
{
    static const char *const words[] = {"nccldevkernel", "ncclkernel", "nvshmem", "persistent"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has_word(text, size, words[i]))
            return true;
    return false;
}

/* Of a mangled name only the names that it is nested in and its own: "persistent" among template arguments is the name of a
 * scheduler, and such kernels end. */
static bool name_is_unending(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0)
        return is_unending(name, strcspn(name, "<("));
    const char *at = name + 2;
    while (*at == 'N' || *at == 'K' || *at == 'L')
        at++;
    while (isdigit((unsigned char)*at)) {
        size_t length = 0;
        for (; isdigit((unsigned char)*at) && length < 10000; at++)
            length = length * 10 + (size_t)(*at - '0');
        size_t there = strnlen(at, length);
        if (is_unending(at, there))
            return true;
        at += there;
    }
    return false;
}

/* A stream among `pending`, other than the one that the call is about, whose last work is such a kernel. */
static uint32_t unending_among(const struct rule_run *run, const struct pending *pending, uint32_t except)
{
    const struct definitions *defs = &run->trace->defs;
    for (uint32_t i = 0; i < pending->count && i < PENDING_KEPT; i++) {
        const struct model_stream *stream = &run->model->streams.items[pending->slot[i]];
        const struct kernel_def *kernel = definitions_kernel(defs, stream->last_object);
        const char *name = kernel != NULL ? definitions_string(defs, kernel->name) : NULL;
        if (pending->slot[i] != except && name != NULL && name_is_unending(name))
            return pending->slot[i];
    }
    return MODEL_NO_SLOT;
}

/* The only pending stream, if what was submitted to others long after its last work is known to be done. That something
 * was still running there the call itself has shown: it blocked. */
static uint32_t outlived(const struct model *model, const struct call_view *view)
{
    uint32_t slot = view->waits.slot[0];
    if (view->waits.count != 1 || slot == view->target)
        return MODEL_NO_SLOT;
    uint64_t work = model->streams.items[slot].last_work;
    if (model->op - work < FAR_BACK)
        return MODEL_NO_SLOT;
    for (uint32_t other = 0; other < model->streams.count; other++)
        if (other != slot && vclock_get(&model->done, other) > work + FAR_BACK / 2)
            return slot;
    return MODEL_NO_SLOT;
}

static void flag(struct rule_run *run, const struct call_view *view, uint32_t detail, uint32_t slot)
{
    const struct model_stream *stream = &run->model->streams.items[slot];
    struct finding *finding = finding_at(&run->findings, run->rule, view, detail);
    finding_add(finding, FINDING_WAITS_FOR, stream->uid);
    finding_add(finding, FINDING_THREADS, stream->last_thread);
    if (stream->last_object != 0)
        finding_add(finding, FINDING_WAITS_FOR_KERNELS, stream->last_object);
    finding_most(finding, "longest_call_ns", view->ns);
    finding_cost_unknown(finding); /* what the call lost is the finding of the rule about such calls */
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (!view->blocked || !model_orders_wait_unasked(view))
        return;
    uint32_t slot = unending_among(run, &view->waits, view->target);
    if (slot != MODEL_NO_SLOT) {
        flag(run, view, OUTSIDE_PROGRESS, slot);
    } else {
        slot = outlived(run->model, view);
        if (slot != MODEL_NO_SLOT)
            flag(run, view, OUTLIVED, slot);
    }
}

/* How long it is known that the thread was in the call: until the last record of any thread, or now. */
static uint64_t in_call_ns(const struct trace *trace, const struct ptds_now *now)
{
    uint64_t until = trace->last_ticks > trace->source.now ? trace->last_ticks : trace->source.now;
    uint64_t ticks = until > now->enter ? until - now->enter : 0;
    return trace_has_time(trace) ? trace_ns(trace, ticks) : (uint64_t)((double)ticks * trace->source.ns_a_tick);
}

/* A program that was killed in an ordinary wait leaves the same trace as one that hung and was killed. Only time tells:
 * so what is not known to have lasted is no error. And while the process is alive, a wait that has begun is none. */
static void never_returned(void *data, uint32_t thread, const struct ptds_now *now)
{
    struct rule_run *run = data;
    struct call_view view;
    struct call call = in_flight_call(thread, now);
    if (!model_enter(run->model, &call, &view) || view.waits.count == 0)
        return;
    bool unending = unending_among(run, &view.waits, MODEL_NO_SLOT) != MODEL_NO_SLOT;
    uint64_t ns = in_call_ns(run->trace, now);
    if (ns < LONG_NS && run->trace->source.now != 0)
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, &view, NEVER_RETURNED);
    /* Where calls are missing, what seems to be pending may be done, and one that hardly began had no time to return. */
    if (ns >= LONG_NS || (unending && !trace_has_gaps(run->trace)))
        finding_severity(finding, SEVERITY_ERROR);
    finding->stuck = true;
    finding_add_pending(finding, run->model, &view.waits);
    finding_most(finding, "longest_call_ns", ns);
    finding_cost_unknown(finding);
}

static void end(struct rule_run *run)
{
    if (!run->trace->header.clean_end)
        in_flight_each(run->trace, never_returned, run);
}

static const struct rule rule = {
    .id = "deadlock-risk",
    .class_ = "H14",
    .removed_by = REMOVED_WITH_WAIT,
    .severity = SEVERITY_WARNING,
    .title = "a wait for a kernel that may not end by itself",
    .sentence =
        "The call waits for everything that is pending, and so for a kernel that ends only when another process, or "
        "this thread's next launch, lets it: then neither goes on.",
    .advice = "Free, load and copy before such kernels or after them; cuMemFreeAsync and copies on non-blocking streams do "
              "not wait for them.",
    .details = details,
    .bad = "1@0 launch s=N1 k=ncclDevKernel_AllReduce\n"
           "1@10+5000 free ptr=0x1000\n",
    .good = "1@0 launch s=N1 k=ncclDevKernel_AllReduce\n"
            "1@10+5000 sync s=N1\n"
            "1@6000 launch s=N1 k=ncclDevKernel_AllReduce\n"
            "1@6010+12 free ptr=0x1000\n"
            "1@7000 launch s=N2 k=_Z4gemmI19PersistentSchedulerEvv\n"
            "1@7010 launch s=N1 k=plain\n"
            "1@8000+5000 free ptr=0x1000\n",
    .ops = RULE_OP(PTDS_OP_FREE) | RULE_OP(PTDS_OP_FREE_HOST) | RULE_OP(PTDS_OP_UNREGISTER) |
           RULE_OP(PTDS_OP_ARRAY_DESTROY) | RULE_OP(PTDS_OP_MODULE_LOAD) | RULE_OP(PTDS_OP_MODULE_UNLOAD) |
           RULE_OP(PTDS_OP_FUNCTION_LOAD) | RULE_OP(PTDS_OP_CTX_LIMIT) | RULE_OP(PTDS_OP_COPY) | RULE_OP(PTDS_OP_MEMSET) |
           RULE_OP(PTDS_OP_STREAM_SYNC),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);

/* SPDX-License-Identifier: Apache-2.0
 *
 * mixed-build: some objects of the process put default-stream work on the legacy stream, others on per-thread ones, because
 * they were compiled differently. Run by the pass for every submission; which object a call came from is looked up once a
 * call stack, at the end. Names each object and its side.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/findings/rule.h"
#include "analysis/trace/frames.h"

enum { PLAIN, TWIN, SIDES, MOST_STACKS = 4096 };

static const char *const details[] = {"its default stream is the legacy one", "its default stream is per thread"};

struct seen {
    uint32_t stack;
    uint64_t calls[SIDES];
};

struct state {
    struct id_map by_stack;
    TABLE_OF(struct seen) stacks;
    uint64_t calls[SIDES];
};

static struct seen *seen_of(struct state *state, uint32_t stack)
{
    uint32_t at;
    if (!id_map_get(&state->by_stack, stack, &at)) {
        at = (uint32_t)state->stacks.count;
        if (at == MOST_STACKS || !TABLE_ADD(&state->stacks) || !id_map_put(&state->by_stack, stack, at))
            return NULL;
        state->stacks.items[at] = (struct seen){.stack = stack};
    }
    return &state->stacks.items[at];
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct state *state = run->state;
    bool plain = (call->flags & PTDS_CALL_LEGACY) && !(call->flags & (PTDS_CALL_EXPLICIT | PTDS_CALL_TWIN)) &&
                 view->target_kind != PTDS_STREAM_PER_THREAD; /* where per-thread sends it */
    bool twin = (call->flags & PTDS_CALL_TWIN) && view->asked_kind == PTDS_STREAM_PER_THREAD;
    if (!view->submits || (!plain && !twin))
        return;
    struct seen *seen = rule_asks_of(run, view) ? seen_of(state, call->stack) : NULL;
    state->calls[plain ? PLAIN : TWIN]++;
    if (seen != NULL)
        seen->calls[plain ? PLAIN : TWIN]++;
}

static bool applies(const struct trace *trace)
{
    return (trace->flags & PTDS_CALL_LEGACY) && (trace->flags & PTDS_CALL_TWIN);
}

static struct finding *finding_of(struct rule_run *run, uint32_t side, const char *object)
{
    for (size_t i = 0; i < run->findings.list.count; i++) {
        struct finding *finding = run->findings.list.items[i];
        if (finding->detail == side && finding->text != NULL && strcmp(finding->text, object) == 0)
            return finding;
    }
    return finding_about(&run->findings, run->rule, side, object);
}

static const char *object_of(const struct definitions *defs, uint32_t stack)
{
    const struct object_def *object = frames_calling_object(defs, stack);
    return object != NULL && object->text != NULL ? object->text : "(call site not recorded)";
}

static void end(struct rule_run *run)
{
    struct state *state = run->state;
    bool mixed = state->calls[PLAIN] != 0 && state->calls[TWIN] != 0;
    for (size_t i = 0; mixed && i < state->stacks.count; i++) {
        const struct seen *seen = &state->stacks.items[i];
        for (uint32_t side = 0; side < SIDES; side++) {
            struct finding *finding =
                seen->calls[side] != 0 ? finding_of(run, side, object_of(&run->trace->defs, seen->stack)) : NULL;
            if (finding == NULL)
                continue;
            finding->count += seen->calls[side];
            finding->unknown += seen->calls[side];
        }
    }
    id_map_free(&state->by_stack);
    free(state->stacks.items);
}

static const struct rule rule = {
    .id = "mixed-build",
    .class_ = "R8",
    .removed_by = REMOVED_AS_ONE_BUILD,
    .severity = SEVERITY_WARNING,
    .title = "objects disagree about what the default stream is",
    .sentence =
        "Some objects were compiled with --default-stream per-thread and some without: their default-stream work is "
        "on different streams, ordered only as far as the legacy stream waits for per-thread ones.",
    .advice = "Build all of it one way, or run with PTDS_POLICY=per-thread, which makes plain objects per-thread, too.",
    .details = details,
    .bad = "1@0 launch s=L k=a site=a\n"
           "1@10 launch s=P1 k=b twin site=b@libother.so\n",
    .good = "1@0 launch s=L k=a site=a\n"
            "1@10 launch s=N1 k=b twin site=b@libother.so\n"
            "1@30+900 sync s=L\n"
            "1@1000 launch s=P1 k=b site=c\n"
            "1@1010+900 sync s=P1\n"
            "1@2000+900 sync s=N1\n",
    .ops = RULE_SUBMITS,
    .state = sizeof(struct state),
    .cases = CASE_DEFAULT,
    .applies = applies,
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);

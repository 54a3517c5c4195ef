/* SPDX-License-Identifier: Apache-2.0
 *
 * slow-call: calls after the first kernel that took much time, and of which no other rule has anything to say. Run by the
 * pass for each timed call that no rule took. All that is known is how long the calls took: not what they waited for, nor
 * whether they waited. Waits and copies, which take as long as what they are for, are not looked at, and neither are the
 * calls of a program's end, behind which no work comes. What is below LEAST_NS in all is no finding.
 */
#include <string.h>

#include "analysis/findings/rule.h"

enum { ANY, FUNCTION_ATTRIBUTE, STREAM, POOL_TRIM, LIMIT, GRAPH, LOAD, MEMORY, PINNED };
enum { LEAST_NS = 100000 };

static const char *const details[] = {
    "nothing says what these calls waited for, or whether they did",
    "setting an attribute of a kernel",
    "creating or destroying streams",
    "giving a pool's memory back",
    "setting a limit of the context",
    "making graphs executable, or changing them",
    "loading or unloading code",
    "allocating or freeing device memory",
    "pinning host memory, or freeing pinned memory",
};

static const char *const remedies[PER_DETAIL(details)] = {
    [FUNCTION_ATTRIBUTE] = "Set the attributes of a kernel once, before the work starts, and not at each launch.",
    [STREAM] = "Create streams once, before the work starts, and use them again.",
    [POOL_TRIM] = "Let the pool keep its memory (CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), and trim it when the work is done.",
    [LIMIT] = "Set limits once, before the work starts.",
    [GRAPH] = "Instantiate a graph once and launch it often; change its parameters with cuGraphExecUpdate.",
    [LOAD] = "Load before the work starts: warm each kernel up once, or set CUDA_MODULE_LOADING=EAGER.",
    [MEMORY] = "Allocate before the work starts and reuse, or use cuMemAllocAsync with a pool that keeps its memory "
               "(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD).",
    [PINNED] = "Pin once, before the work starts, in pieces that are reused, and free them when the work is done.",
};

/* Of calls whose operation the trace does not name. */
static uint32_t kind_by_name(const struct call_view *view)
{
    static const struct {
        const char *begin;
        uint32_t kind;
    } names[] = {
        {"cuFuncSet", FUNCTION_ATTRIBUTE},
        {"cuKernelSet", FUNCTION_ATTRIBUTE},
        {"cuStreamDestroy", STREAM},
        {"cuStreamCreate", STREAM},
        {"cuMemPoolTrim", POOL_TRIM},
        {"cuDeviceGraphMemTrim", POOL_TRIM},
        {"cuGraph", GRAPH},
        {"cuLibrary", LOAD},
        {"cuModule", LOAD},
        {"cuMem", MEMORY},
        {"cuArray", MEMORY},
        {"cuMipmappedArray", MEMORY},
    };
    const char *name = view->api != NULL ? view->api->text : NULL;
    for (size_t i = 0; name != NULL && i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i].begin, strlen(names[i].begin)) == 0)
            return names[i].kind;
    return ANY;
}

static bool is_pinned(uint64_t kind)
{
    return kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED;
}

static uint32_t kind_of(const struct call_view *view)
{
    switch (view->call->r.op) {
    case PTDS_OP_STREAM_CREATE: return STREAM;
    case PTDS_OP_CTX_LIMIT: return LIMIT;
    case PTDS_OP_MODULE_LOAD:
    case PTDS_OP_MODULE_UNLOAD:
    case PTDS_OP_FUNCTION_LOAD: return LOAD;
    case PTDS_OP_ALLOC: return is_pinned(call_word(view->call, 2)) ? PINNED : MEMORY;
    case PTDS_OP_FREE_HOST:
    case PTDS_OP_UNREGISTER: return PINNED;
    case PTDS_OP_FREE:
    case PTDS_OP_ARRAY_DESTROY: return MEMORY;
    default: return kind_by_name(view);
    }
}

/* Waits, queries and what is put on a stream take the time of what they are for. */
static bool is_for_work(const struct call_view *view)
{
    static const uint64_t waits = RULE_OP(PTDS_OP_STREAM_SYNC) | RULE_OP(PTDS_OP_STREAM_QUERY) |
                                  RULE_OP(PTDS_OP_EVENT_SYNC) | RULE_OP(PTDS_OP_EVENT_QUERY) | RULE_OP(PTDS_OP_CTX_SYNC);
    unsigned op = view->call->r.op;
    return op < 64 && ((waits | RULE_SUBMITS) & RULE_OP(op)) != 0;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (!view->timed || !run->startup->over || view->held_by != NULL || is_for_work(view))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, kind_of(view));
    struct call_view whole = *view;
    whole.lost_ns = view->ns; /* how much of it was waiting is not known */
    finding_most(finding, "longest_call_ns", view->ns);
    saving_watch(run->savings, SAVE_ALL_IF_MORE, finding, &whole);
}

static bool is_much(const struct finding *finding)
{
    return finding->known != 0 && finding->host_ns >= LEAST_NS;
}

static void end(struct rule_run *run)
{
    finding_keep_only(&run->findings, is_much);
}

static const struct rule rule = {
    .id = "slow-call",
    .class_ = "H17",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_NOTE,
    .rest = true,
    .set_up = true,
    .at_call = true,
    .title = "calls that took much time, for whatever reason",
    .sentence = "The calls kept their threads for so long. Neither the call nor the work pending says what for.",
    .advice = "Make the call before the work starts, or less often.",
    .details = details,
    .remedies = remedies,
    .bad = "1@0 launch s=N1 k=a\n"
           "1@10+6000 config api=cuFuncSetAttribute\n"
           "1@6020 launch s=N1 k=a\n",
    .good = "1@0+6000 config api=cuFuncSetAttribute\n" /* before the first kernel */
            "1@6010 launch s=N1 k=a\n"
            "1@6020+5000 sync s=N1\n"
            "1@11030+20 config api=cuFuncSetAttribute\n"
            "1@12000 launch s=N1 k=a\n"
            "1@12010+6000 config api=cuStreamDestroy_v2\n", /* at the end */
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);

/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes steps of calls. Called for each call of a report, by report_watch. Must believe no word of a trace: any number may
 * be in it.
 */
#include "analysis/whatif/recorded.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/order/arguments/mangled_access.h"
#include "analysis/trace/device_runs.h"
#include "analysis/model/model_orders.h"

enum { QUICK_PERCENT = 5 };

/* ---- memory ---- */

static bool is_of_host(unsigned kind)
{
    return kind == PTDS_MEMORY_PAGEABLE || kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED;
}

static void add_memory(struct recorded *r, const struct call *call)
{
    uint64_t begin = call_word(call, 0), bytes = call_word(call, 1), kind = call_word(call, 2);
    if (call->r.object != 0 && (is_of_host((unsigned)kind) || kind == PTDS_MEMORY_MANAGED))
        r->out_of_memory |= !id_map_put(&r->of_host, call->r.object, 1);
    if (call->r.object == 0 || bytes == 0 || !TABLE_ADD(&r->memories))
        return;
    TABLE_LAST(&r->memories)->end = bytes < UINT64_MAX - begin ? begin + bytes : UINT64_MAX;
    TABLE_LAST(&r->memories)->uid = call->r.object;
    r->out_of_memory |= !sorted_put(&r->live, begin, (uint32_t)(r->memories.count - 1));
}

static bool frees(unsigned op)
{
    return op == PTDS_OP_FREE || op == PTDS_OP_FREE_ASYNC || op == PTDS_OP_FREE_HOST || op == PTDS_OP_UNREGISTER ||
           op == PTDS_OP_UNMAP;
}

/* The uid of the allocation that holds the address; 0: not known. */
static uint32_t memory_at(const struct recorded *r, uint64_t address)
{
    struct sorted_entry found;
    bool some = sorted_up_to(&r->live, address, &found) && address < r->memories.items[found.value].end;
    return some ? r->memories.items[found.value].uid : 0;
}

static void touch(struct recorded *r, struct step *step, uint32_t memory, bool writes)
{
    if (memory == 0 || !TABLE_ADD(&r->touches)) {
        step->opaque = true;
        return;
    }
    uint32_t found;
    step->shown |= id_map_get(&r->of_host, memory, &found);
    *TABLE_LAST(&r->touches) = (struct step_touch){memory, writes};
    step->touches++;
}

/* ---- kernels ---- */

static uint64_t place_bit(uint32_t place)
{
    return place < 64 ? UINT64_C(1) << place : 0;
}

static struct kernel_touches touches_by_code(const struct kernel_facts *facts, const struct kernel_def *kernel)
{
    uint8_t touch[FACTS_PLACES];
    struct kernel_touches touches = {.variables = kernel->variables, .opaque = !kernel_facts_are_known(facts)};
    enum facts_touch of_variables = kernel_facts_variables(facts);
    kernel_facts_places(facts, touch);
    for (uint32_t i = 0; i < 64; i++) {
        touches.reads |= touch[i] == FACTS_READS ? place_bit(i) : 0;
        touches.nothing |= touch[i] == FACTS_NOTHING ? place_bit(i) : 0;
    }
    if (of_variables == FACTS_NOTHING)
        touches.variables = PTDS_NO_VARIABLES;
    else if (of_variables == FACTS_READS)
        touches.variables |= PTDS_CONSTANT_VARIABLES;
    return touches;
}

static struct kernel_touches touches_by_name(const struct trace *trace, const struct kernel_def *kernel)
{
    uint8_t kinds[64];
    const char *name = definitions_string(&trace->defs, kernel->name);
    int count = name != NULL ? mangled_access_parameters(name, kinds, 64) : -1;
    struct kernel_touches touches = {.variables = kernel->variables};
    for (int i = 0; i < count && kernel->layout != NULL && (uint32_t)count == kernel->params; i++)
        if (kinds[i] == MANGLED_CONST_POINTER)
            touches.reads |= place_bit((kernel->layout[i] >> 16) / 8);
    return touches;
}

/* What the kernel does with its parameters. */
static struct kernel_touches kernel_touches(struct recorded *r, const struct trace *trace, uint32_t uid)
{
    uint32_t place;
    const struct kernel_def *kernel = definitions_kernel(&trace->defs, uid);
    const struct kernel_facts *facts = definitions_kernel_facts(&trace->defs, uid);
    if (kernel == NULL)
        return (struct kernel_touches){.variables = PTDS_NO_VARIABLES, .opaque = true};
    if (!id_map_get(&r->kernel_by_uid, uid, &place)) {
        if (!TABLE_ADD(&r->kernel_touches))
            return (struct kernel_touches){.variables = kernel->variables};
        place = (uint32_t)(r->kernel_touches.count - 1);
        *TABLE_LAST(&r->kernel_touches) = facts != NULL ? touches_by_code(facts, kernel) : touches_by_name(trace, kernel);
        r->out_of_memory |= !id_map_put(&r->kernel_by_uid, uid, place);
    }
    return r->kernel_touches.items[place];
}

static void touch_word(struct recorded *r, struct step *step, uint64_t word, const struct kernel_touches *kernel)
{
    uint32_t place = (uint32_t)(word >> PTDS_LAUNCH_ADDRESS_BITS);
    if (word_reaches(word))
        touch(r, step, (uint32_t)word, place == PTDS_REACHES_WRITE);
    else if (!word_is_part(word) && !(kernel->nothing & place_bit(place)))
        touch(r, step, memory_at(r, launch_address(word)), !(kernel->reads & place_bit(place)));
}

static void touch_launch(struct recorded *r, const struct trace *trace, struct step *step, const struct call *call)
{
    struct kernel_touches kernel = kernel_touches(r, trace, call->r.object);
    for (uint32_t i = LAUNCH_WORDS_AT; i < call->words; i++)
        touch_word(r, step, call_word(call, i), &kernel);
    step->opaque |= kernel.opaque;
    if (kernel.variables != PTDS_NO_VARIABLES) /* 0: not told, so that it may touch any module's */
        touch(r, step, kernel.variables & ~PTDS_CONSTANT_VARIABLES, !(kernel.variables & PTDS_CONSTANT_VARIABLES));
    uint64_t grid = (uint32_t)call_word(call, 0) * (call_word(call, 0) >> 32) * (uint32_t)call_word(call, 1);
    uint64_t block =
        (call_word(call, 2) & 0xffff) * (call_word(call, 2) >> 16 & 0xffff) * (call_word(call, 2) >> 32 & 0xffff);
    step->gpu_threads = grid < UINT32_MAX / 1024 ? (uint32_t)(grid * block) : UINT32_MAX;
}

/* Of pageable memory nothing is pending once the call has returned. */
static void touch_side(struct recorded *r, struct step *step, uint64_t address, unsigned kind, bool writes)
{
    if (kind != PTDS_MEMORY_PAGEABLE)
        touch(r, step, kind != PTDS_MEMORY_ARRAY ? memory_at(r, address) : 0, writes);
}

static void touch_memory(struct recorded *r, const struct trace *trace, struct step *step, const struct call *call)
{
    step->first = (uint32_t)r->touches.count;
    step->opaque = (call->r.flags & PTDS_CALL_WHY_MASK) != 0;
    switch (call->r.op) {
    case PTDS_OP_LAUNCH: touch_launch(r, trace, step, call); break;
    case PTDS_OP_COPY:
        touch_side(r, step, call_word(call, 0), call->r.kinds & 15, true);
        touch_side(r, step, call_word(call, 1), call->r.kinds >> 4, false);
        break;
    case PTDS_OP_MEMSET: touch_side(r, step, call_word(call, 0), PTDS_MEMORY_DEVICE, true); break;
    case PTDS_OP_GRAPH_LAUNCH:
        for (uint32_t i = 0; i < call->words; i++)
            touch_word(r, step, call_word(call, i), &(struct kernel_touches){0});
        break;
    case PTDS_OP_ALLOC_ASYNC:
    case PTDS_OP_FREE_ASYNC: touch(r, step, call->r.object, true); break;
    default: step->opaque = true;
    }
    step->shown |= step->opaque;
    step->copies = call->r.op == PTDS_OP_COPY && step->waits != WAIT_NONE;
}

/* ---- steps ---- */

static enum engine engine_of(const struct call *call)
{
    switch (call->r.op) {
    case PTDS_OP_LAUNCH:
    case PTDS_OP_GRAPH_LAUNCH:
    case PTDS_OP_MEMSET: return ENGINE_KERNELS;
    case PTDS_OP_COPY:
        if (is_of_host(call->r.kinds >> 4))
            return ENGINE_TO_DEVICE;
        return is_of_host(call->r.kinds & 15) ? ENGINE_TO_HOST : ENGINE_KERNELS;
    default: return ENGINE_NONE;
    }
}

static uint32_t own_stream(struct recorded *r, const struct call_view *view)
{
    uint64_t key = (uint64_t)view->thread << 32 | view->context;
    uint32_t number;
    if (id_map_get(&r->own_by_thread, key, &number))
        return number;
    number = RECORDED_OWN + r->streams++;
    r->out_of_memory |= !id_map_put(&r->own_by_thread, key, number);
    return number;
}

/* No bus that a GPU has is slower than a byte a ns, and nothing else that a copy does takes longer than 0.1 ms. */
static uint64_t longest_of(const struct call *call)
{
    uint64_t width = call_word(call, 2), height = call_word(call, 3), begins = 100000;
    if (call->r.op != PTDS_OP_COPY || width > UINT32_MAX || height > UINT32_MAX)
        return UINT64_MAX;
    return begins + width * (height != 0 ? height : 1);
}

static void set_device_time(const struct trace *trace, struct step *step, const struct call_view *view)
{
    step->longest = longest_of(view->call);
    step->began = step->ran = STEP_UNKNOWN;
    if (view->ran != NULL)
        device_runs_times(trace, view->ran, &step->began, &step->ran);
}

static void set_streams(struct recorded *r, struct step *step, const struct call_view *view)
{
    step->named = view->asked != MODEL_NO_SLOT ? view->asked : view->target;
    step->sent = view->target != MODEL_NO_SLOT ? view->target : step->named;
    step->own = own_stream(r, view);
    if (step->named != MODEL_NO_SLOT)
        step->order = model_orders_call_of(view);
}

/* What nearly all of the trace's calls of this kind take: whatever else held them up, it did not hold up the quickest. */
static uint64_t quick_of(struct recorded *r, const struct trace *trace, const struct call_view *view, uint32_t kind)
{
    if (kind >= trace->durations.count)
        return view->ns;
    while (r->quick.count <= kind && TABLE_ADD(&r->quick))
        *TABLE_LAST(&r->quick) = 0;
    if (kind >= r->quick.count)
        return view->ns;
    if (r->quick.items[kind] == 0)
        r->quick.items[kind] = trace_ns(trace, trace_quick_ticks(trace, kind / 2, kind % 2 != 0, QUICK_PERCENT)) + 1;
    return r->quick.items[kind] - 1;
}

static void set_times(struct recorded *r, struct step *step, const struct report *report, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    const struct trace *trace = &report->trace;
    step->enter = call->enter > report->start ? trace_ns(trace, call->enter - report->start) : 0;
    step->leave = step->enter + (view->timed ? view->ns : 0);
    step->waited = view->lost_ns;
    step->kind = (uint32_t)call->api * 2 + ((call->flags & PTDS_CALL_TWIN) != 0);
    step->usual = view->timed && view->scope == WAIT_NONE ? quick_of(r, trace, view, step->kind) : view->ns;
    set_device_time(trace, step, view);
}

static void note_last(struct recorded *r, uint32_t thread)
{
    while (r->last.count <= thread && TABLE_ADD(&r->last))
        *TABLE_LAST(&r->last) = 0;
    if (thread >= r->last.count)
        return;
    if (r->last.items[thread] != 0)
        r->steps.items[r->last.items[thread] - 1].last = false;
    r->last.items[thread] = (uint32_t)r->steps.count;
}

static void take_call(struct report_watch *watch, const struct report *report, const struct call_view *view,
                      uint32_t serial)
{
    struct recorded *r = (struct recorded *)watch;
    const struct call *call = view->call;
    (void)serial;
    if (call->r.op == PTDS_OP_ALLOC || call->r.op == PTDS_OP_ALLOC_ASYNC)
        add_memory(r, call);
    else if (frees(call->r.op))
        sorted_remove(&r->live, call_word(call, 0));
    if (r->steps.count >= RECORDED_MOST || !TABLE_ADD(&r->steps)) {
        r->out_of_memory |= r->steps.count < RECORDED_MOST;
        r->too_many |= r->steps.count >= RECORDED_MOST;
        return;
    }
    struct step *step = TABLE_LAST(&r->steps);
    *step = (struct step){.thread = view->thread, .context = view->context, .op = call->r.op, .last = true};
    step->event = call->r.object;
    step->generation = call->r.generation;
    step->waits = view->completes || view->blocked ? (uint8_t)view->scope : WAIT_NONE;
    step->submits = view->submits;
    step->work = view->work;
    step->engine = view->work ? (uint8_t)engine_of(call) : ENGINE_NONE;
    set_times(r, step, report, view);
    set_streams(r, step, view);
    if (view->work)
        touch_memory(r, &report->trace, step, call);
    r->joined |= view->work && step->order.named == ORDER_ROLE_BLOCKING;
    r->gpu += step->engine != ENGINE_NONE;
    r->gpu_timed += step->engine != ENGINE_NONE && step->ran != STEP_UNKNOWN;
    note_last(r, view->thread);
}

void recorded_begin(struct recorded *recorded)
{
    *recorded = (struct recorded){.watch.call = take_call};
}

void recorded_end(struct recorded *recorded)
{
    free(recorded->steps.items);
    free(recorded->touches.items);
    free(recorded->last.items);
    free(recorded->memories.items);
    free(recorded->quick.items);
    free(recorded->kernel_touches.items);
    sorted_free(&recorded->live);
    id_map_free(&recorded->kernel_by_uid);
    id_map_free(&recorded->own_by_thread);
    id_map_free(&recorded->of_host);
    *recorded = (struct recorded){0};
}

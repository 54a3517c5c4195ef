/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills and answers the definition tables. Called by the reader, record by record; must never keep a pointer into the
 * trace's own bytes (a running process goes on writing them) nor use an id as an index.
 */
#include "analysis/trace/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/base/text.h"
#include "analysis/trace/frames.h"
#include "analysis/trace/kept_bytes.h"

/* The item of `list` known under `id` in records of this kind, appended if it is new; NULL without memory. */
#define ITEM(defs, list, kind, id) \
    ({ \
        uint32_t at_ = 0; \
        bool there_ = id_map_get(&(defs)->by_id[kind], id, &at_); \
        if (!there_ && TABLE_ADD(list)) { \
            at_ = (uint32_t)(list)->count - 1; \
            there_ = id_map_put(&(defs)->by_id[kind], id, at_); \
        } \
        (defs)->out_of_memory |= !there_; \
        there_ ? &(list)->items[at_] : NULL; \
    })

#define FIND(defs, list, kind, id) \
    ({ \
        uint32_t at_ = 0; \
        id_map_get(&(defs)->by_id[kind], id, &at_) ? &(defs)->list.items[at_] : NULL; \
    })

/* Memory for the tail of a record, which lasts as long as the definitions. */
static void *keep(struct definitions *defs, size_t bytes)
{
    void *at = kept_bytes_take(&defs->kept, bytes);
    defs->out_of_memory |= at == NULL;
    return at;
}

static void set_text(struct definitions *defs, char **text, const void *tail, size_t bytes)
{
    char *copy = keep(defs, bytes + 1);
    if (copy == NULL)
        return;
    text_clean(copy, bytes + 1, tail, bytes);
    *text = copy;
}

static void add_string(struct definitions *defs, const struct ptds_rec_STRING *in, const void *tail, size_t bytes)
{
    struct string_def *out = ITEM(defs, &defs->strings, PTDS_REC_STRING, in->id);
    if (out == NULL)
        return;
    out->id = in->id;
    out->role = in->role;
    set_text(defs, &out->text, tail, bytes);
}

static void add_api(struct definitions *defs, const struct ptds_rec_API *in, const void *tail, size_t bytes)
{
    struct api_def *out = ITEM(defs, &defs->apis, PTDS_REC_API, in->api);
    if (out == NULL)
        return;
    out->api = in->api;
    out->twin = in->twin;
    out->class_ = in->class_;
    set_text(defs, &out->text, tail, bytes);
}

static void add_setting(struct definitions *defs, const struct ptds_rec_SETTING *in, const void *tail, size_t bytes)
{
    if (!TABLE_ADD(&defs->settings)) {
        defs->out_of_memory = true;
        return;
    }
    TABLE_LAST(&defs->settings)->kind = in->kind;
    set_text(defs, &TABLE_LAST(&defs->settings)->text, tail, bytes);
}

/* Only the first and the last reading matter for the rate. Extents of different threads may be written out of order. */
static void add_clock(struct definitions *defs, const struct ptds_rec_CLOCK *in)
{
    struct clock_def now = {in->ticks, in->monotonic, in->realtime};
    if (defs->clocks.count == 0) {
        if (!TABLE_ADD(&defs->clocks) || !TABLE_ADD(&defs->clocks)) {
            defs->out_of_memory = true;
            defs->clocks.count = 0;
            return;
        }
        defs->clocks.items[0] = defs->clocks.items[1] = now;
    }
    if (now.ticks < defs->clocks.items[0].ticks)
        defs->clocks.items[0] = now;
    if (now.ticks > defs->clocks.items[1].ticks)
        defs->clocks.items[1] = now;
}

static void add_thread(struct definitions *defs, const struct ptds_rec_THREAD *in, const void *tail, size_t bytes)
{
    size_t known = defs->threads.count;
    struct thread_def *out = ITEM(defs, &defs->threads, PTDS_REC_THREAD, in->id);
    if (out == NULL)
        return;
    if (defs->threads.count != known)
        *out = (struct thread_def){.id = in->id, .first = in->ticks, .ended = UINT64_MAX};
    out->tid = in->tid;
    out->drivers |= in->state == PTDS_LIFE_DRIVERS;
    if (in->state == PTDS_LIFE_GONE)
        out->ended = in->ticks;
    if (bytes != 0)
        set_text(defs, &out->text, tail, bytes);
}

static void add_object(struct definitions *defs, const struct ptds_rec_OBJECT *in, const void *tail, size_t bytes)
{
    struct object_def *out = ITEM(defs, &defs->objects, PTDS_REC_OBJECT, in->id);
    if (out == NULL)
        return;
    out->base = in->base;
    out->end = in->end;
    out->bias = in->bias;
    out->id = in->id;
    out->build_id_size = in->build_id_size <= sizeof out->build_id ? in->build_id_size : 0;
    memcpy(out->build_id, in->build_id, sizeof out->build_id);
    set_text(defs, &out->text, tail, bytes);
}

static void add_stack(struct definitions *defs, const struct ptds_rec_STACK *in, const void *tail, size_t bytes)
{
    struct stack_def *out = ITEM(defs, &defs->stacks, PTDS_REC_STACK, in->id);
    if (out == NULL)
        return;
    uint32_t count = in->count <= bytes / 8 ? in->count : (uint32_t)(bytes / 8);
    uint64_t *pc = count != 0 ? keep(defs, count * sizeof *pc) : NULL;
    *out = (struct stack_def){.id = in->id, .count = pc != NULL ? count : 0, .pc = pc};
    if (pc != NULL)
        memcpy(pc, tail, count * sizeof *pc);
}

static void add_source(struct definitions *defs, const struct ptds_rec_SOURCE *in)
{
    struct source_def *out = ITEM(defs, &defs->sources, PTDS_REC_SOURCE, in->id);
    if (out != NULL)
        *out = (struct source_def){in->id, in->file, in->function, in->line <= INT32_MAX ? in->line : 0, in->first};
}

static void add_context(struct definitions *defs, const struct ptds_rec_CONTEXT *in)
{
    struct context_def *out = ITEM(defs, &defs->contexts, PTDS_REC_CONTEXT, in->uid);
    if (out == NULL || (in->state == PTDS_LIFE_GONE && out->uid != 0))
        return;
    *out = (struct context_def){.handle = in->handle, .uid = in->uid, .kind = in->kind, .device = in->device};
}

static void add_stream(struct definitions *defs, const struct ptds_rec_STREAM *in)
{
    size_t known = defs->streams.count;
    struct stream_def *out = ITEM(defs, &defs->streams, PTDS_REC_STREAM, in->uid);
    if (out == NULL)
        return;
    bool first = defs->streams.count != known;
    if (first || in->state != PTDS_LIFE_GONE)
        *out = (struct stream_def){.handle = in->handle,
                                   .ended = first ? UINT64_MAX : out->ended,
                                   .uid = in->uid,
                                   .context = in->context,
                                   .kind = in->kind,
                                   .thread = in->thread,
                                   .stack = in->stack,
                                   .priority = in->priority};
    if (in->state == PTDS_LIFE_GONE)
        out->ended = in->ticks;
}

static void add_kernel(struct definitions *defs, const struct ptds_rec_KERNEL *in, const void *tail, size_t bytes)
{
    struct kernel_def *out = ITEM(defs, &defs->kernels, PTDS_REC_KERNEL, in->uid);
    if (out == NULL)
        return;
    size_t size = (size_t)in->params * sizeof *out->layout;
    bool whole = in->params != 0 && in->params != UINT32_MAX && size <= bytes;
    uint32_t *layout = whole ? keep(defs, size) : NULL;
    *out = (struct kernel_def){.handle = in->handle,
                               .uid = in->uid,
                               .name = in->name,
                               .params = in->params,
                               .variables = in->variables,
                               .layout = layout};
    if (layout != NULL)
        memcpy(layout, tail, size);
}

static void add_kernel_facts(struct definitions *defs, const struct ptds_rec_KERNEL_FACTS *in, const void *tail,
                             size_t bytes)
{
    uint32_t *word = keep(defs, bytes);
    struct kernel_facts *out = word != NULL ? ITEM(defs, &defs->kernel_facts, PTDS_REC_KERNEL_FACTS, in->kernel) : NULL;
    if (out == NULL)
        return;
    memcpy(word, tail, bytes);
    *out = kernel_facts_of(in, word, bytes);
}

static void add_process(struct definitions *defs, const struct ptds_rec_PROCESS *in)
{
    if (TABLE_ADD(&defs->processes))
        *TABLE_LAST(&defs->processes) = (struct process_def){.ticks = in->ticks, .what = in->what, .pid = in->pid};
    else
        defs->out_of_memory = true;
}

static void add_device_base(struct definitions *defs, const struct ptds_rec_DEVICE_BASE *in)
{
    struct device_base_def *out = ITEM(defs, &defs->device_bases, PTDS_REC_DEVICE_BASE, in->id);
    if (out != NULL)
        *out = (struct device_base_def){in->earliest, in->latest, in->id, in->context, in->source};
}

static void add_memory(struct definitions *defs, const struct ptds_rec_MEMORY *in)
{
    if (!TABLE_ADD(&defs->memories)) {
        defs->out_of_memory = true;
        return;
    }
    *TABLE_LAST(&defs->memories) = (struct memory_def){.ticks = in->ticks,
                                                       .address = in->address,
                                                       .bytes = in->bytes,
                                                       .uid = in->uid,
                                                       .kind = in->kind,
                                                       .part_of = in->part_of,
                                                       .same_as = in->same_as,
                                                       .context = in->context};
}

/* Written before; NULL: it was not. A shim writes no more than these. */
enum { UNTABLED_MOST = 1024 };
static struct untabled_def *same_untabled(struct definitions *defs, const char *name, size_t bytes)
{
    for (size_t i = 0; i < defs->untabled.count && i < UNTABLED_MOST; i++) {
        const char *known = defs->untabled.items[i].text;
        if (known != NULL && strlen(known) == bytes && memcmp(known, name, bytes) == 0)
            return &defs->untabled.items[i];
    }
    return NULL;
}

static void add_untabled(struct definitions *defs, const struct ptds_rec_UNTABLED *in, const void *tail, size_t bytes)
{
    struct untabled_def *known = in->calls != 0 ? same_untabled(defs, tail, strnlen(tail, bytes)) : NULL;
    if (known != NULL) {
        known->calls = in->calls;
        known->handed = in->handed;
        return;
    }
    if (!TABLE_ADD(&defs->untabled)) {
        defs->out_of_memory = true;
        return;
    }
    TABLE_LAST(&defs->untabled)->handed = in->handed;
    TABLE_LAST(&defs->untabled)->version = in->version;
    TABLE_LAST(&defs->untabled)->calls = in->calls;
    set_text(defs, &TABLE_LAST(&defs->untabled)->text, tail, bytes);
}

static void add_bypass(struct definitions *defs, const struct ptds_rec_BYPASS *in, const void *tail, size_t bytes)
{
    if (!TABLE_ADD(&defs->bypasses)) {
        defs->out_of_memory = true;
        return;
    }
    TABLE_LAST(&defs->bypasses)->what = in->what;
    TABLE_LAST(&defs->bypasses)->functions = in->functions;
    set_text(defs, &TABLE_LAST(&defs->bypasses)->text, tail, bytes);
}

bool definitions_add(struct definitions *defs, uint16_t kind, const void *fixed, const void *tail, size_t bytes)
{
    switch (kind) {
    case PTDS_REC_STRING: add_string(defs, fixed, tail, bytes); return true;
    case PTDS_REC_API: add_api(defs, fixed, tail, bytes); return true;
    case PTDS_REC_SETTING: add_setting(defs, fixed, tail, bytes); return true;
    case PTDS_REC_CLOCK: add_clock(defs, fixed); return true;
    case PTDS_REC_THREAD: add_thread(defs, fixed, tail, bytes); return true;
    case PTDS_REC_OBJECT: add_object(defs, fixed, tail, bytes); return true;
    case PTDS_REC_STACK: add_stack(defs, fixed, tail, bytes); return true;
    case PTDS_REC_SOURCE: add_source(defs, fixed); return true;
    case PTDS_REC_CONTEXT: add_context(defs, fixed); return true;
    case PTDS_REC_STREAM: add_stream(defs, fixed); return true;
    case PTDS_REC_KERNEL: add_kernel(defs, fixed, tail, bytes); return true;
    case PTDS_REC_KERNEL_FACTS: add_kernel_facts(defs, fixed, tail, bytes); return true;
    case PTDS_REC_PROCESS: add_process(defs, fixed); return true;
    case PTDS_REC_DEVICE_BASE: add_device_base(defs, fixed); return true;
    case PTDS_REC_MEMORY: add_memory(defs, fixed); return true;
    case PTDS_REC_UNTABLED: add_untabled(defs, fixed, tail, bytes); return true;
    case PTDS_REC_BYPASS: add_bypass(defs, fixed, tail, bytes); return true;
    default: return false;
    }
}

const char *definitions_string(const struct definitions *defs, uint32_t id)
{
    const struct string_def *found = FIND(defs, strings, PTDS_REC_STRING, id);
    return found != NULL ? found->text : NULL;
}

const struct api_def *definitions_api(const struct definitions *defs, uint32_t api)
{
    return FIND(defs, apis, PTDS_REC_API, api);
}

const char *definitions_api_name(const struct definitions *defs, uint32_t api)
{
    const struct api_def *found = definitions_api(defs, api);
    return found != NULL && found->text != NULL ? found->text : "(unnamed call)";
}

const struct thread_def *definitions_thread(const struct definitions *defs, uint32_t id)
{
    return FIND(defs, threads, PTDS_REC_THREAD, id);
}

const struct stack_def *definitions_stack(const struct definitions *defs, uint32_t id)
{
    return FIND(defs, stacks, PTDS_REC_STACK, id);
}

const struct source_def *definitions_source(const struct definitions *defs, uint64_t pc)
{
    uint64_t id = pc & ~PTDS_PC_SOURCE;
    return (pc & PTDS_PC_SOURCE) != 0 && id <= UINT32_MAX ? FIND(defs, sources, PTDS_REC_SOURCE, (uint32_t)id) : NULL;
}

const struct context_def *definitions_context(const struct definitions *defs, uint32_t uid)
{
    return FIND(defs, contexts, PTDS_REC_CONTEXT, uid);
}

const struct stream_def *definitions_stream(const struct definitions *defs, uint32_t uid)
{
    return FIND(defs, streams, PTDS_REC_STREAM, uid);
}

const struct device_base_def *definitions_device_base(const struct definitions *defs, uint32_t id)
{
    return FIND(defs, device_bases, PTDS_REC_DEVICE_BASE, id);
}

const char *definitions_setting(const struct definitions *defs, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = defs->settings.count; i-- > 0;) {
        const char *text = defs->settings.items[i].text;
        if (text != NULL && strncmp(text, name, size) == 0 && text[size] == '=')
            return text + size + 1;
    }
    return NULL;
}

static int by_ticks(const void *one, const void *two)
{
    const struct memory_def *a = one, *b = two;
    if (a->ticks != b->ticks)
        return a->ticks < b->ticks ? -1 : 1;
    return (a->uid > b->uid) - (a->uid < b->uid);
}

void definitions_finish(struct definitions *defs)
{
    frames_leave_shim_out(defs);
    if (defs->memories.count != 0)
        qsort(defs->memories.items, defs->memories.count, sizeof defs->memories.items[0], by_ticks);
}

void definitions_free(struct definitions *defs)
{
    kept_bytes_free(&defs->kept);
    free(defs->strings.items);
    free(defs->apis.items);
    free(defs->settings.items);
    free(defs->threads.items);
    free(defs->objects.items);
    free(defs->untabled.items);
    free(defs->bypasses.items);
    free(defs->stacks.items);
    free(defs->sources.items);
    free(defs->clocks.items);
    free(defs->contexts.items);
    free(defs->streams.items);
    free(defs->kernels.items);
    free(defs->kernel_facts.items);
    free(defs->processes.items);
    free(defs->device_bases.items);
    free(defs->memories.items);
    for (size_t i = 0; i < sizeof defs->by_id / sizeof defs->by_id[0]; i++)
        id_map_free(&defs->by_id[i]);
    *defs = (struct definitions){0};
}

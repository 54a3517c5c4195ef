/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUs, contexts and streams of a process, in nsys' TARGET_INFO_ tables. Called by export_sqlite.c. A trace has no
 * identity of a GPU that other processes know, so two processes have one GPU where host, CUDA_VISIBLE_DEVICES and number
 * are the same.
 */

#include "analysis/views/export/sqlite/sqlite_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/views/export/sqlite/sqlite_database.h"
#include "analysis/views/export/sqlite/sqlite_row.h"

/* ENUM_CUPTI_STREAM_TYPE */
enum { STREAM_UNKNOWN, STREAM_DEFAULT, STREAM_NON_BLOCKING, STREAM_NULL };

static const char *fact_of(const struct definitions *defs, int32_t device, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "device.%d.%s", device, what);
    return definitions_setting(defs, name);
}

static void row_fact(struct database *database, const char *fact)
{
    sqlite_row_number_if(database, fact != NULL, fact != NULL ? strtoull(fact, NULL, 10) : 0);
}

static bool is_same(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static struct known_gpu *gpu_of(struct database *database, int32_t device)
{
    const struct trace *trace = &database->traced->report.trace;
    const char *visible = definitions_setting(&trace->defs, "CUDA_VISIBLE_DEVICES");
    for (size_t i = 0; i < database->gpus.count; i++) {
        struct known_gpu *gpu = &database->gpus.items[i];
        if (gpu->ordinal == device && strcmp(gpu->host, trace->header.host) == 0 && is_same(gpu->visible, visible))
            return gpu;
    }
    return NULL;
}

/* CUDA's own number of it, if no other GPU of the database has that. */
static uint32_t free_id(const struct database *database, int32_t device)
{
    uint32_t most = 0;
    bool taken = false;
    for (size_t i = 0; i < database->gpus.count; i++) {
        taken |= database->gpus.items[i].id == (uint32_t)device;
        most = database->gpus.items[i].id >= most ? database->gpus.items[i].id + 1 : most;
    }
    return taken ? most : (uint32_t)device;
}

static void add_gpu(struct database *database, int32_t device)
{
    const struct trace *trace = &database->traced->report.trace;
    if (!TABLE_ADD(&database->gpus)) {
        database->out_of_memory = true;
        return;
    }
    database->gpus.count--; /* not yet among those that have a number */
    struct known_gpu gpu = {.host = trace->header.host,
                            .visible = definitions_setting(&trace->defs, "CUDA_VISIBLE_DEVICES"),
                            .ordinal = device,
                            .id = free_id(database, device)};
    database->gpus.items[database->gpus.count++] = gpu;
    sqlite_row_begin(database, TABLE_GPU);
    sqlite_row_number(database, gpu.id);
    sqlite_row_text(database, fact_of(&trace->defs, device, "name"));
    row_fact(database, fact_of(&trace->defs, device, "multiprocessors"));
    sqlite_row_number(database, (uint64_t)device);
    row_fact(database, fact_of(&trace->defs, device, "capability_major"));
    row_fact(database, fact_of(&trace->defs, device, "capability_minor"));
    sqlite_row_end(database);
}

static void add_device(struct database *database, int32_t device)
{
    const struct trace *trace = &database->traced->report.trace;
    if (gpu_of(database, device) == NULL)
        add_gpu(database, device);
    const struct known_gpu *gpu = gpu_of(database, device);
    if (gpu == NULL)
        return;
    sqlite_row_begin(database, TABLE_CUDA_DEVICE);
    sqlite_row_number(database, gpu->id);
    sqlite_row_number(database, (uint64_t)device);
    sqlite_row_number(database, trace->header.pid);
    row_fact(database, fact_of(&trace->defs, device, "multiprocessors"));
    sqlite_row_end(database);
}

bool sqlite_targets_gpu(struct database *database, uint32_t context, uint32_t *id)
{
    const struct context_def *found = definitions_context(&database->traced->report.trace.defs, context);
    const struct known_gpu *gpu = found != NULL && found->device >= 0 ? gpu_of(database, found->device) : NULL;
    *id = gpu != NULL ? gpu->id : 0;
    return gpu != NULL;
}

static bool null_stream(const struct definitions *defs, uint32_t context, uint32_t *uid)
{
    for (size_t i = 0; i < defs->streams.count; i++) {
        *uid = defs->streams.items[i].uid;
        if (defs->streams.items[i].kind == PTDS_STREAM_LEGACY && defs->streams.items[i].context == context)
            return true;
    }
    return false;
}

static void add_context(struct database *database, const struct context_def *context)
{
    const struct trace *trace = &database->traced->report.trace;
    uint32_t stream = 0, gpu = 0;
    bool has_null = null_stream(&trace->defs, context->uid, &stream);
    bool on_gpu = sqlite_targets_gpu(database, context->uid, &gpu);
    sqlite_row_begin(database, TABLE_CUDA_CONTEXT);
    sqlite_row_number_if(database, has_null, stream);
    sqlite_row_number(database, trace->header.pid);
    sqlite_row_number_if(database, on_gpu, gpu);
    sqlite_row_number(database, context->uid);
    sqlite_row_number_if(database, context->kind != PTDS_CONTEXT_UNKNOWN, context->kind == PTDS_CONTEXT_GREEN);
    sqlite_row_end(database);
}

static unsigned stream_type(uint32_t kind)
{
    switch (kind) {
    case PTDS_STREAM_LEGACY: return STREAM_NULL;
    case PTDS_STREAM_PER_THREAD:
    case PTDS_STREAM_BLOCKING:
    case PTDS_STREAM_SHIM_BLOCKING: return STREAM_DEFAULT;
    case PTDS_STREAM_NON_BLOCKING:
    case PTDS_STREAM_SHIM_NON_BLOCKING: return STREAM_NON_BLOCKING;
    default: return STREAM_UNKNOWN;
    }
}

static void add_stream(struct database *database, const struct stream_def *stream)
{
    sqlite_row_begin(database, TABLE_CUDA_STREAM);
    sqlite_row_number(database, stream->uid);
    sqlite_row_number(database, database->traced->report.trace.header.pid);
    sqlite_row_number(database, stream->context);
    sqlite_row_number(database, (uint64_t)(int64_t)stream->priority);
    sqlite_row_number(database, stream_type(stream->kind));
    sqlite_row_end(database);
}

void sqlite_targets_write(struct database *database)
{
    const struct definitions *defs = &database->traced->report.trace.defs;
    uint64_t seen = 0; /* devices below 64, and the shim records facts of no others */
    for (size_t i = 0; i < defs->contexts.count; i++) {
        int32_t device = defs->contexts.items[i].device;
        if (device < 0 || device >= 64 || (seen & UINT64_C(1) << device))
            continue;
        seen |= UINT64_C(1) << device;
        add_device(database, device);
    }
    for (size_t i = 0; i < defs->contexts.count; i++)
        add_context(database, &defs->contexts.items[i]);
    for (size_t i = 0; i < defs->streams.count; i++)
        add_stream(database, &defs->streams.items[i]);
}

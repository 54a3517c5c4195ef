/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls and what they did, in nsys' CUPTI_ACTIVITY_KIND_ tables. Called by export_sqlite.c, call by call. Must not invent a
 * time: GPU work whose time is not in the trace has no row here, and sqlite_activity_end says how much that is.
 */

#include "analysis/views/export/sqlite/sqlite_activity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/line.h"
#include "analysis/base/text.h"
#include "analysis/views/export/sqlite/sqlite_database.h"
#include "analysis/views/export/sqlite/sqlite_row.h"
#include "analysis/views/export/sqlite/sqlite_strings.h"
#include "analysis/views/export/sqlite/sqlite_targets.h"

/* Ids of nsys' enumerations. */
enum {
    COPY_UNKNOWN,
    COPY_HTOD,
    COPY_DTOH,
    COPY_HTOA,
    COPY_ATOH,
    COPY_ATOA,
    COPY_ATOD,
    COPY_DTOA,
    COPY_DTOD,
    COPY_HTOH,
    COPY_PTOP
};
enum { KIND_PAGEABLE, KIND_PINNED, KIND_DEVICE, KIND_ARRAY, KIND_MANAGED, KIND_DEVICE_STATIC, KIND_UNKNOWN = 7 };
enum { SYNC_EVENT = 1, SYNC_STREAM_WAITS = 2, SYNC_STREAM = 3, SYNC_CONTEXT = 4 };
enum { LAUNCH_REGULAR = 1, LAUNCH_COOPERATIVE = 2 };
static const uint32_t no_value = UINT32_MAX; /* CUPTI's: of a synchronisation that has no stream, or no event */

static uint64_t api_string(struct database *database, uint32_t api)
{
    uint64_t number;
    if (sqlite_strings_known(database, STRING_API, api, &number))
        return number;
    return sqlite_strings_keep(database, STRING_API, api, definitions_api_name(&database->traced->report.trace.defs, api));
}

static void add_runtime(struct database *database, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint64_t name = api_string(database, call->api);
    sqlite_row_begin(database, TABLE_RUNTIME);
    sqlite_row_number(database, sqlite_database_time(database, call->enter));
    sqlite_row_number_if(database, view->timed, sqlite_database_time(database, call->leave));
    sqlite_row_number(database, sqlite_database_thread(database, view->call->thread));
    sqlite_row_number(database, database->correlation);
    sqlite_row_number(database, name);
    sqlite_row_number(database, call->result);
    sqlite_row_number_if(database, call->stack != 0, call->stack);
    sqlite_row_end(database);
}

static unsigned memory_kind(unsigned kind)
{
    switch (kind) {
    case PTDS_MEMORY_PAGEABLE: return KIND_PAGEABLE;
    case PTDS_MEMORY_PINNED:
    case PTDS_MEMORY_REGISTERED: return KIND_PINNED;
    case PTDS_MEMORY_DEVICE:
    case PTDS_MEMORY_POOL:
    case PTDS_MEMORY_MAPPED:
    case PTDS_MEMORY_IPC:
    case PTDS_MEMORY_EXTERNAL: return KIND_DEVICE;
    case PTDS_MEMORY_ARRAY: return KIND_ARRAY;
    case PTDS_MEMORY_MANAGED: return KIND_MANAGED;
    case PTDS_MEMORY_GLOBAL: return KIND_DEVICE_STATIC;
    default: return KIND_UNKNOWN;
    }
}

/* 0 host, 1 device, 2 array; 3: the kind does not tell. Where managed memory lies is not known. */
static unsigned side_of(unsigned kind)
{
    switch (memory_kind(kind)) {
    case KIND_PAGEABLE:
    case KIND_PINNED: return 0;
    case KIND_DEVICE:
    case KIND_DEVICE_STATIC: return 1;
    case KIND_ARRAY: return 2;
    default: return 3;
    }
}

/* The direction: as the function's name has it, else by the memory on both sides. */
static unsigned copy_kind(const struct call_view *view)
{
    static const struct {
        const char *part;
        unsigned kind;
    } named[] = {{"HtoD", COPY_HTOD}, {"DtoH", COPY_DTOH}, {"HtoA", COPY_HTOA}, {"AtoH", COPY_ATOH}, {"AtoA", COPY_ATOA},
                 {"AtoD", COPY_ATOD}, {"DtoA", COPY_DTOA}, {"DtoD", COPY_DTOD}, {"Peer", COPY_PTOP}};
    static const unsigned by_sides[4][4] = {{COPY_HTOH, COPY_HTOD, COPY_HTOA, COPY_UNKNOWN},
                                            {COPY_DTOH, COPY_DTOD, COPY_DTOA, COPY_UNKNOWN},
                                            {COPY_ATOH, COPY_ATOD, COPY_ATOA, COPY_UNKNOWN},
                                            {COPY_UNKNOWN, COPY_UNKNOWN, COPY_UNKNOWN, COPY_UNKNOWN}};
    const char *name = view->api != NULL && view->api->text != NULL ? view->api->text : "";
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (strstr(name, named[i].part) != NULL)
            return named[i].kind;
    return by_sides[side_of(view->call->r.kinds >> 4)][side_of(view->call->r.kinds & 15)];
}

/* The first columns of all tables of GPU work. */
static void begin_work(struct database *database, enum sqlite_table table, const struct call_view *view,
                       const struct device_run *run)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint32_t gpu = 0, stream = call->target != 0 ? call->target : call->stream;
    bool known = sqlite_targets_gpu(database, call->context, &gpu);
    uint64_t zero = sqlite_database_time(database, run->base), end = zero + (uint64_t)run->end;
    database->last = (int64_t)(end - database->last) > 0 ? end : database->last;
    sqlite_row_begin(database, table);
    sqlite_row_number(database, zero + (uint64_t)run->start);
    sqlite_row_number(database, end);
    sqlite_row_number_if(database, known, gpu);
    sqlite_row_number(database, call->context);
    sqlite_row_number(database, stream);
    sqlite_row_number(database, database->correlation);
    sqlite_row_number(database, sqlite_database_tid(database, 0));
}

struct kernel_names {
    uint64_t demangled, brief, mangled; /* mangled 0: not known */
};

static struct kernel_names kernel_names(struct database *database, uint32_t uid)
{
    enum { NAME_ROOM = 1 << 14 };
    const struct definitions *defs = &database->traced->report.trace.defs;
    const struct kernel_def *kernel = definitions_kernel(defs, uid);
    const char *mangled = kernel != NULL ? definitions_string(defs, kernel->name) : NULL;
    struct kernel_names names = {0};
    char text[NAME_ROOM];
    if (sqlite_strings_known(database, STRING_KERNEL, uid, &names.demangled)) {
        sqlite_strings_known(database, STRING_KERNEL_SHORT, uid, &names.brief);
        sqlite_strings_known(database, STRING_KERNEL_MANGLED, uid, &names.mangled);
        return names;
    }
    if (mangled != NULL && mangled[0] != 0) {
        text_demangle(text, sizeof text, mangled);
        names.mangled = sqlite_strings_keep(database, STRING_KERNEL_MANGLED, uid, mangled);
    } else {
        report_words_id(&database->traced->report, FINDING_KERNELS, uid, text, sizeof text);
    }
    names.demangled = sqlite_strings_keep(database, STRING_KERNEL, uid, text);
    names.brief = sqlite_strings_keep(database, STRING_KERNEL_SHORT, uid, text_function(text).text);
    return names;
}

static void add_kernel(struct database *database, const struct call_view *view, const struct device_run *run)
{
    const struct call *call = view->call;
    struct kernel_names names = kernel_names(database, call->r.object);
    bool shaped = call->words >= LAUNCH_WORDS_AT;
    uint64_t grid = call_word(call, 0), rest = call_word(call, 1), block = call_word(call, 2);
    begin_work(database, TABLE_KERNEL, view, run);
    sqlite_row_number(database, names.demangled);
    sqlite_row_number(database, names.brief);
    sqlite_row_number_if(database, names.mangled != 0, names.mangled);
    sqlite_row_number_if(database, shaped, block >> 48 & PTDS_LAUNCH_COOPERATIVE ? LAUNCH_COOPERATIVE : LAUNCH_REGULAR);
    sqlite_row_number_if(database, shaped, grid & UINT32_MAX);
    sqlite_row_number_if(database, shaped, grid >> 32);
    sqlite_row_number_if(database, shaped, rest & UINT32_MAX);
    for (unsigned i = 0; i < 3; i++)
        sqlite_row_number_if(database, shaped, block >> 16 * i & UINT16_MAX);
    sqlite_row_number_if(database, shaped, rest >> 32);
    sqlite_row_end(database);
}

static void add_copy(struct database *database, const struct call_view *view, const struct device_run *run)
{
    uint64_t bytes = export_job_bytes(view->call);
    begin_work(database, TABLE_MEMCPY, view, run);
    sqlite_row_number_if(database, bytes != 0, bytes);
    sqlite_row_number(database, copy_kind(view));
    sqlite_row_number(database, memory_kind(view->call->r.kinds >> 4));
    sqlite_row_number(database, memory_kind(view->call->r.kinds & 15));
    sqlite_row_end(database);
}

static void add_memset(struct database *database, const struct call_view *view, const struct device_run *run)
{
    uint64_t bytes = export_job_bytes(view->call);
    begin_work(database, TABLE_MEMSET, view, run);
    sqlite_row_number_if(database, bytes != 0, bytes);
    sqlite_row_number(database, memory_kind(view->call->r.kinds & 15));
    sqlite_row_end(database);
}

static void add_graph(struct database *database, const struct call_view *view, const struct device_run *run)
{
    begin_work(database, TABLE_GRAPH, view, run);
    sqlite_row_number_if(database, view->call->r.object != 0, view->call->r.object);
    sqlite_row_end(database);
}

static const struct {
    uint32_t op;
    enum left_kind kind;
    void (*add)(struct database *database, const struct call_view *view, const struct device_run *run);
    const char *many, *table;
} works[] = {
    {PTDS_OP_LAUNCH, LEFT_KERNELS, add_kernel, "kernels", "CUPTI_ACTIVITY_KIND_KERNEL"},
    {PTDS_OP_COPY, LEFT_COPIES, add_copy, "copies", "CUPTI_ACTIVITY_KIND_MEMCPY"},
    {PTDS_OP_MEMSET, LEFT_MEMSETS, add_memset, "memsets", "CUPTI_ACTIVITY_KIND_MEMSET"},
    {PTDS_OP_GRAPH_LAUNCH, LEFT_GRAPHS, add_graph, "graphs", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"},
};
enum { WORKS = sizeof works / sizeof works[0] };

static void add_work(struct database *database, const struct call_view *view, const struct device_run *run)
{
    for (size_t i = 0; i < WORKS; i++) {
        if (works[i].op != view->call->r.op || (!view->work && run == NULL))
            continue;
        database->left[works[i].kind].all++;
        if (run != NULL)
            works[i].add(database, view, run);
        else
            database->left[works[i].kind].out++;
    }
}

static unsigned sync_type(unsigned op)
{
    switch (op) {
    case PTDS_OP_STREAM_SYNC: return SYNC_STREAM;
    case PTDS_OP_EVENT_SYNC: return SYNC_EVENT;
    case PTDS_OP_CTX_SYNC: return SYNC_CONTEXT;
    case PTDS_OP_EVENT_WAIT: return SYNC_STREAM_WAITS;
    default: return 0;
    }
}

/* As CUPTI has them: the host's time in the call. */
static void add_synchronisation(struct database *database, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    unsigned type = sync_type(call->op);
    bool of_event = type == SYNC_EVENT || type == SYNC_STREAM_WAITS;
    uint32_t gpu = 0, stream = call->target != 0 ? call->target : call->stream;
    if (type == 0 || call->result != 0)
        return;
    database->left[LEFT_SYNCHRONISATIONS].all += type != SYNC_STREAM_WAITS;
    database->left[LEFT_SYNCHRONISATIONS].out += type != SYNC_STREAM_WAITS && !view->timed;
    if (!view->timed)
        return;
    bool known = sqlite_targets_gpu(database, call->context, &gpu);
    sqlite_row_begin(database, TABLE_SYNCHRONIZATION);
    sqlite_row_number(database, sqlite_database_time(database, call->enter));
    sqlite_row_number(database, sqlite_database_time(database, call->leave));
    sqlite_row_number_if(database, known, gpu);
    sqlite_row_number(database, call->context);
    sqlite_row_number(database, stream != 0 && type != SYNC_CONTEXT && type != SYNC_EVENT ? stream : no_value);
    sqlite_row_number(database, database->correlation);
    sqlite_row_number(database, sqlite_database_tid(database, 0));
    sqlite_row_number(database, type);
    sqlite_row_number(database, of_event ? call->object : no_value);
    sqlite_row_end(database);
}

void sqlite_activity_call(struct database *database, const struct call_view *view)
{
    uint64_t end = sqlite_database_time(database, view->timed ? view->call->r.leave : view->call->r.enter);
    database->last = end > database->last ? end : database->last;
    add_runtime(database, view);
    add_work(database, view, view->ran);
    add_synchronisation(database, view);
}

void sqlite_activity_end(struct database *database)
{
    char text[200];
    struct line line = {0};
    for (size_t i = 0; i < WORKS; i++) {
        struct left left = database->left[works[i].kind];
        if (left.out == 0)
            continue;
        snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64 " %s: their time on the GPU is not in the trace; not in %s",
                 left.out, left.all, works[i].many, works[i].table);
        sqlite_row_meta(database, "left_out", text);
        line_add(&line, "%s%" PRIu64 " of %" PRIu64 " %s", line.used == 0 ? "" : ", ", left.out, left.all, works[i].many);
    }
    struct left left = database->left[LEFT_SYNCHRONISATIONS];
    if (left.out != 0) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " of %" PRIu64 " synchronisations: not timed; not in CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                 left.out, left.all);
        sqlite_row_meta(database, "left_out", text);
    }
    if (line.used != 0)
        fprintf(stderr,
                "ptds export: %s: not in the GPU tables: %s, whose times on the GPU are not in the trace"
                " (PTDS_DEVICE_TIMES=cupti records them)\n",
                database->traced->path, line.text);
    memset(database->left, 0, sizeof database->left);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens and orders the traces that a verb was given. Called by the verbs; must go on past what it cannot read, and say so.
 */
#include "analysis/report/many/traces.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/heap.h"
#include "analysis/base/text.h"
#include "analysis/report/floor.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/outcome.h"
#include "analysis/trace/merge.h"

static void tell(struct traces *traces, const char *line)
{
    char clean[PATH_MAX + 256]; /* a file's name may hold anything */
    text_clean(clean, sizeof clean, line, strlen(line));
    if (traces->trouble != NULL)
        traces->trouble(traces->data, clean);
}

static uint64_t first_ticks(const struct trace *trace)
{
    struct merge merge;
    uint64_t first = trace->defs.clocks.count == 2 ? trace->defs.clocks.items[0].ticks : UINT64_MAX;
    const struct call *call = merge_begin(&merge, trace) == 0 ? merge_next(&merge) : NULL;
    if (call != NULL && call->r.enter < first)
        first = call->r.enter;
    merge_end(&merge);
    return first;
}

static bool keep(struct traces *traces, struct traced *traced)
{
    const struct definitions *defs = &traced->report.trace.defs;
    if (!TABLE_ADD(&traces->list))
        return false;
    *TABLE_LAST(&traces->list) = traced;
    traced->first_ticks = first_ticks(&traced->report.trace);
    traced->has_realtime =
        defs->clocks.count == 2 && defs->clocks.items[0].realtime != 0 && trace_has_time(&traced->report.trace);
    return true;
}

static void drop(struct traced *traced)
{
    report_end(&traced->report);
    trace_source_close(&traced->source);
    free(traced->path);
    free(traced);
}

static int build(const struct traces *traces, struct traced *traced, char *error)
{
    return traces->later ? report_read(&traced->report, &traced->source, error)
                         : report_build_watched(&traced->report, &traced->source, NULL, traces->watch, error);
}

/* The same file, by whatever name: its calls would count twice. */
static bool is_known(struct traces *traces, const char *path, struct stat *status)
{
    char line[PATH_MAX + 64];
    if (stat(path, status) != 0)
        return false;
    for (size_t i = 0; i < traces->list.count; i++) {
        const struct traced *known = traces->list.items[i];
        if (known->device != status->st_dev || known->inode != status->st_ino)
            continue;
        snprintf(line, sizeof line, "%s: given twice, counted once", path);
        tell(traces, line);
        return true;
    }
    return false;
}

static bool add_file(struct traces *traces, const char *path)
{
    char error[TRACE_ERROR_SIZE];
    struct stat status = {.st_ino = 0};
    if (is_known(traces, path, &status))
        return true;
    struct traced *traced = heap_zeroed(1, sizeof *traced);
    if (traced == NULL)
        return false;
    traced->device = status.st_dev;
    traced->inode = status.st_ino;
    traced->path = strdup(path);
    if (traced->path == NULL) {
        free(traced);
        return false;
    }
    if (trace_source_open(&traced->source, traced->path, error) == 0 && build(traces, traced, error) == 0) {
        if (keep(traces, traced))
            return true;
        drop(traced);
        return false;
    }
    tell(traces, error);
    traces->unreadable++;
    drop(traced);
    return true;
}

/* A damaged trace is still one. */
bool traces_is_trace(const char *path)
{
    char magic[8] = "";
    size_t size = strlen(path);
    if (size > 5 && strcmp(path + size - 5, ".ptds") == 0)
        return true;
    FILE *file = fopen(path, "rbe");
    bool is = file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic &&
              memcmp(magic, PTDS_TRACE_MAGIC, sizeof magic) == 0;
    if (file != NULL)
        fclose(file);
    return is;
}

static bool is_kind(const char *path, mode_t kind)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

/* What was found below a folder. */
struct entries {
    unsigned taken, passed;
};

enum { DEEPEST = 16 };
static bool add_folder(struct traces *traces, const char *folder, unsigned depth, struct entries *found);

/* A link to a folder may lead back to where it lies. */
static bool is_own_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool add_entries(struct traces *traces, const char *folder, struct dirent **entries, int count, unsigned depth,
                        struct entries *found)
{
    char path[PATH_MAX];
    int bytes = (int)strlen(folder);
    while (bytes > 1 && folder[bytes - 1] == '/')
        bytes--;
    const char *between = folder[0] == '/' && bytes == 1 ? "" : "/"; /* of the root folder */
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            snprintf(path, sizeof path, "%.*s%s%s", bytes, folder, between, name) >= (int)sizeof path)
            continue;
        if (is_own_folder(path) && depth < DEEPEST && !add_folder(traces, path, depth + 1, found))
            return false;
        if (!is_kind(path, S_IFREG))
            continue;
        bool take = traces_is_trace(path);
        found->taken += take;
        found->passed += !take;
        if (take && !add_file(traces, path))
            return false;
    }
    return true;
}

static bool add_folder(struct traces *traces, const char *folder, unsigned depth, struct entries *found)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    bool added = add_entries(traces, folder, entries, count > 0 ? count : 0, depth, found);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return added;
}

bool traces_add(struct traces *traces, const char *path)
{
    char line[PATH_MAX + 64];
    struct entries found = {0};
    if (!is_kind(path, S_IFDIR))
        return add_file(traces, path);
    if (!add_folder(traces, path, 0, &found))
        return false;
    if (found.taken == 0) {
        snprintf(line, sizeof line, "%s: no traces in this folder", path);
        traces->unreadable++;
        tell(traces, line);
    } else if (found.passed != 0) {
        snprintf(line, sizeof line, "%s: %u other file%s passed over", path, found.passed, found.passed == 1 ? "" : "s");
        tell(traces, line);
    }
    return true;
}

static size_t expected_below(const char *path, unsigned depth)
{
    char file[PATH_MAX];
    size_t count = 0;
    DIR *folder = is_kind(path, S_IFDIR) ? opendir(path) : NULL;
    if (folder == NULL)
        return 1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name) >= (int)sizeof file)
            continue;
        if (is_own_folder(file))
            count += depth < DEEPEST ? expected_below(file, depth + 1) : 0;
        else
            count += is_kind(file, S_IFREG) && traces_is_trace(file);
    }
    closedir(folder);
    return count;
}

size_t traces_expected(const char *path)
{
    return expected_below(path, 0);
}

static int order(const void *a, const void *b)
{
    const struct traced *one = *(struct traced *const *)a, *two = *(struct traced *const *)b;
    const struct ptds_trace_header *first = &one->report.trace.header, *second = &two->report.trace.header;
    int host = strcmp(first->host, second->host);
    if (host != 0)
        return host;
    if (first->rank != second->rank)
        return first->rank < second->rank ? -1 : 1;
    if (first->pid != second->pid)
        return first->pid < second->pid ? -1 : 1;
    return strcmp(one->path, two->path);
}

void traces_weigh(struct traces *traces, struct floor floor)
{
    for (size_t i = 0; i < traces->list.count; i++)
        rank_findings(&traces->list.items[i]->report, floor);
}

void traces_order(struct traces *traces)
{
    if (traces->list.count != 0)
        qsort(traces->list.items, traces->list.count, sizeof *traces->list.items, order);
}

struct report_totals traces_gpu_totals(const struct traces *traces)
{
    struct report_totals all = {0};
    for (size_t i = 0; i < traces->list.count; i++) {
        all.gpu_operations += traces->list.items[i]->report.totals.gpu_operations;
        all.gpu_timed += traces->list.items[i]->report.totals.gpu_timed;
    }
    return all;
}

void traces_free(struct traces *traces)
{
    for (size_t i = 0; i < traces->list.count; i++)
        drop(traces->list.items[i]);
    free(traces->list.items);
    *traces = (struct traces){0};
}

uint64_t traces_origin(const struct traces *traces)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < traces->list.count; i++) {
        const struct traced *traced = traces->list.items[i];
        uint64_t begin = traced->has_realtime ? traced_realtime(traced, traced->first_ticks) : UINT64_MAX;
        first = begin < first ? begin : first;
    }
    return first != UINT64_MAX ? first : 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for call sites, for the command only (elfutils, and files in /tmp). Finds the object or the perf map that an
 * address belongs to, opens each once, and puts the answers into words. Must say nothing rather than guess.
 */
#include "analysis/symbols/symbolizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/line.h"
#include "analysis/symbols/object_file.h"
#include "analysis/symbols/perf_map.h"
#include "analysis/base/text.h"
#include "analysis/trace/header.h"

/* Makes the linker take the demangler, which text.c uses where a process has one. */
extern char *__cxa_demangle(const char *name, char *out, size_t *size, int *status);
extern char *(*const ptds_demangler)(const char *, char *, size_t *, int *);
char *(*const ptds_demangler)(const char *, char *, size_t *, int *) = __cxa_demangle;

enum { PLACES_MOST = 8 };

struct process_map {
    uint32_t pid;
    uint64_t from, to;
    struct perf_map map; /* empty if there is none */
};

struct symbols {
    struct site_namer namer;
    TABLE_OF(struct object_file) objects;
    TABLE_OF(struct process_map) maps;
    size_t map; /* one past the process's in use; 0 none */
};

static bool is_object(const struct object_file *file, const struct object_def *object)
{
    return strcmp(file->path, object->text) == 0 && file->build_id_size == object->build_id_size &&
           memcmp(file->build_id, object->build_id, file->build_id_size) == 0;
}

/* NULL without memory. */
static const struct object_file *file_of(struct symbols *symbols, const struct object_def *object)
{
    if (object->text == NULL)
        return NULL;
    for (size_t i = 0; i < symbols->objects.count; i++)
        if (is_object(&symbols->objects.items[i], object))
            return &symbols->objects.items[i];
    if (!TABLE_ADD(&symbols->objects))
        return NULL;
    struct object_file *file = TABLE_LAST(&symbols->objects);
    object_file_open(file, object);
    if (file->path != NULL)
        return file;
    object_file_close(file);
    symbols->objects.count--;
    return NULL;
}

static const struct perf_function *jit_function(const struct symbols *symbols, uint64_t pc)
{
    return symbols->map != 0 ? perf_map_at(&symbols->maps.items[symbols->map - 1].map, pc - 1) : NULL;
}

/* "py::name:/path/file.py", as Python writes it. */
static size_t jit_place(const struct perf_function *function, struct site_place *out)
{
    const char *name = function->name, *colon = NULL;
    *out = (struct site_place){0};
    if (strncmp(name, "py::", 4) == 0) {
        name += 4;
        colon = strstr(name, ":/");
        colon = colon != NULL ? colon : strstr(name, ":<");
    }
    if (colon != NULL)
        snprintf(out->file, sizeof out->file, "%s", colon + 1);
    snprintf(out->function, sizeof out->function, "%.*s", colon != NULL ? (int)(colon - name) : (int)strlen(name), name);
    return 1;
}

/* One before the return address: inside the call, even where nothing follows it. */
static uint64_t call_address(const struct object_def *object, uint64_t pc)
{
    return pc - object->bias - 1;
}

static size_t places_as_written(struct symbols *symbols, const struct object_def *object, uint64_t pc,
                                struct site_place *out, size_t most)
{
    if (most == 0)
        return 0;
    if (object == NULL) {
        const struct perf_function *function = jit_function(symbols, pc);
        return function != NULL ? jit_place(function, out) : 0;
    }
    const struct object_file *file = file_of(symbols, object);
    return file != NULL ? object_file_places(file, call_address(object, pc), out, most) : 0;
}

/* A file's names may hold any bytes, which could steer a terminal. */
static size_t places(struct site_namer *namer, const struct object_def *object, uint64_t pc, struct site_place *out,
                     size_t most)
{
    size_t count = places_as_written(namer->data, object, pc, out, most);
    for (size_t i = 0; i < count; i++) {
        text_clean(out[i].function, sizeof out->function, out[i].function, sizeof out->function);
        text_clean(out[i].file, sizeof out->file, out[i].file, sizeof out->file);
    }
    return count;
}

static const char *trouble(struct site_namer *namer, const struct object_def *object)
{
    const struct object_file *file = object != NULL ? file_of(namer->data, object) : NULL;
    return file != NULL ? file->trouble : NULL;
}

static void put_place(struct line *line, const struct site_place *place)
{
    line_add(line, "%s", place->function[0] != 0 ? place->function : "?");
    if (place->file[0] != 0 && place->line != 0)
        line_add(line, " (%s:%d)", text_base(place->file), place->line);
    else if (place->file[0] != 0)
        line_add(line, " (%s)", text_base(place->file));
}

static bool name_site(struct site_namer *namer, const struct object_def *object, uint64_t pc, char *out, size_t room)
{
    struct site_place found[PLACES_MOST];
    struct line line = {.used = 0};
    uint64_t offset;
    const char *why = trouble(namer, object);
    size_t count = places(namer, object, pc, found, PLACES_MOST);
    for (size_t i = 0; i < count; i++) {
        line_add(&line, "%s", i != 0 ? ", inlined into " : "");
        put_place(&line, &found[i]);
    }
    if (why != NULL && why != object_file_absent) /* that a file is elsewhere says nothing about the place */
        line_add(&line, "(%s)", why);
    if (count == 1 && found[0].file[0] == 0 && object != NULL &&
        object_file_symbol(file_of(namer->data, object), call_address(object, pc), found[0].function,
                           sizeof found[0].function, &offset))
        line_add(&line, "+0x%llx", (unsigned long long)offset + 1);
    if (line.used == 0)
        return false;
    snprintf(out, room, "%s", line.text);
    return true;
}

struct site_namer *symbolizer_begin(void)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols == NULL)
        return NULL;
    symbols->namer = (struct site_namer){.name = name_site, .data = symbols, .places = places, .trouble = trouble};
    return &symbols->namer;
}

/* The list may be as old as the process and was last written while it ran; some write the rest when they end. */
static void process_times(const struct trace *trace, uint64_t *from, uint64_t *to)
{
    const struct definitions *defs = &trace->defs;
    const uint64_t tick_ns = 10000000, slack = 10000000000u;
    if (defs->clocks.count != 2)
        return; /* nothing fits what both are from the start */
    const struct clock_def *first = &defs->clocks.items[0], *last = &defs->clocks.items[1];
    uint64_t born = trace->header.born * tick_ns;
    uint64_t age = first->monotonic > born ? first->monotonic - born : 0;
    *from = first->realtime > age + slack ? first->realtime - age - slack : 0;
    *to = last->realtime + slack;
}

void symbolizer_of(struct site_namer *namer, const struct trace *trace)
{
    struct symbols *symbols = namer != NULL ? namer->data : NULL;
    struct process_map process = {.pid = trace->header.pid};
    char path[64];
    if (symbols == NULL)
        return;
    process_times(trace, &process.from, &process.to);
    for (symbols->map = symbols->maps.count; symbols->map != 0; symbols->map--) {
        const struct process_map *known = &symbols->maps.items[symbols->map - 1];
        if (known->pid == process.pid && known->from == process.from && known->to == process.to)
            return;
    }
    snprintf(path, sizeof path, "/tmp/perf-%u.map", process.pid);
    if (header_is_of_this_host(&trace->header))
        perf_map_read(&process.map, path, process.from, process.to);
    if (!TABLE_ADD(&symbols->maps)) {
        perf_map_free(&process.map);
        return;
    }
    *TABLE_LAST(&symbols->maps) = process;
    symbols->map = symbols->maps.count;
}

void symbolizer_end(struct site_namer *namer)
{
    struct symbols *symbols = namer != NULL ? namer->data : NULL;
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->objects.count; i++)
        object_file_close(&symbols->objects.items[i]);
    for (size_t i = 0; i < symbols->maps.count; i++)
        perf_map_free(&symbols->maps.items[i].map);
    free(symbols->objects.items);
    free(symbols->maps.items);
    free(symbols);
}

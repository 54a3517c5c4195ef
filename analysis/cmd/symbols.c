/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for call sites, with elfutils: symbol from the ELF symbol table, line from DWARF where there is one. For the
 * command only. A file that was rebuilt since the trace gives no names: a wrong name is worse than an offset.
 */
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/cmd/cmd.h"
#include "analysis/table.h"

/* Makes the linker take the demangler, which text.c uses where a process has one. */
extern char *__cxa_demangle(const char *name, char *out, size_t *size, int *status);
extern char *(*const ptds_demangler)(const char *, char *, size_t *, int *);
char *(*const ptds_demangler)(const char *, char *, size_t *, int *) = __cxa_demangle;

struct opened {
    char *path;
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: no names from this object */
};

struct symbols {
    struct site_namer namer;
    TABLE_OF(struct opened) objects;
};

static char *no_debug_path = NULL;
static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .section_address = dwfl_offline_section_address,
                                         .debuginfo_path = &no_debug_path};

static bool same_build(Dwfl_Module *module, const struct object_def *object)
{
    const unsigned char *bits;
    GElf_Addr address, bias;
    if (object->build_id_size == 0)
        return true; /* the trace has none to compare; the path is all there is */
    if (dwfl_module_getelf(module, &bias) == NULL)
        return false;
    int size = dwfl_module_build_id(module, &bits, &address);
    return size > 0 && (uint32_t)size == object->build_id_size && memcmp(bits, object->build_id, (size_t)size) == 0;
}

static void open_module(struct opened *opened, const struct object_def *object)
{
    struct stat status;
    /* The path is the trace's word: nothing but a plain file is opened. */
    if (stat(object->text, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    opened->dwfl = dwfl_begin(&callbacks);
    if (opened->dwfl == NULL)
        return;
    Dwfl_Module *module = dwfl_report_offline(opened->dwfl, "object", object->text, -1);
    dwfl_report_end(opened->dwfl, NULL, NULL);
    if (module != NULL && same_build(module, object))
        opened->module = module;
}

static Dwfl_Module *module_of(struct symbols *symbols, const struct object_def *object)
{
    for (size_t i = 0; i < symbols->objects.count; i++)
        if (strcmp(symbols->objects.items[i].path, object->text) == 0)
            return symbols->objects.items[i].module;
    if (!TABLE_ADD(&symbols->objects))
        return NULL;
    struct opened *opened = TABLE_LAST(&symbols->objects);
    *opened = (struct opened){.path = strdup(object->text)};
    if (opened->path == NULL) {
        symbols->objects.count--;
        return NULL;
    }
    open_module(opened, object);
    return opened->module;
}

static bool name_site(struct site_namer *namer, const struct object_def *object, uint64_t pc, char *out, size_t room)
{
    Dwfl_Module *module = object->text != NULL ? module_of(namer->data, object) : NULL;
    GElf_Addr bias = 0;
    if (module == NULL || dwfl_module_getelf(module, &bias) == NULL)
        return false;
    /* One before the return address: inside the call, even where nothing follows it. */
    GElf_Addr address = pc - object->bias + bias - 1;
    GElf_Sym symbol;
    GElf_Off offset;
    const char *raw = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    if (raw == NULL)
        return false;
    char name[200];
    int line = 0;
    Dwfl_Line *at = dwfl_module_getsrc(module, address);
    const char *file = at != NULL ? dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL) : NULL;
    text_demangle(name, sizeof name, raw);
    if (file != NULL)
        snprintf(out, room, "%s (%s:%d)", name, text_base(file), line);
    else
        snprintf(out, room, "%s+0x%llx", name, (unsigned long long)(offset + 1));
    return true;
}

struct site_namer *symbols_begin(void)
{
    struct symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols == NULL)
        return NULL;
    symbols->namer = (struct site_namer){.name = name_site, .data = symbols};
    return &symbols->namer;
}

void symbols_end(struct site_namer *namer)
{
    struct symbols *symbols = namer != NULL ? namer->data : NULL;
    if (symbols == NULL)
        return;
    for (size_t i = 0; i < symbols->objects.count; i++) {
        dwfl_end(symbols->objects.items[i].dwfl);
        free(symbols->objects.items[i].path);
    }
    free(symbols->objects.items);
    free(symbols);
}

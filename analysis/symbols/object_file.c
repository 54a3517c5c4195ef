/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens objects with elfutils. Called by symbolizer.c. The path is the trace's word, so nothing but a plain file is opened,
 * and a file that is not the recorded build gives no names: a wrong name is worse than an offset.
 */
#include "analysis/symbols/object_file.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/text.h"

static char *standard_debug_path = NULL;
static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .section_address = dwfl_offline_section_address,
                                         .debuginfo_path = &standard_debug_path};

static bool is_plain(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool same_build(Dwfl_Module *module, const struct object_def *object)
{
    const unsigned char *bits;
    GElf_Addr address, bias;
    if (dwfl_module_getelf(module, &bias) == NULL)
        return false;
    if (object->build_id_size == 0)
        return true; /* the trace has none to compare; the path is all there is */
    int size = dwfl_module_build_id(module, &bits, &address);
    return size > 0 && (uint32_t)size == object->build_id_size && memcmp(bits, object->build_id, (size_t)size) == 0;
}

/* Takes the file if it is this build; says whether. */
static bool try_file(struct object_file *file, const struct object_def *object, const char *path)
{
    if (!is_plain(path))
        return false;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl == NULL)
        return false;
    Dwfl_Module *module = dwfl_report_offline(dwfl, "object", path, -1);
    dwfl_report_end(dwfl, NULL, NULL);
    if (module == NULL || !same_build(module, object)) {
        dwfl_end(dwfl);
        return false;
    }
    file->dwfl = dwfl;
    file->module = module;
    return true;
}

/* Debug files carry the build id of what they were split from: in the system's folder by id, or next to the object. */
static bool try_debug_files(struct object_file *file, const struct object_def *object)
{
    char path[PATH_MAX], hex[2 * sizeof object->build_id + 1] = "";
    if (object->build_id_size < 2)
        return false;
    for (uint32_t i = 0; i < object->build_id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", object->build_id[i]);
    snprintf(path, sizeof path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
    if (try_file(file, object, path))
        return true;
    const char *base = text_base(object->text);
    int folder = (int)(base - object->text);
    snprintf(path, sizeof path, "%s.debug", object->text);
    if (try_file(file, object, path))
        return true;
    snprintf(path, sizeof path, "%.*s.debug/%s.debug", folder, object->text, base);
    if (try_file(file, object, path))
        return true;
    snprintf(path, sizeof path, "/usr/lib/debug%s.debug", object->text);
    return try_file(file, object, path);
}

const char object_file_absent[] = "no such file here";

void object_file_open(struct object_file *file, const struct object_def *object)
{
    *file = (struct object_file){.path = strdup(object->text), .build_id_size = object->build_id_size};
    memcpy(file->build_id, object->build_id, sizeof file->build_id);
    if (try_file(file, object, object->text) || try_debug_files(file, object))
        return;
    file->trouble = !is_plain(object->text)      ? object_file_absent
                    : object->build_id_size != 0 ? "changed since the trace"
                                                 : "not an object file";
}

void object_file_close(struct object_file *file)
{
    dwfl_end(file->dwfl);
    free(file->path);
    *file = (struct object_file){0};
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *linkage = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL)
        linkage = dwarf_formstring(&attribute);
    return linkage != NULL ? linkage : dwarf_diename(die);
}

/* Files as the compiler was told them, made absolute by the folder it ran in. */
static void set_file(struct site_place *place, Dwarf_Die *unit, const char *name)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_attr(unit, DW_AT_comp_dir, &attribute) != NULL ? dwarf_formstring(&attribute) : NULL;
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    if (name[0] != '/' && folder != NULL && folder[0] == '/')
        snprintf(place->file, sizeof place->file, "%s/%s", folder, name);
    else
        snprintf(place->file, sizeof place->file, "%s", name);
}

/* Where the inlined function was called. */
static void set_call_site(struct site_place *place, Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0 && value <= INT_MAX)
        place->line = (int)value;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || value >= count)
        return;
    const char *name = dwarf_filesrc(files, value, NULL, NULL);
    if (name != NULL)
        set_file(place, unit, name);
}

/* The functions around the address, from DWARF; each one's line is where the one before it was inlined. */
static size_t places_in(Dwarf_Die *unit, Dwarf_Die *scopes, int count, struct site_place *out, size_t most)
{
    size_t used = 0;
    for (int i = 0; i < count && used < most; i++) {
        int tag = dwarf_tag(&scopes[i]);
        bool inlined = tag == DW_TAG_inlined_subroutine;
        if (!inlined && tag != DW_TAG_subprogram)
            continue;
        const char *name = name_of(&scopes[i]);
        if (name != NULL)
            text_demangle(out[used].function, sizeof out->function, name);
        out[used++].inlined = inlined;
        if (!inlined)
            break;
        if (used < most)
            set_call_site(&out[used], unit, &scopes[i]);
    }
    return used;
}

static int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die *found = NULL;
    int count = dwarf_getscopes(unit, address, &found);
    if (count <= 0)
        return 0;
    /* The scopes of that entry itself: where it is inlined, not where it was written. */
    Dwarf_Die innermost = found[0];
    free(found);
    count = dwarf_getscopes_die(&innermost, scopes);
    return count > 0 ? count : 0;
}

/* Without the index of addresses that gcc writes and clang does not, every unit is asked. */
static Dwarf_Die *unit_at(const struct object_file *file, GElf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(file->module, address, bias);
    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(file->module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

static size_t dwarf_places(const struct object_file *file, GElf_Addr address, struct site_place *out, size_t most)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = unit_at(file, address, &bias), *scopes = NULL;
    int line = 0;
    if (unit == NULL)
        return 0;
    Dwarf_Line *at = dwarf_getsrc_die(unit, address - bias);
    const char *source = at != NULL ? dwarf_linesrc(at, NULL, NULL) : NULL;
    if (source != NULL) {
        set_file(&out[0], unit, source);
        out[0].line = dwarf_lineno(at, &line) == 0 ? line : 0;
    }
    int count = scopes_at(unit, address - bias, &scopes);
    size_t used = places_in(unit, scopes, count, out, most);
    free(scopes);
    return used != 0 || source == NULL ? used : 1;
}

size_t object_file_places(const struct object_file *file, uint64_t address, struct site_place *out, size_t most)
{
    GElf_Addr bias = 0;
    uint64_t offset;
    if (most == 0 || file->module == NULL || dwfl_module_getelf(file->module, &bias) == NULL)
        return 0;
    memset(out, 0, most * sizeof *out);
    size_t used = dwarf_places(file, address + bias, out, most);
    if (used == 0 || out[0].function[0] == 0) {
        bool named = object_file_symbol(file, address, out[0].function, sizeof out[0].function, &offset);
        used = used == 0 && named ? 1 : used;
    }
    return used;
}

bool object_file_symbol(const struct object_file *file, uint64_t address, char *name, size_t room, uint64_t *offset)
{
    GElf_Addr bias = 0;
    GElf_Sym symbol;
    GElf_Off into;
    if (file->module == NULL || dwfl_module_getelf(file->module, &bias) == NULL)
        return false;
    const char *raw = dwfl_module_addrinfo(file->module, address + bias, &into, &symbol, NULL, NULL, NULL);
    if (raw == NULL)
        return false;
    text_demangle(name, room, raw);
    *offset = into;
    return true;
}

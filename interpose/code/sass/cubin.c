/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a cubin: sections, symbols, relocations, attributes. Called when a kernel's code is read. All numbers in
 * the file are somebody else's: each is compared with the size of what it points into before it is used. No pointer into
 * the image is ever used as one to a structure, since nothing in there need be aligned.
 */
#include "interpose/code/sass/cubin.h"

#include <string.h>

enum { MACHINE_CUDA = 190, ABI_OLD = 0x33, ABI_NEW = 0x41, OTHER_KERNEL = 0x10 };

uint32_t cubin_16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

uint32_t cubin_32(const uint8_t *bytes)
{
    return cubin_16(bytes) | cubin_16(bytes + 2) << 16;
}

static const uint8_t *inside(const struct cubin *cubin, uint64_t at, uint64_t size)
{
    return at <= cubin->size && size <= cubin->size - at ? cubin->bytes + at : NULL;
}

int cubin_section(const struct cubin *cubin, uint32_t number, Elf64_Shdr *section)
{
    if (number >= cubin->sections)
        return 0;
    const uint8_t *at = inside(cubin, cubin->sections_at + number * (uint64_t)sizeof *section, sizeof *section);
    if (at)
        memcpy(section, at, sizeof *section);
    return at != NULL;
}

const uint8_t *cubin_bytes(const struct cubin *cubin, uint32_t number, size_t *size)
{
    Elf64_Shdr section;
    *size = 0;
    if (!cubin_section(cubin, number, &section) || section.sh_type == SHT_NOBITS)
        return NULL;
    const uint8_t *bytes = inside(cubin, section.sh_offset, section.sh_size);
    if (bytes)
        *size = section.sh_size;
    return bytes;
}

/* A text in a table of texts; "" where it does not end in there. */
static const char *text_in(const struct cubin *cubin, uint32_t table, uint32_t at)
{
    size_t size;
    const uint8_t *texts = cubin_bytes(cubin, table, &size);
    return texts && at < size && memchr(texts + at, 0, size - at) ? (const char *)texts + at : "";
}

const char *cubin_section_name(const struct cubin *cubin, uint32_t number)
{
    Elf64_Shdr section;
    return cubin_section(cubin, number, &section) ? text_in(cubin, cubin->names, section.sh_name) : "";
}

/* Where there are too many for the header, section 0 has the numbers. */
static int read_header(struct cubin *cubin)
{
    Elf64_Ehdr header;
    Elf64_Shdr first;
    if (cubin->size < sizeof header)
        return 0;
    memcpy(&header, cubin->bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != MACHINE_CUDA || header.e_shentsize != sizeof first)
        return 0;
    cubin->sections_at = header.e_shoff;
    cubin->sections = 1;
    if (!header.e_shoff || !cubin_section(cubin, 0, &first))
        return 0;
    uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
    uint64_t room = (cubin->size - header.e_shoff) / sizeof first;
    cubin->sections = (uint32_t)(count < room ? count : room);
    cubin->names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
    cubin->arch = header.e_ident[EI_OSABI] >= ABI_NEW ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
    return 1;
}

int cubin_open(struct cubin *cubin, const uint8_t *bytes, size_t size)
{
    memset(cubin, 0, sizeof *cubin);
    cubin->bytes = bytes;
    cubin->size = size;
    if (!bytes || !read_header(cubin))
        return 0;
    for (uint32_t i = 1; i < cubin->sections; i++) {
        Elf64_Shdr section;
        if (cubin_section(cubin, i, &section) && section.sh_type == SHT_SYMTAB) {
            cubin->symbols = i;
            cubin->texts = section.sh_link;
            break;
        }
    }
    return 1;
}

uint32_t cubin_find(const struct cubin *cubin, const char *prefix, const char *name)
{
    size_t size = strlen(prefix);
    for (uint32_t i = 1; i < cubin->sections; i++) {
        const char *of = cubin_section_name(cubin, i);
        if (strncmp(of, prefix, size) == 0 && strcmp(of + size, name) == 0)
            return i;
    }
    return 0;
}

uint32_t cubin_symbol_count(const struct cubin *cubin)
{
    size_t size = 0;
    return cubin->symbols && cubin_bytes(cubin, cubin->symbols, &size) ? (uint32_t)(size / sizeof(Elf64_Sym)) : 0;
}

int cubin_symbol_at(const struct cubin *cubin, uint32_t number, struct cubin_symbol *symbol)
{
    size_t size;
    Elf64_Sym raw;
    const uint8_t *table = cubin_bytes(cubin, cubin->symbols, &size);
    if (!cubin->symbols || !table || number >= size / sizeof raw)
        return 0;
    memcpy(&raw, table + number * sizeof raw, sizeof raw);
    symbol->name = text_in(cubin, cubin->texts, raw.st_name);
    symbol->value = raw.st_value;
    symbol->size = raw.st_size;
    symbol->section = raw.st_shndx < SHN_LORESERVE ? raw.st_shndx : 0;
    symbol->type = ELF64_ST_TYPE(raw.st_info);
    symbol->is_kernel = symbol->type == STT_FUNC && (raw.st_other & OTHER_KERNEL) != 0 && symbol->section;
    return 1;
}

static int fixes_in(const struct cubin *cubin, uint32_t number, int has_addend,
                    int (*each)(void *data, const struct cubin_fix *fix), void *data)
{
    size_t size, one = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    const uint8_t *table = cubin_bytes(cubin, number, &size);
    int stop = 0;
    for (size_t i = 0; table && !stop && i < size / one; i++) {
        Elf64_Rela raw = {0, 0, 0};
        memcpy(&raw, table + i * one, one);
        struct cubin_fix fix = {raw.r_offset, raw.r_addend, (uint32_t)raw.r_info, (uint32_t)(raw.r_info >> 32)};
        stop = each(data, &fix);
    }
    return stop;
}

int cubin_fixes(const struct cubin *cubin, uint32_t section, int (*each)(void *data, const struct cubin_fix *fix),
                void *data)
{
    int stop = 0;
    for (uint32_t i = 1; i < cubin->sections && !stop; i++) {
        Elf64_Shdr table;
        if (!cubin_section(cubin, i, &table) || table.sh_info != section)
            continue;
        if (table.sh_type == SHT_REL || table.sh_type == SHT_RELA)
            stop = fixes_in(cubin, i, table.sh_type == SHT_RELA, each, data);
    }
    return stop;
}

int cubin_attributes(const struct cubin *cubin, uint32_t section,
                     int (*each)(void *data, uint32_t attribute, const uint8_t *bytes, uint32_t size), void *data)
{
    enum { HEAD = 4, WITH_BYTES = 4 };
    size_t size;
    const uint8_t *bytes = cubin_bytes(cubin, section, &size);
    int stop = 0;
    for (size_t at = 0; bytes && !stop && at + HEAD <= size;) {
        uint32_t format = bytes[at], attribute = bytes[at + 1], value = cubin_16(bytes + at + 2);
        at += HEAD;
        if (format != WITH_BYTES) {
            stop = each(data, attribute, NULL, value);
            continue;
        }
        if (value > size - at)
            break;
        stop = each(data, attribute, bytes + at, value);
        at += value;
    }
    return stop;
}

static int see(void *data, uint32_t attribute, const uint8_t *bytes, uint32_t size)
{
    struct cubin_kernel *kernel = data;
    if (attribute == ATTRIBUTE_BANK && bytes && size >= 8) {
        kernel->has_base = 1;
        kernel->base = cubin_16(bytes + 4);
        kernel->bytes = cubin_16(bytes + 6);
    } else if (attribute == ATTRIBUTE_BYTES && !bytes && size > kernel->bytes)
        kernel->bytes = size;
    return 0;
}

int cubin_find_kernel(const struct cubin *cubin, const char *name, struct cubin_kernel *kernel)
{
    uint32_t count = cubin_symbol_count(cubin);
    memset(kernel, 0, sizeof *kernel);
    for (uint32_t i = 1; i < count; i++) {
        struct cubin_symbol symbol;
        if (!cubin_symbol_at(cubin, i, &symbol) || !symbol.is_kernel || strcmp(symbol.name, name) != 0)
            continue;
        kernel->section = symbol.section;
        kernel->at = symbol.value;
        kernel->info = cubin_find(cubin, ".nv.info.", name);
        cubin_attributes(cubin, kernel->info, see, kernel);
        return 1;
    }
    return 0;
}

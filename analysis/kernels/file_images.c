/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds images of device code in files. Called by `ptds kernels`. Files are untrusted: nothing is read beyond their size.
 *
 * Compilers put containers into two sections of a host's object file, one after the other, with zeroes between. Where the
 * sections' names are gone, and in files that nobody here knows (archives of object files, a program's own), containers are
 * looked for everywhere.
 */
#include "analysis/kernels/file_images.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kernels/kernel_use.h"

static const uint32_t container_magic = 0xba55ed50;
enum { EM_OF_CUDA = 190, ALIGNED_TO = 8 };

struct found {
    void (*each)(void *data, const uint8_t *image, size_t size);
    void *data;
    int count;
};

/* In archives they lie anywhere; who reads them takes them to be aligned. */
static void give(struct found *found, const uint8_t *image, size_t size)
{
    uint8_t *copy = (uintptr_t)image % ALIGNED_TO != 0 ? malloc(size) : NULL;
    if (copy != NULL)
        memcpy(copy, image, size);
    found->each(found->data, copy != NULL ? copy : image, size);
    free(copy);
    found->count++;
}

/* How large the container is that begins there; 0: none does. */
static size_t container_at(const uint8_t *bytes, size_t left)
{
    struct {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
    } header;
    if (left < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    if (header.magic != container_magic || header.header_size < sizeof header || header.header_size > left ||
        header.size > left - header.header_size)
        return 0;
    return header.header_size + (size_t)header.size;
}

/* All containers there. */
static void look_through(struct found *found, const uint8_t *bytes, size_t size)
{
    const uint8_t *end = bytes + size, *at = bytes;
    while ((at = memmem(at, (size_t)(end - at), &container_magic, sizeof container_magic)) != NULL) {
        size_t whole = container_at(at, (size_t)(end - at));
        if (whole != 0)
            give(found, at, whole);
        at += whole != 0 ? whole : 1;
    }
}

/* A table of the file, as it lies there. */
struct sections {
    const uint8_t *bytes;
    size_t size;
    uint64_t table;
    uint32_t count, names;
};

static Elf64_Shdr section(const struct sections *sections, uint32_t index)
{
    Elf64_Shdr header;
    memcpy(&header, sections->bytes + sections->table + (size_t)index * sizeof header, sizeof header);
    return header;
}

static bool is_inside(const struct sections *sections, const Elf64_Shdr *header)
{
    return header->sh_type != SHT_NOBITS && header->sh_offset <= sections->size &&
           header->sh_size <= sections->size - header->sh_offset;
}

/* False: it has none that can be read. */
static bool find_sections(struct sections *sections, const uint8_t *bytes, size_t size)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    *sections = (struct sections){bytes, size, header.e_shoff, header.e_shnum, header.e_shstrndx};
    if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > size ||
        (size - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum || header.e_shstrndx >= header.e_shnum)
        return false;
    Elf64_Shdr names = section(sections, sections->names);
    return is_inside(sections, &names);
}

static bool is_named(const struct sections *sections, const Elf64_Shdr *header, const char *name)
{
    Elf64_Shdr names = section(sections, sections->names);
    size_t size = strlen(name) + 1;
    return header->sh_name < names.sh_size && names.sh_size - header->sh_name >= size &&
           memcmp(sections->bytes + names.sh_offset + header->sh_name, name, size) == 0;
}

static void look_through_object(struct found *found, const uint8_t *bytes, size_t size)
{
    struct sections sections;
    if (!find_sections(&sections, bytes, size)) {
        look_through(found, bytes, size);
        return;
    }
    for (uint32_t i = 0; i < sections.count; i++) {
        Elf64_Shdr header = section(&sections, i);
        if (is_inside(&sections, &header) &&
            (is_named(&sections, &header, ".nv_fatbin") || is_named(&sections, &header, "__nv_relfatbin")))
            look_through(found, bytes + header.sh_offset, header.sh_size);
    }
}

static bool is_object(const uint8_t *bytes, size_t size)
{
    return size >= sizeof(Elf64_Ehdr) && memcmp(bytes, ELFMAG, SELFMAG) == 0 && bytes[EI_CLASS] == ELFCLASS64;
}

static bool is_device_code(const uint8_t *bytes, size_t size)
{
    Elf64_Ehdr header;
    if (is_object(bytes, size)) {
        memcpy(&header, bytes, sizeof header);
        return header.e_machine == EM_OF_CUDA;
    }
    return memchr(bytes, 0, size < 64 ? size : 64) == NULL && memmem(bytes, size, ".version", 8) != NULL;
}

int file_images(const uint8_t *bytes, size_t size, void (*each)(void *data, const uint8_t *image, size_t size), void *data)
{
    struct found found = {each, data, 0};
    if (is_device_code(bytes, size)) {
        give(&found, bytes, size);
    } else if (is_object(bytes, size)) {
        look_through_object(&found, bytes, size);
    } else {
        look_through(&found, bytes, size);
        return found.count != 0 ? found.count : -1;
    }
    return found.count;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads images of device code for the names of their variables. Called once a module, after the driver has taken the image.
 * Never looks beyond what the image's own headers say is there, and never beyond the size where one is given.
 */
#include "interpose/footprint/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "interpose/base/memory.h"
#include "interpose/code/unpack.h"

enum { EM_OF_CUDA = 190, FATBIN_MAGIC = (int)0xba55ed50, WRAPPER_MAGIC = 0x466243b1 };

/* A cubin. */
struct cubin {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
};

static const void *inside(const struct cubin *cubin, uint64_t offset, uint64_t size)
{
    return offset <= cubin->size && size <= cubin->size - offset ? cubin->bytes + offset : NULL;
}

/* A text in a table; NULL where it does not end in there. */
static const char *text_in(const struct cubin *cubin, const Elf64_Shdr *table, uint32_t at)
{
    const char *texts = inside(cubin, table->sh_offset, table->sh_size);
    return texts && at < table->sh_size && memchr(texts + at, 0, table->sh_size - at) ? texts + at : NULL;
}

static unsigned kind_of_section(const struct cubin *cubin, uint32_t index)
{
    const Elf64_Ehdr *header = cubin->header;
    if (index >= header->e_shnum)
        return 0;
    const char *name = text_in(cubin, &cubin->sections[header->e_shstrndx], cubin->sections[index].sh_name);
    if (!name || strncmp(name, ".nv.global", 10) == 0) /* without a name it may be anything */
        return IMAGE_GLOBALS;
    return strncmp(name, ".nv.constant3", 13) == 0 ? IMAGE_CONSTANTS : 0;
}

/* Bytes of which only the last is 0. */
static int is_text(const struct cubin *cubin, const Elf64_Sym *symbol)
{
    const Elf64_Shdr *section = &cubin->sections[symbol->st_shndx];
    if (section->sh_type != SHT_PROGBITS || symbol->st_value > section->sh_size || !symbol->st_size ||
        symbol->st_size > section->sh_size - symbol->st_value)
        return 0;
    const char *bytes = inside(cubin, section->sh_offset + symbol->st_value, symbol->st_size);
    return bytes && memchr(bytes, 0, symbol->st_size) == bytes + symbol->st_size - 1;
}

static int is_the_compilers(const struct cubin *cubin, const Elf64_Sym *symbol, const char *name)
{
    return name &&
           (image_is_the_compilers(name, strlen(name)) || (image_is_unnamed(name, strlen(name)) && is_text(cubin, symbol)));
}

/* `named`: the kinds of sections in which symbols name something. */
static unsigned of_symbols(const struct cubin *cubin, const Elf64_Shdr *table, unsigned *named)
{
    const Elf64_Sym *symbols = inside(cubin, table->sh_offset, table->sh_size);
    unsigned found = 0;
    if (!symbols || table->sh_link >= cubin->header->e_shnum)
        return IMAGE_GLOBALS | IMAGE_POINTERS;
    for (size_t i = 1; i < table->sh_size / sizeof *symbols; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, &symbols[i], sizeof symbol);
        const char *name = text_in(cubin, &cubin->sections[table->sh_link], symbol.st_name);
        if (name && strcmp(name, "malloc") == 0)
            found |= IMAGE_HEAP;
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
            continue;
        unsigned kind = kind_of_section(cubin, symbol.st_shndx);
        *named |= kind;
        if (!kind || is_the_compilers(cubin, &symbol, name))
            continue;
        found |= kind | (kind == IMAGE_GLOBALS && symbol.st_size >= sizeof(uint64_t) ? IMAGE_POINTERS : 0);
    }
    return found;
}

static unsigned of_cubin(const void *image, size_t size)
{
    struct cubin cubin = {image, size, image, NULL};
    if (size < sizeof *cubin.header || cubin.header->e_ident[EI_CLASS] != ELFCLASS64 ||
        cubin.header->e_machine != EM_OF_CUDA || cubin.header->e_shentsize != sizeof *cubin.sections)
        return IMAGE_UNREAD;
    cubin.sections = inside(&cubin, cubin.header->e_shoff, (uint64_t)cubin.header->e_shnum * sizeof *cubin.sections);
    if (!cubin.sections || cubin.header->e_shstrndx >= cubin.header->e_shnum || (uintptr_t)cubin.sections % 8)
        return IMAGE_UNREAD; /* nobody knows what the sections are */
    unsigned found = 0, there = 0, named = 0;
    for (uint32_t i = 0; i < cubin.header->e_shnum; i++) {
        if (cubin.sections[i].sh_size)
            there |= kind_of_section(&cubin, i);
        if (cubin.sections[i].sh_type == SHT_SYMTAB)
            found |= of_symbols(&cubin, &cubin.sections[i], &named);
    }
    there &= ~named; /* bytes that no symbol names are anybody's */
    return found | there | (there & IMAGE_GLOBALS ? IMAGE_POINTERS : 0);
}

static unsigned of_plain(const void *image, size_t size)
{
    if (size >= 4 && memcmp(image, ELFMAG, 4) == 0)
        return of_cubin(image, size);
    return memmem(image, strnlen(image, size), ".version", 8) ? image_of_ptx(image, size) : IMAGE_UNREAD;
}

/* An entry of a container, as it lies there. */
struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t packed_size, unknown[2];
    uint32_t device; /* 75: sm_75 */
    uint32_t name, name_size;
    uint64_t flags, unused, unpacked_size;
};
enum { ENTRY_PTX = 1, ENTRY_CUBIN = 2, ENTRY_LZ4 = 0x2000, ENTRY_ZSTD = 0x8000, UNPACKED_MOST = 1 << 30 };

static unsigned of_packed(const struct fatbin_entry *entry, const uint8_t *bytes)
{
    if (entry->packed_size > entry->size || !entry->unpacked_size || entry->unpacked_size > UNPACKED_MOST)
        return IMAGE_UNREAD;
    uint8_t *unpacked = memory_pages(entry->unpacked_size);
    if (!unpacked)
        return IMAGE_UNREAD;
    int done = entry->flags & ENTRY_ZSTD ? unpack_zstd(unpacked, entry->unpacked_size, bytes, entry->packed_size)
                                         : unpack_lz4(unpacked, entry->unpacked_size, bytes, entry->packed_size);
    unsigned found = done ? of_plain(unpacked, entry->unpacked_size) : IMAGE_UNREAD;
    memory_pages_free(unpacked, entry->unpacked_size);
    return found;
}

static unsigned of_entry(const struct fatbin_entry *entry, const uint8_t *bytes)
{
    if (entry->kind != ENTRY_PTX && entry->kind != ENTRY_CUBIN)
        return IMAGE_UNREAD;
    return entry->flags & (ENTRY_LZ4 | ENTRY_ZSTD) ? of_packed(entry, bytes) : of_plain(bytes, entry->size);
}

static uint32_t devices[IMAGE_DEVICES];
static unsigned device_count;

void image_devices(const uint32_t *kinds, unsigned count)
{
    device_count = count <= IMAGE_DEVICES ? count : 0;
    for (unsigned i = 0; i < device_count; i++)
        devices[i] = kinds[i];
}

static int is_for(const struct fatbin_entry *entry, uint32_t device)
{
    return entry->kind == ENTRY_CUBIN && entry->device == device;
}

/* The next entry of a container, and its bytes. 0: there is none, or it is damaged. */
static int next_entry(const uint8_t **at, const uint8_t *end, struct fatbin_entry *entry, const uint8_t **bytes)
{
    size_t left = (size_t)(end - *at);
    if (left < sizeof *entry)
        return 0;
    memcpy(entry, *at, sizeof *entry);
    if (entry->header_size < sizeof *entry || entry->header_size > left || entry->size > left - entry->header_size)
        return 0;
    *bytes = *at + entry->header_size;
    *at = *bytes + entry->size;
    return 1;
}

/* The driver takes machine code for just its device where there is some. */
static int has_all_devices(const uint8_t *begin, const uint8_t *end)
{
    struct fatbin_entry entry;
    const uint8_t *bytes;
    for (unsigned i = 0; i < device_count; i++) {
        int found = 0;
        for (const uint8_t *at = begin; !found && next_entry(&at, end, &entry, &bytes);)
            found = is_for(&entry, devices[i]);
        if (!found)
            return 0;
    }
    return device_count != 0;
}

static int is_wanted(const struct fatbin_entry *entry)
{
    for (unsigned i = 0; i < device_count; i++) {
        if (is_for(entry, devices[i]))
            return 1;
    }
    return 0;
}

/* The entries for the devices there are; else all together, since they are one source for several devices. What can't be
 * read is like the others. Large libraries have code for seven devices, packed: to unpack all of it takes long. */
static unsigned of_fatbin(const uint8_t *image, size_t size)
{
    struct fatbin_header {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
    } header;
    if (size < sizeof header)
        return IMAGE_UNREAD;
    memcpy(&header, image, sizeof header);
    if (header.header_size > size || header.size > size - header.header_size)
        return IMAGE_UNREAD;
    const uint8_t *at = image + header.header_size, *end = at + header.size, *bytes;
    unsigned found = 0, read = 0;
    int some = has_all_devices(at, end);
    struct fatbin_entry entry;
    while (next_entry(&at, end, &entry, &bytes)) {
        if (some && !is_wanted(&entry))
            continue;
        unsigned one = of_entry(&entry, bytes);
        read |= !(one & IMAGE_UNREAD);
        found |= one & ~(unsigned)IMAGE_UNREAD;
    }
    return read ? found : IMAGE_UNREAD;
}

/* How much there is of an image that lies in memory. */
static size_t size_of(const void *image)
{
    const Elf64_Ehdr *header = image;
    if (memcmp(image, ELFMAG, 4) != 0)
        return strlen(image);
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    const Elf64_Shdr *sections = (const void *)((const uint8_t *)image + header->e_shoff);
    for (uint32_t i = 0; i < header->e_shnum && header->e_shentsize == sizeof *sections; i++) {
        if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
            end = sections[i].sh_offset + sections[i].sh_size;
    }
    return end;
}

unsigned image_variables(const void *image, size_t size)
{
    int magic = 0;
    if (!image || size < 4)
        return IMAGE_UNREAD;
    if (size != SIZE_MAX || memchr(image, 0, 4) == NULL)
        memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC && size == SIZE_MAX) {
        memcpy(&image, (const uint8_t *)image + 8, sizeof image);
        return image_variables(image, size);
    }
    if (magic == FATBIN_MAGIC)
        return of_fatbin(image, size);
    return of_plain(image, size == SIZE_MAX ? size_of(image) : size);
}

/* 1: all of it is there. */
static int read_all(int file, uint8_t *into, size_t size)
{
    size_t at = 0;
    ssize_t got = 1;
    while (at < size && got > 0) {
        got = pread(file, into + at, size - at, (off_t)at);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            at += (size_t)got;
    }
    return at == size;
}

/* Not mapped: somebody may cut the file meanwhile. */
unsigned image_file_variables(const char *path)
{
    int saved = errno, file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    unsigned found = IMAGE_UNREAD;
    off_t end = file >= 0 ? lseek(file, 0, SEEK_END) : -1; /* fstat is newer than the oldest glibc */
    if (end > 0) {
        size_t size = (size_t)end;
        void *image = memory_pages(size);
        if (image && read_all(file, image, size))
            found = image_variables(image, size);
        if (image)
            memory_pages_free(image, size);
    }
    if (file >= 0)
        close(file);
    errno = saved;
    return found;
}

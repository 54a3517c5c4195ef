/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps modules' images and reads kernels in them. Called when a module is loaded, after the driver has taken the image,
 * and once a kernel. Must never read an image where it may be gone: one in a loaded object is read under the loader's lock,
 * if the object is there still, and all others are copied.
 */
#include "interpose/footprint/image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "interpose/base/pages.h"
#include "interpose/footprint/facts.h"

enum { FATBIN_MAGIC = (int)0xba55ed50, WRAPPER_MAGIC = 0x466243b1 };

/* Of what begins so, the driver has read the header: it is there. */
static int begins_with(const uint8_t *bytes, uint32_t magic)
{
    uint32_t first;
    if (memchr(bytes, 0, sizeof first))
        return 0;
    memcpy(&first, bytes, sizeof first);
    return first == magic;
}

static size_t size_of_fatbin(const uint8_t *bytes)
{
    uint16_t header_size;
    uint64_t size;
    memcpy(&header_size, bytes + 6, sizeof header_size);
    memcpy(&size, bytes + 8, sizeof size);
    return size < SIZE_MAX / 2 ? header_size + (size_t)size : 0;
}

static size_t size_of_elf(const uint8_t *bytes)
{
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > SIZE_MAX / 4)
        return 0;
    size_t end = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type == SHT_NOBITS || section.sh_offset > SIZE_MAX / 4 || section.sh_size > SIZE_MAX / 4)
            continue;
        if (section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    return end;
}

/* How much there is of what the driver has taken; 0: it is nothing that is known. */
static size_t size_of(const uint8_t *bytes)
{
    if (begins_with(bytes, (uint32_t)FATBIN_MAGIC))
        return size_of_fatbin(bytes);
    if (memchr(bytes, 0, SELFMAG) == NULL && memcmp(bytes, ELFMAG, SELFMAG) == 0)
        return size_of_elf(bytes);
    return strlen((const char *)bytes);
}

struct search {
    const struct image *image;
    void (*found)(const struct image *image, void *data); /* NULL: nothing is done */
    void *data;
};

/* All of it lies in a part of the object's file that nobody writes. */
static int lies_in(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct search *search = data;
    uintptr_t begin = (uintptr_t)search->image->bytes;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || part->p_flags & PF_W || begin < from || begin - from > part->p_filesz ||
            search->image->size > part->p_filesz - (begin - from))
            continue;
        if (search->found)
            search->found(search->image, search->data);
        return 1;
    }
    return 0;
}

void image_keep(struct image *image, const void *bytes)
{
    *image = (struct image){bytes, 0, 0};
    if (bytes && begins_with(bytes, WRAPPER_MAGIC))
        memcpy(&image->bytes, (const uint8_t *)bytes + 8, sizeof image->bytes);
    image->size = image->bytes ? size_of(image->bytes) : 0;
    if (!image->size) {
        image->bytes = NULL;
        return;
    }
    if (dl_iterate_phdr(lies_in, &(struct search){image, NULL, NULL}))
        return;
    uint8_t *copy = pages_map(image->size);
    if (copy)
        memcpy(copy, image->bytes, image->size);
    *image = (struct image){copy, image->size, 1};
}

/* 1: all of it is there. */
static int read_bytes(int file, uint8_t *into, size_t size)
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
void image_keep_file(struct image *image, const char *path)
{
    int saved = errno, file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    off_t end = file >= 0 ? lseek(file, 0, SEEK_END) : -1; /* fstat is newer than the oldest glibc */
    uint8_t *bytes = end > 0 ? pages_map((size_t)end) : NULL;
    *image = (struct image){bytes, bytes ? (size_t)end : 0, 1};
    if (bytes && !read_bytes(file, bytes, image->size))
        image_drop(image);
    if (file >= 0)
        close(file);
    errno = saved;
}

void image_drop(struct image *image)
{
    if (image->bytes && image->copied)
        pages_unmap((void *)(uintptr_t)image->bytes, image->size);
    *image = (struct image){NULL, 0, 0};
}

static uint32_t devices[CODE_DEVICES];
static unsigned device_count;
static int is_jit;

void image_devices(const uint32_t *kinds, unsigned count, int jit)
{
    device_count = count <= CODE_DEVICES ? count : 0;
    is_jit = jit;
    for (unsigned i = 0; i < device_count; i++)
        devices[i] = kinds[i];
}

/* All that the driver may take, one after the other. What one of them may do, the kernel may; what has no kernel of that
 * name is none that it takes. */
struct reading {
    const char *kernel;
    struct code_facts *all, *one;
    unsigned found;
};

static int read_one(void *data, const struct code_image *image)
{
    struct reading *reading = data;
    struct code_facts *facts = reading->found ? reading->one : reading->all;
    code_read(image, reading->kernel, facts);
    if (facts->verdict == CODE_UNKNOWN && facts->why == CODE_WHY_NO_KERNEL)
        return 0;
    if (reading->found++)
        facts_merge(reading->all, reading->one);
    return 0;
}

static void be_unknown(struct code_facts *facts, enum code_why why)
{
    memset(facts, 0, offsetof(struct code_facts, base));
    facts->verdict = CODE_UNKNOWN;
    facts->why = (uint8_t)why;
}

/* Those that the driver may take for these devices, or all. */
static int each_image(const struct image *image, int (*each)(void *data, const struct code_image *image), void *data)
{
    return device_count ? code_choose(image->bytes, image->size, devices, device_count, is_jit, each, data)
                        : images_plain(image->bytes, image->size, NULL, each, data);
}

/* While nobody can take it away. */
static void visit(const struct image *image, void (*found)(const struct image *image, void *data), void *data)
{
    if (image->bytes && image->copied)
        found(image, data);
    else if (image->bytes)
        dl_iterate_phdr(lies_in, &(struct search){image, found, data});
}

static void read_all(const struct image *image, void *data)
{
    struct reading *reading = data;
    int read = each_image(image, read_one, reading);
    if (!reading->found || read < 0)
        be_unknown(reading->all, read < 0 ? CODE_WHY_NO_IMAGE : CODE_WHY_NO_KERNEL);
}

void image_read(const struct image *image, const char *kernel, struct code_facts *facts)
{
    struct reading reading = {kernel, facts, pages_map(sizeof *facts), 0};
    be_unknown(facts, reading.one ? CODE_WHY_NO_IMAGE : CODE_WHY_MEMORY);
    if (reading.one && kernel)
        visit(image, read_all, &reading);
    if (reading.one)
        pages_unmap(reading.one, sizeof *facts);
}

/* ---- variables that begin as addresses ---- */

/* Their sections of a cubin have relocations. */
static int elf_has_addresses(const struct code_image *image)
{
    Elf64_Ehdr header;
    Elf64_Shdr section, names;
    if (image->size < sizeof header)
        return 1;
    memcpy(&header, image->bytes, sizeof header);
    if (header.e_shentsize != sizeof section || header.e_shstrndx >= header.e_shnum || header.e_shoff > image->size ||
        header.e_shnum > (image->size - header.e_shoff) / sizeof section)
        return 1;
    memcpy(&names, image->bytes + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > image->size || names.sh_size > image->size - names.sh_offset)
        return 1;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, image->bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_REL && section.sh_type != SHT_RELA)
            continue;
        const char *name = (const char *)image->bytes + names.sh_offset + section.sh_name;
        size_t left = section.sh_name < names.sh_size ? names.sh_size - section.sh_name : 0;
        if (!left || memmem(name, strnlen(name, left), ".nv.global", 10) ||
            memmem(name, strnlen(name, left), ".nv.constant3", 13))
            return 1;
    }
    return 0;
}

static int begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static int goes_on(char c)
{
    return begins_name(c) || (c >= '0' && c <= '9');
}

/* Behind the equals sign of a definition: names, other than what follows a digit (0f3f800000). */
static int text_has_name(const char *at, const char *end)
{
    for (; at < end && *at != ';'; at++) {
        if (begins_name(*at))
            return 1;
        while (goes_on(*at) && at + 1 < end && goes_on(at[1]))
            at++;
    }
    return 0;
}

/* PTX has no equals sign but in definitions of variables. */
static int ptx_has_addresses(const struct code_image *image)
{
    const char *at = (const char *)image->bytes, *end = at + strnlen(at, image->size);
    while (at < end && (at = memchr(at, '=', (size_t)(end - at)))) {
        if (text_has_name(++at, end))
            return 1;
    }
    return 0;
}

static int one_has_addresses(void *data, const struct code_image *image)
{
    (void)data;
    return image->is_ptx ? ptx_has_addresses(image) : elf_has_addresses(image);
}

static void ask_addresses(const struct image *image, void *data)
{
    *(int *)data = each_image(image, one_has_addresses, NULL);
}

int image_has_addresses(const struct image *image)
{
    int has = 1;
    visit(image, ask_addresses, &has);
    return has;
}

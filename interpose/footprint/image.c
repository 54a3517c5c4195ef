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

#include "interpose/base/memory.h"
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
    const char *kernel;
    struct code_facts *facts; /* NULL: nothing is read */
};

static void read_all(const struct image *image, const char *kernel, struct code_facts *facts);

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
        if (search->facts)
            read_all(search->image, search->kernel, search->facts);
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
    uint8_t *copy = memory_pages(image->size);
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
    uint8_t *bytes = end > 0 ? memory_pages((size_t)end) : NULL;
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
        memory_pages_free((void *)(uintptr_t)image->bytes, image->size);
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

static void read_all(const struct image *image, const char *kernel, struct code_facts *facts)
{
    struct reading reading = {kernel, facts, memory_pages(sizeof *facts), 0};
    int read = -1;
    be_unknown(facts, reading.one ? CODE_WHY_NO_IMAGE : CODE_WHY_MEMORY);
    if (!reading.one)
        return;
    if (device_count)
        read = code_choose(image->bytes, image->size, devices, device_count, is_jit, read_one, &reading);
    else
        read = code_images(image->bytes, image->size, NULL, read_one, &reading);
    if (!reading.found || read < 0)
        be_unknown(facts, read < 0 ? CODE_WHY_NO_IMAGE : CODE_WHY_NO_KERNEL);
    memory_pages_free(reading.one, sizeof *facts);
}

void image_read(const struct image *image, const char *kernel, struct code_facts *facts)
{
    be_unknown(facts, CODE_WHY_NO_IMAGE);
    if (!image->bytes || !kernel)
        return;
    if (image->copied)
        read_all(image, kernel, facts);
    else
        dl_iterate_phdr(lies_in, &(struct search){image, kernel, facts});
}

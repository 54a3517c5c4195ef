/* SPDX-License-Identifier: Apache-2.0
 *
 * Images of device code as they are handed to the driver: machine code (ELF), PTX, or a container (fatbin) with some of
 * both, packed or not, and the structure that points to one. Called by code_choose, by the shim when a kernel is first
 * launched and by `ptds kernels`. Never looks beyond what the image's own headers say is there, and never beyond the size
 * where one is given.
 */
#include "interpose/code/images.h"

#include <elf.h>
#include <string.h>

#include "interpose/base/pages.h"
#include "interpose/code/unpack.h"

enum { EM_OF_CUDA = 190, FATBIN_MAGIC = (int)0xba55ed50, WRAPPER_MAGIC = 0x466243b1 };
enum { OSABI_SINCE_BLACKWELL = 0x41 }; /* the toolkits from 12.8 on; before them 0x33 */

/* An ELF's header names its device in its lowest byte, in newer ones in the next. */
static int read_elf(struct code_image *image)
{
    Elf64_Ehdr header;
    if (image->size < sizeof header || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
        return 0;
    memcpy(&header, image->bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_OF_CUDA)
        return 0;
    int newer = header.e_ident[EI_OSABI] == OSABI_SINCE_BLACKWELL;
    uint32_t arch = header.e_flags >> (newer ? 8 : 0) & 0xff;
    image->arch = arch ? arch : image->arch;
    image->is_ptx = 0;
    return 1;
}

/* Behind a comment that begins there; `at` itself: none does. */
static const char *past_comment(const char *at, const char *end)
{
    if (end - at < 2 || at[0] != '/' || (at[1] != '/' && at[1] != '*'))
        return at;
    const char *close = at[1] == '/' ? "\n" : "*/";
    size_t size = strlen(close);
    const char *found = memmem(at + 2, (size_t)(end - at - 2), close, size);
    return found ? found + size : end;
}

/* The number behind ".target sm_"; 0: there is none. */
static uint32_t target_of(const char *at, const char *end)
{
    static const char word[] = ".target", start[] = "sm_";
    uint32_t arch = 0;
    while (at < end && !((size_t)(end - at) >= sizeof word - 1 && memcmp(at, word, sizeof word - 1) == 0)) {
        const char *behind = past_comment(at, end);
        at = behind > at ? behind : at + 1;
    }
    if (at < end)
        at += sizeof word - 1;
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    if ((size_t)(end - at) < sizeof start - 1 || memcmp(at, start, sizeof start - 1) != 0)
        return 0;
    for (at += sizeof start - 1; at < end && *at >= '0' && *at <= '9' && arch < 10000; at++)
        arch = arch * 10 + (uint32_t)(*at - '0');
    return arch;
}

static int read_ptx(struct code_image *image)
{
    const char *text = (const char *)image->bytes;
    size_t size = strnlen(text, image->size);
    if (!memmem(text, size, ".version", 8))
        return 0;
    uint32_t arch = target_of(text, text + size);
    image->size = size;
    image->arch = arch ? arch : image->arch;
    image->is_ptx = 1;
    return 1;
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
enum {
    ENTRY_PTX = 1,
    ENTRY_CUBIN = 2,
    ENTRY_LZ4 = 0x2000,
    ENTRY_ZSTD = 0x8000,
    ENTRY_SPECIFIC = 0x100000,
    ENTRY_FAMILY = 0x200000
};
enum { UNPACKED_MOST = 1 << 30 };

/* An image by its own bytes, which are unpacked. `entry` has what else is known of it. 0: it can't be read. */
static int give_plain(const struct images_walk *walk, struct images_entry *entry, const uint8_t *bytes, size_t size,
                      int *said)
{
    entry->image.bytes = bytes;
    entry->image.size = size;
    if (!read_elf(&entry->image) && !read_ptx(&entry->image))
        return 0;
    *said = walk->each(walk->data, entry);
    return 1;
}

static int give_packed(const struct images_walk *walk, struct images_entry *entry, const struct fatbin_entry *packed,
                       const uint8_t *bytes, int *said)
{
    if (packed->packed_size > packed->size || !packed->unpacked_size || packed->unpacked_size > UNPACKED_MOST)
        return 0;
    uint8_t *unpacked = pages_map(packed->unpacked_size);
    if (!unpacked)
        return 0;
    int done = packed->flags & ENTRY_ZSTD ? unpack_zstd(unpacked, packed->unpacked_size, bytes, packed->packed_size)
                                          : unpack_lz4(unpacked, packed->unpacked_size, bytes, packed->packed_size);
    done = done && give_plain(walk, entry, unpacked, packed->unpacked_size, said);
    pages_unmap(unpacked, packed->unpacked_size);
    return done;
}

/* 0: it is none that can be read. */
static int give_entry(const struct images_walk *walk, const struct fatbin_entry *found, const uint8_t *bytes, int *said)
{
    struct images_entry entry = {.image = {.arch = found->device, .is_ptx = found->kind == ENTRY_PTX},
                                 .specific = (found->flags & ENTRY_SPECIFIC) != 0,
                                 .family = (found->flags & ENTRY_FAMILY) != 0};
    if (found->kind != ENTRY_PTX && found->kind != ENTRY_CUBIN)
        return 0;
    if (walk->wanted && !walk->wanted(walk->data, &entry))
        return 1;
    if (found->flags & (ENTRY_LZ4 | ENTRY_ZSTD))
        return give_packed(walk, &entry, found, bytes, said);
    return give_plain(walk, &entry, bytes, found->size, said);
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

static int walk_fatbin(const uint8_t *image, size_t size, const struct images_walk *walk)
{
    struct fatbin_header {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
    } header;
    if (size < sizeof header)
        return -1;
    memcpy(&header, image, sizeof header);
    if (header.header_size > size || header.size > size - header.header_size)
        return -1;
    const uint8_t *at = image + header.header_size, *end = at + header.size, *bytes;
    int read = 0, said = 0;
    struct fatbin_entry entry;
    while (!said && next_entry(&at, end, &entry, &bytes))
        read |= give_entry(walk, &entry, bytes, &said);
    return read ? said : -1;
}

static int walk_bare(const uint8_t *bytes, size_t size, const struct images_walk *walk)
{
    struct images_entry entry = {.image = {.bytes = bytes, .size = size}, .bare = 1};
    int said = 0;
    if (!read_elf(&entry.image) && !read_ptx(&entry.image))
        return -1;
    size = entry.image.size;
    entry.image.bytes = NULL;
    entry.image.size = 0;
    if (walk->wanted && !walk->wanted(walk->data, &entry))
        return 0;
    return give_plain(walk, &entry, bytes, size, &said) ? said : -1;
}

/* How much there is of an image that lies in memory, which the driver has taken. */
static size_t size_of(const void *image)
{
    const Elf64_Ehdr *header = image;
    if (strncmp(image, ELFMAG, SELFMAG) != 0)
        return strlen(image);
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    const Elf64_Shdr *sections = (const void *)((const uint8_t *)image + header->e_shoff);
    for (uint32_t i = 0; i < header->e_shnum && header->e_shentsize == sizeof *sections; i++) {
        if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
            end = sections[i].sh_offset + sections[i].sh_size;
    }
    return end;
}

static int magic_of(const void *bytes, size_t size)
{
    int magic = 0;
    if (size != SIZE_MAX || memchr(bytes, 0, sizeof magic) == NULL) /* a text may be shorter */
        memcpy(&magic, bytes, sizeof magic);
    return magic;
}

int images_walk(const void *bytes, size_t size, const struct images_walk *walk)
{
    if (!bytes || size < sizeof(int))
        return -1;
    if (size == SIZE_MAX && magic_of(bytes, size) == WRAPPER_MAGIC) {
        memcpy(&bytes, (const uint8_t *)bytes + 8, sizeof bytes);
        if (!bytes)
            return -1;
    }
    if (magic_of(bytes, size) == FATBIN_MAGIC)
        return walk_fatbin(bytes, size, walk);
    return walk_bare(bytes, size == SIZE_MAX ? size_of(bytes) : size, walk);
}

/* ---- code.h's way in ---- */

struct plain_walk {
    int (*wanted)(void *data, const struct code_image *image);
    int (*each)(void *data, const struct code_image *image);
    void *data;
};

static int plain_wanted(void *data, const struct images_entry *entry)
{
    const struct plain_walk *plain = data;
    return !plain->wanted || plain->wanted(plain->data, &entry->image);
}

static int plain_each(void *data, const struct images_entry *entry)
{
    const struct plain_walk *plain = data;
    return plain->each(plain->data, &entry->image);
}

int images_plain(const void *bytes, size_t size, int (*wanted)(void *data, const struct code_image *image),
                 int (*each)(void *data, const struct code_image *image), void *data)
{
    struct plain_walk plain = {wanted, each, data};
    struct images_walk walk = {plain_wanted, plain_each, &plain};
    return images_walk(bytes, size, &walk);
}

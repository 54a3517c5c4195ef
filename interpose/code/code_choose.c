/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of a container's images the driver takes for a device. Called by the shim when a kernel is first launched. Never
 * leaves out an image that the driver may take: where two are as good, both are given.
 *
 * The driver's rule: machine code runs on devices of the same major number whose minor one is not lower, and the highest is
 * the best. What is named for a family or a single device (sm_100f, sm_90a) has the same number as the plain one beside it.
 * Machine code for Tegra boards runs on those alone. Where no machine code runs, PTX is compiled, of which the highest that
 * is not above the device is the best.
 */
#include "interpose/code/images.h"

enum { NONE = 0 };

/* What is best for a device so far: numbers as in sm_90. */
struct choice {
    uint32_t device, code, ptx;
};

struct choosing {
    struct choice choice[CODE_DEVICES];
    unsigned count;
    int jit;
    int (*each)(void *data, const struct code_image *image);
    void *data;
};

static int is_tegra(uint32_t arch)
{
    return arch == 53 || arch == 62 || arch == 72 || arch == 87 || arch == 101;
}

static int runs(const struct images_entry *entry, uint32_t device)
{
    uint32_t arch = entry->image.arch;
    if (arch > device || (entry->specific && arch != device))
        return 0;
    if (entry->image.is_ptx && !entry->family)
        return 1;
    return arch / 10 == device / 10 && (entry->image.is_ptx || arch == device || !is_tegra(arch));
}

/* Unpacks nothing. */
static int look(void *data, const struct images_entry *entry)
{
    struct choosing *choosing = data;
    for (unsigned i = 0; i < choosing->count; i++) {
        struct choice *choice = &choosing->choice[i];
        uint32_t *best = entry->image.is_ptx ? &choice->ptx : &choice->code;
        if (runs(entry, choice->device) && entry->image.arch > *best)
            *best = entry->image.arch;
    }
    return 0;
}

static int nothing(void *data, const struct images_entry *entry)
{
    (void)data;
    (void)entry;
    return 0;
}

static int is_chosen(void *data, const struct images_entry *entry)
{
    const struct choosing *choosing = data;
    int chosen = entry->bare;
    for (unsigned i = 0; i < choosing->count && !chosen; i++) {
        const struct choice *choice = &choosing->choice[i];
        int by_ptx = choice->ptx != NONE && (choosing->jit || choice->code == NONE);
        chosen = runs(entry, choice->device) && entry->image.is_ptx == by_ptx &&
                 entry->image.arch == (by_ptx ? choice->ptx : choice->code);
    }
    return chosen;
}

static int give(void *data, const struct images_entry *entry)
{
    const struct choosing *choosing = data;
    return choosing->each(choosing->data, &entry->image);
}

int code_choose(const void *bytes, size_t size, const uint32_t *devices, unsigned count, int jit,
                int (*each)(void *data, const struct code_image *image), void *data)
{
    struct choosing choosing = {.count = count, .jit = jit, .each = each, .data = data};
    if (count > CODE_DEVICES)
        return -1;
    for (unsigned i = 0; i < count; i++)
        choosing.choice[i].device = devices[i];
    int read = images_walk(bytes, size, &(struct images_walk){look, nothing, &choosing});
    if (read < 0)
        return read;
    return images_walk(bytes, size, &(struct images_walk){is_chosen, give, &choosing});
}

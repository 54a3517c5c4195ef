/* SPDX-License-Identifier: Apache-2.0
 *
 * The table as an array, and the search by name for the dlsym door. Called under the loader lock and before constructors:
 * must not allocate, lock or call libc beyond string functions.
 */
#include "interpose/api/api.h"

#include <string.h>

#include "interpose/trace/format.h"

/* Route tokens of api.def as enum values: the argument names in them are dropped. */
#define NO_STREAM ROUTE_NO_STREAM
#define STREAM(s) ROUTE_STREAM
#define STREAM2(s, t) ROUTE_STREAM2
#define STREAM_AT(p) ROUTE_STREAM_AT
#define CONFIG(c) ROUTE_CONFIG
#define UPLOAD(p) ROUTE_UPLOAD
#define KEEP(s) ROUTE_KEEP
#define KEEP_IF(s, condition) ROUTE_KEEP_IF
#define MULTI(l, n) ROUTE_MULTI
#define LEGACY ROUTE_LEGACY
#define CLASS_(class_) PTDS_CLASS_##class_
#define CLASS(class_) CLASS_(class_)
enum { INSTANT, TIMED };

const struct api_row api_rows[API_COUNT] = {
#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, ...) \
    {#symbol, #symbol "_ptsz", since, twin_since, API_TWIN_PTSZ, route, PTDS_CLASS_##class_, timing, TOLD_##told},
#define API_PTDS(symbol, since, twin_since, async_form, class_, timing, told, ...) \
    {#symbol, #symbol "_ptds", since, twin_since, API_TWIN_PTDS, ROUTE_IMPLICIT, PTDS_CLASS_##class_, timing, TOLD_##told},
#define API(symbol, since, route, class_, timing, told, ...) \
    {#symbol, NULL, since, 0, API_TWIN_NONE, route, PTDS_CLASS_##class_, timing, TOLD_##told},
#include "interpose/api/api.def"
};

/* Open addressing over both names of every row: (id * 2 + twin) + 1, 0 is free. Filled on first use; threads that race here
 * write the same values, so no lock is needed. */
#define SLOTS 1024u
static uint16_t slots[SLOTS];
static uint8_t filled;
_Static_assert(API_COUNT * 2 < SLOTS, "name table too small");

static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h ^ (h >> 15);
}

static const char *slot_name(uint16_t slot)
{
    const struct api_row *row = &api_rows[(slot - 1) / 2];
    return (slot - 1) % 2 ? row->twin_symbol : row->symbol;
}

static void fill(void)
{
    for (int key = 0; key < API_COUNT * 2; key++) {
        uint16_t slot = (uint16_t)(key + 1);
        const char *name = slot_name(slot);
        if (!name)
            continue;
        uint32_t at = hash(name) % SLOTS;
        while (slots[at] && slots[at] != slot)
            at = (at + 1) % SLOTS;
        __atomic_store_n(&slots[at], slot, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&filled, 1, __ATOMIC_RELEASE);
}

int api_find(const char *symbol, int *twin)
{
    if (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE))
        fill();
    for (uint32_t at = hash(symbol) % SLOTS; slots[at]; at = (at + 1) % SLOTS) {
        if (strcmp(slot_name(slots[at]), symbol) == 0) {
            *twin = (slots[at] - 1) % 2;
            return (slots[at] - 1) / 2;
        }
    }
    return -1;
}

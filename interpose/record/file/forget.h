/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions to which no record refers any more, for define.c alone.
 */
#ifndef PTDS_FORGET_H
#define PTDS_FORGET_H

#include <stdint.h>

#include "interpose/trace/format.h"

/* What define.c does with a record: keeps it in another chunk; takes a name out of the map of names, and puts it back. */
struct forget_calls {
    void (*again)(const struct ptds_record *record);
    void (*name_may_go)(const struct ptds_rec_STRING *name);
    void (*name_stays)(const struct ptds_rec_STRING *name);
};

/* Gives back the chunks of definitions that were begun before `sequence`, as far as they are of streams and threads that
 * were gone before `ticks`, of names of regions, and of moments on the device, which no record refers to, or readings of
 * the clocks between the first and the last; moves the others. Returns how many chunks it gave back. Under the definitions'
 * lock. */
uint32_t forget_definitions(uint64_t sequence, uint64_t ticks, const struct forget_calls *calls);

#endif

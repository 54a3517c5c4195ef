/* SPDX-License-Identifier: Apache-2.0
 *
 * A map from numbers to positions, in the order of the numbers: which is the last one up to some number? For addresses of
 * allocations, of which 262,144 may be alive: putting one in moves a few hundred others at most. No function here exits or
 * aborts; a lack of memory is a return value.
 */
#ifndef PTDS_ANALYSIS_BASE_SORTED_H
#define PTDS_ANALYSIS_BASE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sorted_leaf;

struct sorted {
    struct sorted_branch {
        uint64_t first; /* no key of the leaf is below it */
        struct sorted_leaf *leaf;
    } * items;
    size_t count, room;
};

struct sorted_entry {
    uint64_t key;
    uint32_t value;
};

/* Maps the key to the value, in place of an earlier value. False without memory. */
bool sorted_put(struct sorted *sorted, uint64_t key, uint32_t value);
/* The entry with the largest key that is not above `key`, and the one with the smallest key above it. False: there is
 * none. */
bool sorted_up_to(const struct sorted *sorted, uint64_t key, struct sorted_entry *out);
bool sorted_above(const struct sorted *sorted, uint64_t key, struct sorted_entry *out);
void sorted_remove(struct sorted *sorted, uint64_t key);
void sorted_free(struct sorted *sorted);

#ifdef __cplusplus
}
#endif
#endif

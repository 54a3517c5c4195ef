/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations that are live, by address: so that two pointers into one allocation are seen to be about the same memory.
 */
#ifndef PTDS_ANALYSIS_MEMORIES_H
#define PTDS_ANALYSIS_MEMORIES_H

#include "analysis/reader.h"
#include "analysis/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct memory {
    uint64_t base, size;
    uint32_t kind; /* enum ptds_memory_kind */
};

enum { MOST_MEMORIES = 1 << 16 };
struct memories {
    TABLE_OF(struct memory) live; /* by base */
    bool more;                    /* there were others, so an address that is not found may be known all the same */
};

/* Takes in a call that allocates or frees; others change nothing. */
void memories_call(struct memories *memories, const struct call *call);

/* The allocation that holds the address; NULL if none is known to. */
const struct memory *memories_at(const struct memories *memories, uint64_t address);

void memories_free(struct memories *memories);

#ifdef __cplusplus
}
#endif
#endif

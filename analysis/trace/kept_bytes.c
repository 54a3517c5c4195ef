/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of memory from which pieces are taken (kept_bytes.h). Called by definitions.c for each record with a tail.
 */
#include "analysis/trace/kept_bytes.h"

#include <stdint.h>
#include <stdlib.h>

#include "analysis/base/heap.h"

enum { KEPT_LEAST = 32 << 10 };

struct kept_bytes {
    struct kept_bytes *before;
    size_t left;
    unsigned char *next;
    uint64_t bytes[];
};

void *kept_bytes_take(struct kept_bytes **kept, size_t bytes)
{
    size_t need = (bytes + 7) & ~(size_t)7, room = need > KEPT_LEAST ? need : KEPT_LEAST;
    if (*kept == NULL || (*kept)->left < need) {
        struct kept_bytes *more = heap_bytes(sizeof *more + room);
        if (more == NULL)
            return NULL;
        *more = (struct kept_bytes){*kept, room, (unsigned char *)more->bytes};
        *kept = more;
    }
    unsigned char *at = (*kept)->next;
    (*kept)->next += need;
    (*kept)->left -= need;
    return at;
}

void kept_bytes_free(struct kept_bytes **kept)
{
    while (*kept != NULL) {
        struct kept_bytes *before = (*kept)->before;
        free(*kept);
        *kept = before;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks: how far the work of each lane has got, as one thread or one object knows it. A lane is one thread in one context.
 * It hands over two kinds of work, each with a count of its own, because legacy order treats them differently: work on
 * created streams only waits for default-stream work, default-stream work waits for all.
 */
#ifndef PTDS_CLOCKS_H
#define PTDS_CLOCKS_H

#include <stdint.h>

enum { LANES = 64 };

enum handed { HANDED_DEFAULT, HANDED_JOINED, HANDED_KINDS };

struct clocks {
    uint64_t have[HANDED_KINDS];         /* a bit for each lane that is in it */
    uint64_t count[HANDED_KINDS][LANES]; /* 64 bits: a count that went round would be order lost without a word */
};

static inline int clocks_empty(const struct clocks *clocks)
{
    return !(clocks->have[HANDED_DEFAULT] | clocks->have[HANDED_JOINED]);
}

static inline int clocks_know(const struct clocks *clocks, int kind, int lane, uint64_t count)
{
    return (clocks->have[kind] >> lane & 1) && count <= clocks->count[kind][lane];
}

static inline void clocks_set(struct clocks *clocks, int kind, int lane, uint64_t count)
{
    clocks->have[kind] |= 1ull << lane;
    clocks->count[kind][lane] = count;
}

/* `into` learns what `from` knows. 1 if that was anything new. */
static inline int clocks_merge(struct clocks *into, const struct clocks *from)
{
    int news = 0;
    for (int kind = 0; kind < HANDED_KINDS; kind++) {
        for (uint64_t left = from->have[kind]; left; left &= left - 1) {
            int lane = __builtin_ctzll(left);
            if (!clocks_know(into, kind, lane, from->count[kind][lane])) {
                clocks_set(into, kind, lane, from->count[kind][lane]);
                news = 1;
            }
        }
    }
    return news;
}

#endif

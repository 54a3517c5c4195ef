/* SPDX-License-Identifier: Apache-2.0
 *
 * The strands that use a memory (struct strand_use): when each did last, and how much of the others' accesses its own have
 * been examined against.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_MEMORY_USE_H
#define PTDS_ANALYSIS_ORDER_MEMORY_MEMORY_USE_H

#include "analysis/order/strands/find_edges.h"

/* The strand's use of the memory, which is made if there is none. `born`: the strand's. Valid until the next call of this.
 */
struct strand_use *memory_use_more(struct verdicts *v, struct memory *memory, uint32_t strand);
static inline struct strand_use *memory_use_of(struct verdicts *v, struct memory *memory, uint32_t strand, uint64_t born)
{
    uint32_t at = strand & (memory->uses_room - 1);
    if (memory->uses != NULL && memory->uses[at].born == born)
        return &memory->uses[at];
    return memory_use_more(v, memory, strand);
}

/* Stints. _leave: before another strand uses the memory: notes in the last strand's use what it did. May move uses. */
void memory_use_leave(struct verdicts *v, struct memory *memory);
/* The strand uses the memory now; a stint begins if another one did before. */
void memory_use_newest(struct verdicts *v, struct memory *memory, uint32_t strand, enum access access);
/* The strand's last stint goes on, if the strand has been examined against all that others did since, with nothing open. */
void memory_use_go_on(const struct verdicts *v, struct memory *memory, const struct strand_use *use);
/* As _leave, _newest and _go_on, where asking alone finds that no access since the strand's last stint can change anything.
 * Returns the strand's use; NULL: not so, and nothing but _leave has happened. */
struct strand_use *memory_use_take_up(struct verdicts *v, uint32_t strand, struct memory *memory);
/* No stint at this memory goes on. */
void memory_use_begin_anew(struct verdicts *v, struct memory *memory);

/* Which other strands' open-ended accesses after operation `since` may change something, if an access of `by` is examined
 * against them. After _leave. */
struct question {
    uint64_t strands; /* a bit for each, modulo 64; 0: no access need be examined */
    uint64_t since;   /* accesses up to here change nothing */
    bool doubted;     /* explicit order does not hold all of the others' accesses */
    bool held; /* the strand has learnt of all of them: an access of which the edges were found needs no second look */
};
struct question memory_use_in_question(const struct verdicts *v, const struct edge_query *by, const struct memory *memory,
                                       enum access access, uint64_t since);
/* Whether that should be asked before any access is examined: few accesses are examined in less time, unless the last
 * examinations changed nothing. */
static inline bool memory_use_is_asked(const struct memory *memory, unsigned few)
{
    return memory->told == 0 || memory->waiting.count >= few;
}
/* Whether each other strand's accesses come before the strand's by explicit order, or are not after operation `since`.
 * After _leave. */
bool memory_use_is_behind(const struct verdicts *v, uint32_t strand, const struct memory *memory, uint64_t since);

#endif

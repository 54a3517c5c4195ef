/* SPDX-License-Identifier: Apache-2.0
 *
 * What the record says of a call: its operation, and the words that go with it as enum ptds_op of the trace format says.
 * Filled in before the call (some after it), by the thread that makes it.
 */
#ifndef PTDS_CALL_WORDS_H
#define PTDS_CALL_WORDS_H

#include "interpose/state/call.h"

/* The operation, and how many of C->word it has. */
static inline void call_words_set(struct call *C, enum ptds_op op, unsigned words)
{
    C->op = (uint8_t)op;
    C->words = (uint8_t)words;
}

/* An operation without words. */
static inline void call_words_kind(struct call *C, enum ptds_op op)
{
    call_words_set(C, op, 0);
}

/* An operation about one thing, whose address or handle is `value`. */
static inline void call_words_object(struct call *C, enum ptds_op op, uint64_t value)
{
    C->word[0] = value;
    call_words_set(C, op, 1);
}

/* Work on memory that its arguments do not name, and that may therefore be any. */
static inline void call_words_opaque(struct call *C, enum opaque_reason why)
{
    C->flags |= PTDS_CALL_OPAQUE;
    call_words_set(C, PTDS_OP_OPAQUE, 0);
    C->touched.opaque = (uint8_t)why;
}

/* A host function that the call puts on a stream. */
static inline void call_words_host_function(struct call *C, void *function)
{
    if (!C->footprint)
        return;
    call_words_opaque(C, OPAQUE_HOST_FUNCTION);
    call_words_object(C, PTDS_OP_HOST_FUNCTION, (uint64_t)function);
}

/* Behind the words that name addresses: the uid of memory that is touched, and that no word leads to. Where there is no
 * room, the record says that the words are not all. */
static inline void call_words_reaches(struct call *C, uint32_t uid, int writes)
{
    if (C->words == CALL_WORDS)
        C->flags |= PTDS_CALL_OPAQUE;
    else
        C->word[C->words++] = uid | (writes ? PTDS_REACHES_WRITE : PTDS_REACHES_READ) << PTDS_LAUNCH_ADDRESS_BITS;
}

/* Behind those: the bytes of a memory to which the launch's pointers into it lead, and no others. Two words. */
static inline void call_words_part(struct call *C, uint64_t begin, uint64_t end)
{
    C->word[C->words++] = begin | PTDS_PART_BEGIN << PTDS_LAUNCH_ADDRESS_BITS;
    C->word[C->words++] = end | PTDS_PART_END << PTDS_LAUNCH_ADDRESS_BITS;
}

/* A launch's shape: its first words. attributes: PTDS_LAUNCH_COOPERATIVE and the like. */
enum { SHAPE_WORDS = 3 };
static inline void call_words_shape(uint64_t *word, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                    unsigned block_y, unsigned block_z, unsigned shared_bytes, uint64_t attributes)
{
    word[0] = grid_x | (uint64_t)grid_y << 32;
    word[1] = grid_z | (uint64_t)shared_bytes << 32;
    word[2] =
        (block_x & 0xffffu) | (uint64_t)(block_y & 0xffffu) << 16 | (uint64_t)(block_z & 0xffffu) << 32 | attributes << 48;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded trace overwrites its oldest calls, but a pointer that a later call has still points into what one of them
 * allocated. So before an old chunk is used again, allocations are looked for in it, and each whose memory is still there
 * is written among the definitions, in place of its call. Called once a chunk, some hundred records apart. Must not take
 * memory: the new records are made where the old ones were.
 */
#include "interpose/record/file/rescue.h"

#include <string.h>

#include "interpose/record/file/chunk_pages.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/store.h"

int (*rescue_memory_is_there)(const struct ptds_rec_MEMORY *memory);

enum { ADDRESS, BYTES, KIND, LEAST_WORDS, PART_OF = LEAST_WORDS, SAME_AS };

_Static_assert(sizeof(struct ptds_rec_MEMORY) <= sizeof(struct ptds_rec_CALL) + LEAST_WORDS * sizeof(uint64_t),
               "a record of memory fits where the call was");

static uint32_t word(const struct ptds_rec_CALL *call, unsigned words, unsigned i)
{
    return i < words ? (uint32_t)call->word[i] : 0;
}

/* The record may come into this chunk or into the next one. */
void rescue_allocates(struct thread *thread)
{
    if (thread->chunk)
        thread->chunk->holds = 1;
    thread->allocates = 1;
}

/* 0: the record is of something else. */
static int memory_of(const struct ptds_record *record, struct ptds_rec_MEMORY *memory)
{
    const struct ptds_rec_CALL *call = (const void *)record;
    if (record->kind != PTDS_REC_CALL || record->size < sizeof *call + LEAST_WORDS * sizeof call->word[0] ||
        (call->op != PTDS_OP_ALLOC && call->op != PTDS_OP_ALLOC_ASYNC) || call->result != 0 || call->object == 0)
        return 0;
    unsigned words = (unsigned)((record->size - sizeof *call) / sizeof call->word[0]);
    *memory = (struct ptds_rec_MEMORY){.record = {PTDS_REC_MEMORY, sizeof *memory, 0},
                                       .ticks = call->enter,
                                       .address = call->word[ADDRESS],
                                       .bytes = call->word[BYTES],
                                       .uid = call->object,
                                       .kind = (uint32_t)call->word[KIND],
                                       .part_of = word(call, words, PART_OF),
                                       .same_as = word(call, words, SAME_AS),
                                       .context = call->context};
    return 1;
}

size_t rescue_pack(uint8_t *records, size_t bytes)
{
    size_t packed = 0;
    for (size_t at = 0, size; at + sizeof(struct ptds_record) <= bytes; at += size) {
        const struct ptds_record *record = (const struct ptds_record *)(records + at);
        struct ptds_rec_MEMORY memory;
        size = record->size;
        if (size < sizeof *record || size > bytes - at)
            break;
        if (!memory_of(record, &memory) || !rescue_memory_is_there || !rescue_memory_is_there(&memory))
            continue;
        memcpy(records + packed, &memory, sizeof memory);
        packed += sizeof memory;
    }
    return packed;
}

struct ptds_chunk *rescue_chunk(enum ptds_chunk_kind kind, uint32_t thread)
{
    size_t old = 0;
    struct ptds_chunk *chunk = store_chunk(kind, thread, &old);
    if (old) {
        const uint8_t *records = (const uint8_t *)(chunk + 1);
        define_memories(records, rescue_pack((uint8_t *)(chunk + 1), old));
        if (kind == PTDS_CHUNK_COUNTS)
            chunk_pages_clear(chunk);
    }
    return chunk;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls about one range, and values. Called by the wrappers before the call. Must not read a list that is not there.
 */
#include "interpose/footprint/operations/range_calls.h"

#include "interpose/base/program_array.h"
#include "interpose/footprint/memories/side.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/state/call_words.h"

/* A value is written there: it may be a pointer, or half of a pointer. */
static void written(struct call *C, uint64_t address)
{
    struct memory *memory = lookup_range(C->thread, address).memory;
    if (memory)
        pointer_tables_filled_unseen(memory_object_table_owner(memory));
    else
        pointer_tables_unknown_work();
}

/* Memory is attached to a stream, or to the host. Programs usually give a length of 0: all of the allocation. */
static void touch_attached(struct call *C, uint64_t base, uint64_t bytes)
{
    struct memory *memory = bytes ? NULL : lookup_range(C->thread, base).memory;
    if (memory)
        touch_memory_whole(&C->touched, memory, 1);
    else
        side_touch_bytes(C, base, bytes ? bytes : 1, 1);
}

void range_calls_range(struct call *C, enum ptds_op op, uint64_t base, uint64_t bytes)
{
    C->word[0] = base;
    C->word[1] = bytes;
    call_words_set(C, op, 2);
    if (!C->footprint)
        return;
    if (op == PTDS_OP_PREFETCH)
        side_touch_bytes(C, base, bytes, 0);
    else if (op == PTDS_OP_ATTACH)
        touch_attached(C, base, bytes);
    else
        touch_memory_opaque(&C->touched, OPAQUE_WAITS_FOR_VALUE);
    if (op == PTDS_OP_WRITE_VALUE)
        written(C, base);
}

void range_calls_values(struct call *C, const CUstreamBatchMemOpParams *ops, unsigned count)
{
    call_words_opaque(C, OPAQUE_WAITS_FOR_VALUE);
    int there = C->footprint && program_array_is_readable(ops, sizeof *ops, count);
    for (unsigned i = 0; there && i < count; i++) {
        switch (ops[i].operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        case CU_STREAM_MEM_OP_BARRIER:
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        case CU_STREAM_MEM_OP_WRITE_VALUE_64: written(C, ops[i].writeValue.address); break;
        default: pointer_tables_unknown_work();
        }
    }
}

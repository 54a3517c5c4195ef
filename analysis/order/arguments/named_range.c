/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of a call to ranges of memory, as enum ptds_op lays them out. Called by rules for the calls that they are about.
 * The words are untrusted: sizes that overflow become "how far is not seen".
 */
#include "analysis/order/arguments/named_range.h"

#include "analysis/order/arguments/copy_rows.h"

static uint64_t extent(uint64_t width, uint64_t height, uint64_t pitch)
{
    uint64_t size;
    if (height <= 1)
        return width;
    if (__builtin_mul_overflow(height - 1, pitch > width ? pitch : width, &size) ||
        __builtin_add_overflow(size, width, &size))
        return 0;
    return size;
}

static unsigned launch(const struct call *call, struct named_range out[NAMED_RANGE_MOST], bool *all)
{
    unsigned count = 0;
    *all &= call->words > LAUNCH_WORDS_AT; /* a kernel that names no memory reaches it some other way */
    for (uint32_t i = LAUNCH_WORDS_AT; i < call->words; i++) {
        if (word_is_part(call_word(call, i)))
            continue;
        if (count == NAMED_RANGE_MOST || word_reaches(call_word(call, i))) {
            *all = false;
            break;
        }
        out[count++] = (struct named_range){.address = launch_address(call_word(call, i))};
    }
    return count;
}

static unsigned copy(const struct call *call, struct named_range out[NAMED_RANGE_MOST], bool *all)
{
    struct copy_rows into = copy_rows_of(call, true), outof = copy_rows_of(call, false);
    unsigned to = call->r.kinds & 15, from = call->r.kinds >> 4, count = 0;
    if (to != PTDS_MEMORY_ARRAY)
        out[count++] = (struct named_range){call_word(call, 0), extent(into.width, into.height, into.pitch), false};
    if (from != PTDS_MEMORY_ARRAY)
        out[count++] = (struct named_range){call_word(call, 1), extent(outof.width, outof.height, outof.pitch), true};
    *all = count == 2;
    return count;
}

unsigned named_range_of(const struct call *call, struct named_range out[NAMED_RANGE_MOST], bool *all)
{
    *all = !(call->r.flags & PTDS_CALL_OPAQUE);
    switch (call->r.op) {
    case PTDS_OP_LAUNCH: return launch(call, out, all);
    case PTDS_OP_COPY: return copy(call, out, all);
    case PTDS_OP_MEMSET:
        out[0] = (struct named_range){.address = call_word(call, 0),
                                      .size = extent(call_word(call, 1), call_word(call, 2), call_word(call, 3))};
        return 1;
    case PTDS_OP_ALLOC_ASYNC:
    case PTDS_OP_PREFETCH:
    case PTDS_OP_ATTACH: out[0] = (struct named_range){call_word(call, 0), call_word(call, 1), false}; return 1;
    case PTDS_OP_WAIT_VALUE:
    case PTDS_OP_WRITE_VALUE:
    case PTDS_OP_FREE_ASYNC:
    case PTDS_OP_FREE:
    case PTDS_OP_FREE_HOST:
    case PTDS_OP_UNREGISTER: out[0] = (struct named_range){.address = call_word(call, 0)}; return 1;
    default: *all = false; return 0;
    }
}

static bool inside(uint64_t address, struct named_range range)
{
    return address >= range.address && address - range.address < range.size;
}

bool named_range_meets(struct named_range a, struct named_range b)
{
    return a.address == b.address || inside(a.address, b) || inside(b.address, a);
}

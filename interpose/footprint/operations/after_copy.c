/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies in a destination after a copy or memset. Called by the wrappers when the driver has taken the call. Must not
 * read the host's bytes where the copy may read them later: the program may change them until then.
 */
#include "interpose/footprint/operations/after_copy.h"

#include "interpose/footprint/memories/pageable.h"
#include "interpose/footprint/operations/copies.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/footprint/pointers/scan_host_memory.h"
#include "interpose/state/capture.h"

/* Whether the copy is done when the call is back. */
static int is_synchronous(const struct call *C)
{
    return api_rows[C->api].route == ROUTE_IMPLICIT;
}

/* Whether the call itself says when its source is read: that may be any time. */
static int says_when_it_reads(const struct call *C)
{
    return C->api == API_cuMemcpyBatchAsync || C->api == API_cuMemcpyBatchAsync_v2 ||
           C->api == API_cuMemcpyWithAttributesAsync;
}

/* From plain host memory the driver has read all bytes when the call is back. Exceptions: the calls above, and devices that
 * read such memory themselves. */
static int is_read_at_once(const struct call *C)
{
    return is_synchronous(C) || (!says_when_it_reads(C) && !pageable_is_read());
}

/* Whether the bytes that are copied are those that the host finds at the source now: the driver has read the source by now.
 */
static int is_readable(const struct call *C, const struct access *source)
{
    if (capture_any())
        return 0;
    switch (C->kinds >> 4) {
    case PTDS_MEMORY_PAGEABLE: return !source && is_read_at_once(C);
    case PTDS_MEMORY_PINNED:
    case PTDS_MEMORY_REGISTERED:
        return is_synchronous(C) &&
               (!source || source->memory->kind == PTDS_MEMORY_PINNED || source->memory->kind == PTDS_MEMORY_REGISTERED);
    default: return 0;
    }
}

static void copied(struct call *C, const struct access *to, const struct access *from)
{
    uint64_t bytes = C->word[2];
    int flat = C->word[3] == 1 && to->end - to->begin == bytes;
    if (flat && pointer_tables_want(bytes) && is_readable(C, from))
        /* at the host's own address: the device's may be another one */
        scan_host_memory(C->thread, to->memory, to->begin, (const uint8_t *)(from ? from->begin : C->word[1]), bytes);
    else if (from)
        pointer_tables_copied(to->memory, to->begin, from->memory, from->begin, to->end - to->begin, flat);
    else
        pointer_tables_filled_unseen(to->memory);
}

/* Whether the copy is, or may become, a node of a graph, which runs later or never. Whether a stream is capturing whose
 * creation was not seen, is not known. */
static int is_put_off(const struct call *C)
{
    if (C->flags & PTDS_CALL_CAPTURING)
        return 1;
    return C->flags & PTDS_CALL_CAPTURE_OPEN && !(C->flags & PTDS_CALL_LEGACY) && !C->stream &&
           C->target != CU_STREAM_PER_THREAD;
}

/* The accesses that are the copy's sides; three at most, more make no difference. Not chunks of a reservation: the pointers
 * in them are kept with the reservation, since a pointer to one chunk may reach those in another one. */
static unsigned sides_touched(const struct touched *touched, const struct access *sides[3])
{
    unsigned count = 0;
    for (unsigned i = 0; i < touched->count && count < 3; i++) {
        if (!(touched->at[i].memory->host & MEMORY_RESERVED))
            sides[count++] = &touched->at[i];
    }
    return count;
}

/* A captured copy becomes a node: it brings nothing now, and each launch of the graph says what it brings. */
static int is_captured(const struct call *C)
{
    return (C->flags & PTDS_CALL_CAPTURING) != 0;
}

/* For a side with several memories, which is rare: what comes into them is not known. */
static void filled(const struct call *C, const struct access *to)
{
    if (C->op == PTDS_OP_MEMSET && to->end - to->begin == C->word[1] && !C->word[COPIES_WORD_VALUE] && !is_put_off(C))
        pointer_tables_cleared(to->memory, to->begin, to->end);
    else if (C->op != PTDS_OP_MEMSET || C->word[COPIES_WORD_VALUE])
        pointer_tables_filled_unseen(to->memory);
}

void after_copy_slow(struct call *C)
{
    const struct touched *touched = &C->touched;
    const struct access *sides[3];
    unsigned count = sides_touched(touched, sides);
    if (is_captured(C))
        return;
    if (touched->opaque) /* to memory that is not known: a variable whose address was not asked for */
        pointer_tables_unknown_work();
    if (C->op == PTDS_OP_COPY && (count == 1 || count == 2) && sides[0]->writes && !touched->opaque &&
        (count == 1 || !sides[1]->writes) && !is_put_off(C)) {
        copied(C, sides[0], count == 2 ? sides[1] : NULL);
        return;
    }
    for (unsigned i = 0; i < touched->count; i++) {
        const struct access *access = &touched->at[i];
        if (access->writes && !(access->memory->host & MEMORY_RESERVED))
            filled(C, access);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * For which copies and memsets the host waits, by what they touch: in their synchronous forms, and in any. As measured
 * (tests/conformance/hostblock*.c); where it is not known, waiting is right. Called by the guard, after the footprint.
 */
#include "interpose/footprint/operations/blocks_host.h"

#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/state/call_words.h"

/* From plain host memory the driver copies 1 MiB to a place of its own without a wait, and waits for the stream with 64
 * MiB. Where between the two the waits begin was not measured. To expect a wait too many costs time; a wait that was not
 * expected could last for ever. */
enum { STAGED_MOST = 1 << 20 };

static uint32_t contexts_wait; /* not 0: some context may have the flag CU_CTX_SYNC_MEMOPS */

void blocks_host_context_flags(unsigned flags)
{
    if (flags & CU_CTX_SYNC_MEMOPS)
        __atomic_store_n(&contexts_wait, 1, __ATOMIC_RELAXED);
}

void blocks_host_context_made(struct call *C, unsigned flags)
{
    if (C->op == PTDS_OP_CTX_CREATE)
        call_words_object(C, PTDS_OP_CTX_CREATE, flags);
}

/* Whether the current context has the flag. The driver is asked: flags are set in many ways. */
static int context_waits(void)
{
    unsigned flags = 0;
    if (__builtin_expect(!__atomic_load_n(&contexts_wait, __ATOMIC_RELAXED), 1))
        return 0;
    return !driver.cuCtxGetFlags || ASK(driver.cuCtxGetFlags(&flags)) != CUDA_SUCCESS || flags & CU_CTX_SYNC_MEMOPS;
}

/* Work of no bytes is not waited for, whatever memory it names. */
static int moves_nothing(const struct call *C)
{
    if (C->words < 4)
        return 0;
    return C->op == PTDS_OP_COPY ? !C->word[2] || !C->word[3] : C->op == PTDS_OP_MEMSET && (!C->word[1] || !C->word[2]);
}

static int is_waited_for(unsigned kind)
{
    return kind <= PTDS_MEMORY_REGISTERED || kind == PTDS_MEMORY_MANAGED;
}

/* Host memory counts by a device address, too. Memory of other processes does not: legacy does not wait for it. */
static int touches_waited_for(const struct touched *touched)
{
    for (unsigned i = 0; i < touched->count; i++) {
        const struct memory *memory = touched->at[i].memory;
        if (memory_object_is_hosts(memory) || memory->host & MEMORY_SYNCHRONOUS)
            return 1;
    }
    return 0;
}

int blocks_host(const struct call *C)
{
    if (C->op != PTDS_OP_COPY && C->op != PTDS_OP_MEMSET)
        return 1;
    if (moves_nothing(C))
        return 0;
    if (is_waited_for(C->kinds & 15) || (C->op == PTDS_OP_COPY && (is_waited_for(C->kinds >> 4) || C->host_sides)))
        return 1;
    return touches_waited_for(&C->touched) || context_waits();
}

/* Plain host memory, or memory that was not seen being made while the driver could not be asked: plain as a rule. */
static int is_plain(unsigned kind)
{
    return kind == PTDS_MEMORY_UNKNOWN || kind == PTDS_MEMORY_PAGEABLE;
}

/* Whether a side of the copy (writes: the destination) is host memory, plain or page-locked. */
static int is_host_side(const struct call *C, unsigned kind, uint32_t writes)
{
    if (kind <= PTDS_MEMORY_REGISTERED)
        return 1;
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        uint8_t its = access->memory->kind;
        if (access->writes == writes &&
            (its == PTDS_MEMORY_PINNED || its == PTDS_MEMORY_REGISTERED || access->memory->host & MEMORY_HOSTS))
            return 1;
    }
    return 0;
}

int blocks_host_always(const struct call *C)
{
    unsigned to = C->kinds & 15, from = C->kinds >> 4;
    if (C->op == PTDS_OP_GRAPH_LAUNCH)
        return (C->host_sides & CALL_TO_HOST) != 0;
    if (C->op != PTDS_OP_COPY || moves_nothing(C))
        return 0;
    if (is_plain(to) || (is_plain(from) && C->words >= 4 && C->word[2] > STAGED_MOST / C->word[3]))
        return 1;
    return is_host_side(C, to, 1) && is_host_side(C, from, 0);
}

/* A copy from plain host memory to the device may be on its way still, from the driver's own place. */
int blocks_host_is_done(const struct call *C)
{
    if (C->op == PTDS_OP_COPY)
        return !is_plain(C->kinds >> 4) || (C->kinds & 15) <= PTDS_MEMORY_REGISTERED;
    return C->op == PTDS_OP_MEMSET;
}

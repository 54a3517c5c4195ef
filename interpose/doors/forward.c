/* SPDX-License-Identifier: Apache-2.0
 *
 * What a forwarder does: the guard puts the call behind all that it may have to follow, the driver's function is called
 * with the arguments as they are, and the guard puts all behind it that may have to follow the call. Entered from the
 * assembly (forward_*.S). Must keep errno, hold no turn over the call, and read no further up the stack than it goes.
 */
#include "interpose/doors/forward.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/lock.h"
#include "interpose/base/peek.h"
#include "interpose/doors/door.h"
#include "interpose/doors/lifecycle.h"
#include "interpose/footprint/tables.h"
#include "interpose/guard/everywhere.h"
#include "interpose/guard/guard.h"
#include "interpose/state/call.h"

static struct {
    void *function; /* NULL: free, as are all that follow */
    uint32_t *calls;
} forwarders[FORWARDERS];
static struct lock taking;

void *forward_to(void *function, uint32_t *calls)
{
    unsigned at = 0;
    lock_take(&taking);
    while (at < FORWARDERS && forwarders[at].function && forwarders[at].function != function)
        at++;
    if (at < FORWARDERS && !forwarders[at].function) {
        forwarders[at].calls = calls;
        forwarders[at].function = function;
    }
    lock_drop(&taking);
    return at < FORWARDERS ? (void *)(uintptr_t)(ptds_forward_first + at * FORWARD_BYTES) : NULL;
}

/* How many words of arguments there may be on the stack: more than any function of the driver has, but no more than there
 * is stack. What lies past the end of this page may not be there where a coroutine's stack begins; arguments always are. */
static size_t words_of(const uint64_t *stacked)
{
    enum { MOST = 64, PAGE = 4096 };
    uintptr_t from = (uintptr_t)stacked, page = from / PAGE * PAGE + PAGE;
    size_t here = (page - from) / sizeof *stacked;
    uint8_t byte;
    int ends = here < MOST && !peek(page, &byte, sizeof byte) && peek(from, &byte, sizeof byte);
    return ends ? here : MOST;
}

/* 0: the guard is off, and the call goes on alone. */
static int begin(struct call *C, const uint64_t *stacked, const void *caller)
{
    if (!door_open() || !guard_on)
        return 0;
    lifecycle_start();
    memset(C, 0, sizeof *C);
    C->thread = thread_get();
    C->caller = caller;
    C->frame = (const void *const *)stacked - 1;
    return C->thread != NULL;
}

/* The call may write pointers that the shim does not see. */
static void around(struct call *C)
{
    tables_unknown_work();
    everywhere_take_part(C);
}

void ptds_forward_run(uint32_t number, struct forward_frame *frame, const uint64_t *stacked, const void *caller)
{
    struct call call;
    int saved = errno, ordered = begin(&call, stacked, caller);
    __atomic_add_fetch(forwarders[number].calls, 1, __ATOMIC_RELAXED);
    if (ordered)
        around(&call);
    errno = saved;
    ptds_forward_call(forwarders[number].function, frame, stacked, words_of(stacked));
    saved = errno;
    if (ordered)
        around(&call);
    errno = saved;
}

void forward_after_fork(void)
{
    taking.held = 0;
}

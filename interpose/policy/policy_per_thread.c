/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy per-thread: what recompiling with --default-stream per-thread gives, no more and no less. Calls with a stream
 * argument get CU_STREAM_PER_THREAD in the base entry, which is the same as 0 at the twin (measured); implicit ones go to
 * their twin.
 */
#include "interpose/driver/driver.h"
#include "interpose/driver/others.h"
#include "interpose/policy/policy.h"

static void legacy(struct call *C, int implicit)
{
    struct thread_context *here = thread_in(C->thread, C->context);
    const void *twin = C->other ? others_function[C->api][1] : driver_real[C->api][1];
    if (!here || (implicit && !twin)) {
        C->flags |= PTDS_CALL_KEPT_NO_WAY;
        return;
    }
    C->target = CU_STREAM_PER_THREAD;
    C->target_uid = here->per_thread_uid;
    if (implicit)
        C->way = CALL_AS_TWIN;
}

const struct policy policy_per_thread = {
    .name = "per-thread",
    .sentence = "puts each thread's default-stream work on its own stream, as --default-stream per-thread does",
    .gives_up = "order between threads, and between the default stream and the program's own blocking streams",
    .remaps = 1,
    .legacy = legacy,
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of the results that an explicit wait waited for. A wait that blocked is watched until each stream that it
 * waited for shows whether the program needed it just then:
 *
 *   needed      something used the memory of that stream's work before the program waited for the stream again, or its time
 *   not needed  the program waited for the stream itself again, with nothing in between that used its work; or it gave the
 *               stream more work and waited then, and what was pending at the first wait used device memory only, all of it
 *               known. (Host memory that a kernel or a copy wrote may have been read without a trace.)
 *   unknown     neither shows
 *
 * Reasons that no trace holds (a host clock read, a queue kept short) may make a wait sensible all the same.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_AFTERMATH_AFTERMATH_H
#define PTDS_ANALYSIS_FINDINGS_AFTERMATH_AFTERMATH_H

#include "analysis/findings/removed_by_policy.h"
#include "analysis/findings/aftermath/saving.h"
#include "analysis/findings/aftermath/tracks.h"
#include "analysis/findings/aftermath/call_memories.h"
#include "analysis/model/model.h"
#include "analysis/order/arguments/named_range.h"
#include "analysis/order/verdict.h"
#include "analysis/order/verdict_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

enum need { NEED_OPEN, NEED_UNKNOWN, NEEDED, NOT_NEEDED };

struct judged_stream {
    uint32_t uid, object; /* object: the kernel that was its last work, 0 none */
    uint32_t thread;      /* uid, of that work */
    enum need need;
    bool host;       /* it uses memory of the host, which the host may have used next without a trace */
    bool for_stream; /* what needed it was work of another stream, which could have waited itself */
    uint64_t ran_ns; /* how long the work still ran during the wait; 0: it did not run then, or its time is not known */
};

struct judged {
    bool wide;           /* the call waits for more than one stream, by its driver function */
    uint32_t count, all; /* streams judged, streams that it waited for */
    struct judged_stream stream[PENDING_KEPT];
    bool batch; /* the wait ended a batch: the program had submitted several operations since the last wait of the thread */
    bool more;  /* the thread gave the GPU more to do before it waited again */
    bool other; /* ... and some of it on a stream that would have run beside what was waited for (saving.h) */
    uint64_t saved_ns; /* ns that leaving the wait out would have saved (saving.h) */
    uint64_t apart_ns; /* the same without the host's work right behind the wait, which may be what it was for */
    struct removed_set removed_by; /* under which policies the wait would be gone */
    const struct call_view *view;  /* the wait; only `call`, the uid of the thread and the costs are still valid */
};

struct watch;

enum { WATCHES = 8 };

/* A stream that an open watch has to know more about: the memory of its work, and whether the watch waits for more
 * work on it. */
struct watched_slot {
    uint32_t slot;
    bool idle;
    uint64_t some;
};

struct aftermath {
    struct model *model;
    struct verdicts *verdicts; /* which allocations there are; NULL: none is known */
    const struct removed_policies *removed_by;
    void (*judge)(void *data, const struct judged *judged);
    void *data;
    struct call_memories use; /* of the call at hand */
    bool launches_later; /* allocations are known by their calls alone, so the memory of a launch can be looked up later */
    struct tracks tracks;
    TABLE_OF(uint64_t) works; /* by thread: operations of the whole program at its last wait */
    struct watch *watches[WATCHES];
    uint32_t count;
    bool open;       /* some watch has streams to judge; other watches concern only their own thread, whose bit is set in */
    uint64_t savers; /* by uid, modulo 64 */
    /* For which later calls the watches have to be looked at, as of the last call that was looked into. */
    uint64_t idle_savers; /* those threads of `savers` that have submitted nothing since their wait */
    struct watched_slot slots[WATCHES * PENDING_KEPT];
    uint32_t slots_count;
};

/* Begins. `judge` is called once for each wait that blocked, some time after the wait. The pointers must stay valid
 * until aftermath_end. */
void aftermath_begin(struct aftermath *aftermath, struct model *model, struct verdicts *verdicts,
                     const struct removed_policies *removed_by, void (*judge)(void *data, const struct judged *judged),
                     void *data);
/* Takes each call before verdicts_take does: an allocation that the call frees is still known then. */
void aftermath_look_now(struct aftermath *aftermath, const struct call_view *view);
static inline void aftermath_look(struct aftermath *aftermath, const struct call_view *view)
{
    if (!aftermath->open)
        return;
    if (view->plain && aftermath->launches_later && verdict_memory_is_complete(aftermath->verdicts))
        aftermath->use.found = false;
    else
        aftermath_look_now(aftermath, view);
}

/* Takes each call once more, after verdicts_take; between model_enter and model_leave. */
void aftermath_note(struct aftermath *aftermath, const struct call_view *view);
static inline void aftermath_call(struct aftermath *aftermath, const struct call_view *view)
{
    if (aftermath->open || aftermath->savers != 0 || !view->work || view->scope != WAIT_NONE)
        aftermath_note(aftermath, view);
    else
        tracks_note(&aftermath->tracks, aftermath->model, view);
}
/* Whether a launch may change an open watch, by what the verdicts know of its memory. */
bool aftermath_may_tell(const struct aftermath *aftermath, const struct call_view *view);
/* Whether a launch changes no watch: its thread has submitted work since its last wait. */
static inline bool aftermath_is_told_nothing(const struct aftermath *aftermath, const struct call_view *view)
{
    return (aftermath->idle_savers >> view->call->thread % 64 & 1) == 0 &&
           (!aftermath->open || (!aftermath->use.found && !aftermath_may_tell(aftermath, view)));
}
/* Whether a wait of this thread for several streams, the given one among them, is still watched. */
bool aftermath_watches(const struct aftermath *aftermath, uint32_t thread, uint32_t slot);
/* Judges the waits that are still watched. */
void aftermath_end(struct aftermath *aftermath);

#ifdef __cplusplus
}
#endif
#endif

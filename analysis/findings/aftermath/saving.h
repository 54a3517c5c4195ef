/* SPDX-License-Identifier: Apache-2.0
 *
 * What leaving a wait out would save. A thread that had not waited would have gone on until it had to wait the next time:
 * so much, and never more than the wait took, it would have gained. It gains nothing if it gave the GPU nothing more to do
 * before that next wait: then the wait was for a last result, and leaving it out only moves it. A wait right after it,
 * which had nothing left to wait for, is part of it. The next wait is whatever keeps the thread until work is done: a copy
 * without a stream argument, a free, a load as well.
 *
 * That is of one stream's work, which takes as long as it takes. If the thread gave another stream work before that next
 * wait, all that the wait took may be saved: without it the two streams would have run side by side.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_AFTERMATH_SAVING_H
#define PTDS_ANALYSIS_FINDINGS_AFTERMATH_SAVING_H

#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct finding;

struct saving {
    uint32_t thread; /* uid */
    bool open, more; /* open: the thread has not waited again; more: it has submitted work since */
    bool again;      /* it waited at once for what it had just waited for: so the wait was meant, whatever came beside */
    bool other;      /* more, and some of it on a stream that the wait was not for, and not behind one by implicit order */
    uint64_t waited; /* the slots that it was for: a bit for each, modulo 64 */
    unsigned roles;  /* theirs (ORDER_OF), of those that take part in implicit order */
    uint64_t enter, leave; /* ticks, of the wait */
    uint64_t gap;          /* ticks from the wait to the thread's next call; UINT64_MAX: none yet */
    uint64_t lost_ns, saved_ns;
    uint64_t apart_ns; /* saved_ns without that gap: the host may have read a clock there, or used what it had waited for */
};

/* Begins with the wait at hand. */
void saving_begin(struct saving *saving, const struct model *model, const struct call_view *view);
/* Takes a later call, of any thread. */
void saving_look(struct saving *saving, const struct trace *trace, const struct call_view *view);

/* When it is known what leaving a call out would save, and how much that is. */
enum saving_kind {
    SAVE_UNTIL_NEXT_WAIT,   /* what the thread would have gained until its next wait (above) */
    SAVE_BESIDE,            /* the same, and all that the call lost where other streams would have run beside */
    SAVE_BESIDE_OR_UNKNOWN, /* the same, and unknown where the thread gave the GPU nothing more and somebody does later */
    SAVE_ALL_IF_MORE,       /* all that the call lost, if any thread submits work later: not at the end of a program */
};

enum { SAVINGS_OPEN = 64 };
struct savings {
    const struct model *model;
    uint32_t count;
    bool if_more;     /* some are SAVE_ALL_IF_MORE, which any work settles, or SAVE_BESIDE_OR_UNKNOWN, which it concerns */
    uint64_t threads; /* all others concern calls of their own thread: a bit for each uid, modulo 64 */
    struct open_saving {
        enum saving_kind kind;
        struct saving saving;
        uint64_t calls; /* SAVE_ALL_IF_MORE: of this finding and thread, all in one */
        bool later;     /* SAVE_BESIDE_OR_UNKNOWN: somebody has submitted work since */
        struct finding *finding;
    } open[SAVINGS_OPEN];
};

/* Charges the call to the finding (NULL: to none) once it is known what leaving it out would save. A call that would save
 * nothing is counted nowhere: a finding with neither known nor unknown calls at the end is none. */
void saving_watch(struct savings *savings, enum saving_kind kind, struct finding *finding, const struct call_view *view);

/* After the last call: what a thread would have saved that never waited again is unknown, or nothing. */
void saving_end(struct savings *savings);

/* Takes a call that may settle open savings, and charges the findings of those that it settles. */
void saving_look_all(struct savings *savings, const struct call_view *view);
/* Whether a call of this thread (uid) may settle an open saving. */
static inline bool saving_is_open(const struct savings *savings, uint32_t thread, bool work)
{
    return savings->count != 0 && ((savings->if_more && work) || (savings->threads >> thread % 64 & 1) != 0);
}
/* Takes every call, before the rules do. */
static inline void saving_look_if_open(struct savings *savings, const struct call_view *view)
{
    if (saving_is_open(savings, view->call->thread, view->work))
        saving_look_all(savings, view);
}

#ifdef __cplusplus
}
#endif
#endif

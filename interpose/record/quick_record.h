/* SPDX-License-Identifier: Apache-2.0
 *
 * The record of a launch that goes the guard's short way: written down in its place while the launch is made, words and
 * all, and valid once it is committed. Called by doors/quick_launches.c. Nothing is held between the two halves: a call
 * that the driver makes back into the program may write its record in the place meanwhile, and the second half says so.
 */
#ifndef PTDS_QUICK_RECORD_H
#define PTDS_QUICK_RECORD_H

#include "interpose/base/clock.h"
#include "interpose/record/append.h"
#include "interpose/record/device/device_times.h"
#include "interpose/record/log.h"
#include "interpose/record/recorder.h"
#include "interpose/record/stacks/stacks.h"
#include "interpose/state/capture.h"

/* The thread's next record, with its time and its stack, and room for all words; NULL where anything is not as usual. */
static inline struct ptds_rec_CALL *quick_record_begin(struct thread *thread, const void *caller, const void *const *frame)
{
    struct ptds_rec_CALL *record = (struct ptds_rec_CALL *)thread->chunk_at;
    if (__builtin_expect(!recorder_on() || log_on() || device_times_on || !thread->counts ||
                             !append_has_room(thread, sizeof *record + CALL_WORDS * sizeof record->word[0]),
                         0))
        return NULL;
    uint32_t stack = stacks_usual(thread, caller, frame);
    if (__builtin_expect(!stack, 0))
        return NULL;
    record->enter = clock_ticks();
    record->stack = stack;
    return record;
}

struct quick_record {
    uint16_t api;
    uint32_t context, stream, target, kernel, words;
};

/* The launch was made, on another stream than the legacy one. 0: the record is not there and nothing is counted, since
 * another record took its place, or the call failed, or a capture was opened. */
static inline int quick_record_end(struct thread *thread, struct ptds_rec_CALL *record, struct quick_record quick,
                                   CUresult result)
{
    if (__builtin_expect(result != CUDA_SUCCESS || thread->chunk_at != (uint8_t *)record || capture_any(), 0))
        return 0;
    thread->counts[quick.api * 2u].calls++;
    thread->counts[quick.api * 2u].remapped++;
    thread->defaults->legacy++;
    append_here(thread, PTDS_REC_CALL, sizeof *record + quick.words * sizeof record->word[0]);
    record->leave = 0;
    record->api = quick.api;
    record->result = CUDA_SUCCESS;
    record->flags = PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED;
    record->op = PTDS_OP_LAUNCH;
    record->kinds = 0;
    record->streams = 0;
    record->context = quick.context;
    record->stream = quick.stream;
    record->target = quick.target;
    record->object = quick.kernel;
    record->generation = 0;
    record->region = thread->region;
    append_commit(thread);
    return 1;
}

#endif

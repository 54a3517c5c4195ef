/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that ends with work pending on its per-thread stream: is the join held up, is the work done, is the event that
 * was recorded there still good, and does the next thread get a stream of its own?
 */
#include <pthread.h>
#include <stdlib.h>

#include "tests/conformance/conf.h"

struct leaving {
    uint32_t *gate, *mark;
    CUevent event;
    CUresult event_code; /* what it said after the join, the gate still closed */
    unsigned long long id, next_id;
};

static void *leave_work_behind(void *argument)
{
    struct leaving *l = argument;
    MUST(cuCtxSetCurrent(conf.ctx));
    MUST(cuStreamGetId(CU_STREAM_PER_THREAD, &l->id));
    conf_gate_at(l->gate, CU_STREAM_PER_THREAD, false);
    conf_mark(l->mark, CU_STREAM_PER_THREAD, false);
    MUST(cuEventRecord(l->event, CU_STREAM_PER_THREAD));
    return NULL;
}

static void *tell_id(void *argument)
{
    MUST(cuCtxSetCurrent(conf.ctx));
    MUST(cuStreamGetId(CU_STREAM_PER_THREAD, argument));
    return NULL;
}

static void join_new(void *(*fn)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fn, argument) != 0 || pthread_join(thread, NULL) != 0)
        exit(2);
}

static CUresult leave_and_join(void *argument)
{
    struct leaving *l = argument;
    join_new(leave_work_behind, l);
    l->event_code = cuEventQuery(l->event);
    join_new(tell_id, &l->next_id);
    return CUDA_SUCCESS;
}

int main(void)
{
    struct leaving l = {.gate = NULL};
    unsigned long long later_id = 0;
    CUresult unused;
    conf_begin();
    l.gate = conf_word();
    l.mark = conf_word();
    MUST(cuEventCreate(&l.event, CU_EVENT_DISABLE_TIMING));
    conf_say_bool("thread-exit", "join-waits-for-the-work", conf_blocks(l.gate, leave_and_join, &l, &unused));
    conf_say_code("thread-exit", "event-while-pending", l.event_code);
    conf_say_code("thread-exit", "event-synchronize", cuEventSynchronize(l.event));
    conf_say_code("thread-exit", "event-later", cuEventQuery(l.event));
    conf_say_bool("thread-exit", "work-completed", conf_read(l.mark) == 1);
    join_new(tell_id, &later_id);
    conf_say_bool("thread-exit", "next-thread-has-the-same-id", l.next_id == l.id);
    conf_say_bool("thread-exit", "id-reused-after-completion", later_id == l.id || later_id == l.next_id);
    return conf_end();
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Hardware queues (SIM_QUEUES, README.md), as measured on a GPU (docs/queues.md): a stream with work pending keeps the
 * queue that it has; one that is idle takes a queue in which nothing waits. What has not begun lets nothing behind it in
 * its queue begin, whatever stream that is on: so nothing begins any more where as many streams wait as there are queues.
 * Called by streams and graphs. Events block a queue here also without a kernel behind them, which on a GPU they do not.
 * Without the knob nothing but order makes work wait.
 */
#include "tests/sim/sim.h"

enum { MOST_QUEUES = 32 };

static struct op *newest[MOST_QUEUES]; /* of each queue; held */
static unsigned int next;

static bool waits(unsigned int queue)
{
    return newest[queue] && !newest[queue]->begun;
}

static unsigned int queue_for(struct stream *s)
{
    if (s->queue && op_busy(s->tail))
        return s->queue - 1;
    unsigned int queue = next++ % knob_queues();
    for (unsigned int i = 0; i < knob_queues() && waits(queue); i++)
        queue = (queue + 1) % knob_queues();
    s->queue = queue + 1;
    return queue;
}

/* Before the stream has it. */
void queue_behind(struct stream *s, struct op *op)
{
    if (!knob_queues() || op->work.kind == WORK_COPY) /* these have queues of their own */
        return;
    unsigned int queue = queue_for(s);
    if (waits(queue)) {
        newest[queue]->follower = op_hold(op);
        op->pending++;
    }
    op_release(newest[queue]);
    newest[queue] = op_hold(op);
}

void queues_after_fork(void)
{
    for (int i = 0; i < MOST_QUEUES; i++)
        newest[i] = NULL;
    next = 0;
}

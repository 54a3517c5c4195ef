/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for whom: a gate on the first stream, then a kernel on the second. "W": the second waits for the first.
 * Every way to name a stream is tried against every other: handle, plain and _ptsz entry, this and another thread.
 */
#include <stdio.h>

#include "tests/conformance/conf.h"

struct way {
    const char *name;
    CUstream *created; /* or */
    uintptr_t special;
    bool twin, elsewhere;
};

static const struct way ways[] = {
    {"0", NULL, 0, false, false},
    {"0x1", NULL, 1, false, false},
    {"0x1@ptsz", NULL, 1, true, false},
    {"0@thread2", NULL, 0, false, true},
    {"0x2", NULL, 2, false, false},
    {"0@ptsz", NULL, 0, true, false},
    {"0x2@thread2", NULL, 2, false, true},
    {"blocking", &conf.blocking, 0, false, false},
    {"blocking@thread2", &conf.blocking, 0, false, true},
    {"blocking2", &conf.blocking2, 0, false, false},
    {"nonblocking", &conf.nonblocking, 0, false, false},
    {"nonblocking@ptsz", &conf.nonblocking, 0, true, false},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

struct task {
    const struct way *way;
    uint32_t *word;
    bool gate;
};

static void run(void *argument)
{
    struct task *t = argument;
    CUstream stream = t->way->created ? *t->way->created : (CUstream)t->way->special;
    if (t->gate)
        t->word = conf_gate(stream, t->way->twin);
    else
        conf_mark(t->word, stream, t->way->twin);
}

static void run_there(struct task *t)
{
    if (t->way->elsewhere)
        conf_elsewhere(run, t);
    else
        run(t);
}

int main(void)
{
    conf_begin();
    for (int first = 0; first < WAYS; first++)
        for (int second = 0; second < WAYS; second++) {
            char name[64];
            struct task gate = {&ways[first], NULL, true}, mark = {&ways[second], conf_word(), false};
            run_there(&gate);
            run_there(&mark);
            bool reached = conf_reached(mark.word);
            conf_open(gate.word);
            MUST(cuCtxSynchronize());
            snprintf(name, sizeof name, "%s->%s", ways[first].name, ways[second].name);
            conf_say("order", name, reached ? "." : conf_read(mark.word) ? "W" : "lost");
        }
    return conf_end();
}

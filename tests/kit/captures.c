/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases where default-stream work meets a capture: R-k, R-l. The harm done is what they check for. Run by kit.c.
 */
#include "tests/kit/kit.h"

/* A solver captures on a non-blocking stream; what it calls works on the default stream, runs at once, and is not in the
 * graph: later launches use what it left behind then. */
void kit_R_k(void)
{
    CUstream capturing = kit_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr state = kit_words(0), result = kit_words(0);
    CUgraph graph;
    CUgraphExec exec;
    CU(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_GLOBAL));
    kit_add_one(NULL, state);
    kit_copy(capturing, result, state);
    CU(cuStreamEndCapture(capturing, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    kit_all_done();
    kit_check("the state after the capture", state, 1);
    for (unsigned step = 0; step < 2; step++)
        CU(cuGraphLaunch(exec, capturing));
    CU(cuStreamSynchronize(capturing));
    kit_check("the state after two steps", state, 1);
    kit_check("the result after two steps", result, 1);
}

/* One thread captures on a blocking stream; another one uses the default stream and breaks it. */
static struct {
    CUstream capturing;
    CUdeviceptr x;
    CUresult launched, ended;
} r_l;

static void r_l_thread(unsigned index, void *unused)
{
    (void)unused;
    if (index == 0) {
        CUgraph graph = NULL;
        kit_turn(0);
        CU(cuStreamBeginCapture(r_l.capturing, CU_STREAM_CAPTURE_MODE_GLOBAL));
        kit_add_one(r_l.capturing, r_l.x);
        kit_next();
        kit_turn(2);
        r_l.ended = cuStreamEndCapture(r_l.capturing, &graph);
    } else {
        kit_turn(1);
        r_l.launched = kit_empty(NULL);
        kit_next();
    }
}

void kit_R_l(void)
{
    r_l.capturing = kit_stream(CU_STREAM_DEFAULT);
    r_l.x = kit_words(1);
    kit_threads(2, r_l_thread);
    kit_is("the other thread's launch failed", r_l.launched == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    kit_is("the capture is lost", r_l.ended == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    kit_check("nothing ran", r_l.x, 1);
}

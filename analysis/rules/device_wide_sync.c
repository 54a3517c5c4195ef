/* SPDX-License-Identifier: Apache-2.0
 *
 * device-wide-sync: waiting for the whole context while several streams had work pending. Run by the pass for such waits
 * once it is known what became of the results (aftermath.h): where some streams were shown not to be needed the wait is
 * over-wide-sync's; where all were needed, or nothing comes after, it is as it should be. With one busy stream a wait for
 * the context is as narrow as a wait for that stream, and a finding only where it comes in each iteration.
 */
#include "analysis/findings/rule.h"

enum { SEVERAL, EACH_TIME, FOR_STREAM };
enum { LEAST_TIMES = 16 };

static const char *const details[] = {
    "several streams were busy",
    "again and again, each time before the same thread gives the GPU more work",
    "again and again, each time before another stream uses the results",
};

static const char *const sentences[PER_DETAIL(details)] = {
    [EACH_TIME] = "The GPU has nothing to do from the end of such a wait until the thread's next work arrives.",
    [FOR_STREAM] = "The host waits, and so the GPU has nothing to do until the thread's next work arrives.",
};

static const char *const remedies[PER_DETAIL(details)] = {
    [EACH_TIME] =
        "Leave the wait out where the host needs no result and reads no clock; else wait for the stream or the event "
        "whose result is needed.",
    [FOR_STREAM] = "Record an event behind the work, and let the other stream wait for the event (cuStreamWaitEvent).",
};

static void flag(struct rule_run *run, const struct judged *judged, uint32_t detail, enum need need)
{
    struct finding *finding = finding_at(&run->findings, run->rule, judged->view, detail);
    if (detail != SEVERAL)
        finding_severity(finding, SEVERITY_NOTE);
    finding_add_judged(finding, judged, need);
    finding_most(finding, "streams_at_once", judged->all);
    finding_cost(finding, detail == EACH_TIME && judged->other ? judged->view->lost_ns : judged->saved_ns);
}

/* Whether the host cannot have read what is on the stream: a kernel or a copy that writes host memory is a reason to wait.
 */
static bool is_for_stream(const struct judged_stream *stream)
{
    return stream->need == NEEDED && stream->for_stream && !stream->host;
}

static bool is_for_nobody(const struct judged_stream *stream)
{
    return stream->need == NEED_UNKNOWN && !stream->host;
}

static void on_judged(struct rule_run *run, const struct judged *judged)
{
    if (judged->view->call->r.op != PTDS_OP_CTX_SYNC || !judged->more || judged->saved_ns == 0)
        return;
    bool needed = judged->all == judged->count, for_streams = needed;
    for (uint32_t i = 0; i < judged->count; i++) {
        if (judged->all > 1 && judged->stream[i].need == NOT_NEEDED)
            return;
        needed &= judged->stream[i].need == NEEDED;
        for_streams &= is_for_stream(&judged->stream[i]);
    }
    if (for_streams)
        flag(run, judged, FOR_STREAM, NEED_OPEN);
    else if (judged->all == 1 && is_for_nobody(&judged->stream[0]))
        flag(run, judged, EACH_TIME, NEED_UNKNOWN);
    else if (judged->all > 1 && !needed)
        flag(run, judged, SEVERAL, NEED_OPEN);
}

/* Waits that are not timed are not judged: that they blocked is not known. */
static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (view->timed || view->waits.count < 2)
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, 0);
    finding_add_pending(finding, run->model, &view->waits);
    finding_most(finding, "streams_at_once", view->waits.count);
    finding_cost_unknown(finding);
}

/* Every so often is a loop. What comes a few times may be for a clock. */
static bool is_loop(const struct finding *finding)
{
    return finding->detail == SEVERAL || finding->count >= LEAST_TIMES;
}

static void end(struct rule_run *run)
{
    finding_keep_only(&run->findings, is_loop);
}

static const struct rule rule = {
    .id = "device-wide-sync",
    .class_ = "H6",
    .removed_by = REMOVED_STAYS,
    .severity = SEVERITY_WARNING,
    .at_call = true,
    .title = "a wait for the whole device while several streams were busy",
    .sentence = "cuCtxSynchronize waits for every stream of the context, other threads' and libraries' included.",
    .advice = "Wait for the stream or the event whose result is needed.",
    .details = details,
    .sentences = sentences,
    .remedies = remedies,
    .bad = "1@0 launch s=N1 k=a\n"
           "2@5 launch s=N2 k=b\n"
           "1@10+5000 ctx-sync\n"
           "1@5100 launch s=N1 k=next\n"
           "1@5900+900 sync s=N1\n",
    .good = "1@0 launch s=N1 k=a\n"
            "1@10+5000 ctx-sync\n"
            "1@6000 launch s=N1 k=a\n"
            "2@6005 launch s=N2 k=b\n"
            "1@6010+900 sync s=N1\n"
            "2@6011+900 sync s=N2\n"
            "1@8000 launch s=N1 k=a\n"
            "2@8005 launch s=N2 k=b\n"
            "1@8010+5000 ctx-sync\n",
    .ops = RULE_OP(PTDS_OP_CTX_SYNC),
    .on_call = on_call,
    .on_judged = on_judged,
    .end = end,
};
PTDS_RULE(rule);

/* SPDX-License-Identifier: Apache-2.0
 *
 * How a report on several processes begins, in words. Called by the terminal's screen and by the page, which must say the
 * same; computes nothing.
 */
#include "analysis/views/opening_many.h"

#include "analysis/base/line.h"
#include "analysis/views/opening.h"

/* Of some processes it is not known. */
static void add_unknown(struct line *line, size_t processes)
{
    if (processes != 0)
        line_add(line, ", unknown in %zu", processes);
}

struct line opening_many_default_streams(const struct traces *traces, const struct runs *runs)
{
    struct line line = {0};
    if (runs->gains == 0 && runs->cost_unknown == traces->list.count) {
        line_add(&line, "Default stream: what it costs is unknown");
        return line;
    }
    if (runs->gains == 0) {
        line_add(&line, "Default stream: nothing%s to gain in %s", runs->small != 0 ? " worth a line" : "",
                 runs->or_more ? "timed calls of " : "");
        if (runs->cost_unknown != 0)
            line_add(&line, "%zu of them", traces->list.count - runs->cost_unknown);
        else
            line_add(&line, "any of them");
        add_unknown(&line, runs->cost_unknown);
        return line;
    }
    const struct report *report = &traces->list.items[runs->most]->report;
    line_add(&line, "Default stream: threads waited for it in %zu", runs->gains);
    add_unknown(&line, runs->cost_unknown);
    line_add(&line, ", %s%s%s of %s", runs->or_more ? "" : "up to ", text_ns(runs->most_ns).text,
             runs->or_more ? " or more" : "", text_ns(report->totals.run_ns).text);
    line_add_whole(&line, OPENING_COLUMNS, " (%.24s)", text_base(report->trace.header.program));
    return line;
}

struct line opening_many_blocked(const struct traces *traces, const struct runs *runs)
{
    struct line line = {0};
    struct report_totals gpu = traces_gpu_totals(traces);
    if (runs->blocked_known == 0)
        line_add(&line, "Blocked: unknown");
    else if (runs->blocked_ns == 0)
        line_add(&line, "Blocked: no call waited");
    else
        line_add(&line, "Blocked: %s, %s of the threads' time", text_ns(runs->blocked_ns).text,
                 text_share(runs->blocked_ns, runs->threads_ns).text);
    add_unknown(&line, runs->blocked_known != 0 ? traces->list.count - runs->blocked_known : 0);
    line_add_whole(&line, OPENING_COLUMNS, "; %s", report_words_gpu_time(&gpu));
    return line;
}

struct line opening_many_nothing_found(const struct traces *traces, const struct runs *runs)
{
    struct line line = {0};
    if (runs->unrecorded == traces->list.count)
        line_add(&line, "No findings: nothing was recorded");
    else
        line_add(&line, "No findings%s", runs->incomplete != 0 ? " in what was recorded" : "");
    return line;
}

struct line opening_many_startup(const struct runs *runs)
{
    struct line line = {0};
    if (runs->startup_ns != 0)
        line_add(&line, "Start-up: %s allocating, pinning and loading code, in all", text_ns(runs->startup_ns).text);
    return line;
}

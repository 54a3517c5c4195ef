/* SPDX-License-Identifier: Apache-2.0
 *
 * How a report on several processes begins, in words. Called by the terminal's screen and by the page, which must say the
 * same; computes nothing.
 */
#include "analysis/views/opening.h"

struct line opening_default_streams(const struct traces *traces, const struct runs *runs)
{
    struct line line = {0};
    if (runs->gains == 0) {
        line_add(&line, "Default stream: nothing to gain in %sany of them", runs->or_more ? "timed calls of " : "");
        return line;
    }
    const struct report *report = &traces->list.items[runs->most]->report;
    line_add(&line, "Default stream: may cost time in %zu, %s%s%s of %s (%.24s)", runs->gains,
             runs->or_more ? "" : "at most ", text_ns(runs->most_ns).text, runs->or_more ? " or more" : "",
             text_ns(report->totals.run_ns).text, text_base(report->trace.header.program));
    return line;
}

struct line opening_blocked_of_many(const struct traces *traces, const struct runs *runs)
{
    struct line line = {0};
    struct report_totals gpu = traces_gpu_totals(traces);
    line_add(&line, "Blocked: %s, %s of the threads' time; %s", text_ns(runs->blocked_ns).text,
             text_share(runs->blocked_ns, runs->threads_ns).text, report_gpu_time(&gpu));
    return line;
}

struct line opening_startup_of_many(const struct runs *runs)
{
    struct line line = {0};
    if (runs->startup_ns != 0)
        line_add(&line, "Start-up: %s allocating, pinning and loading code, in all", text_ns(runs->startup_ns).text);
    return line;
}

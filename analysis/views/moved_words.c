/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of moved_words.h. Called by the summary at exit. Must not call a wait own work that may be for other work. libc
 * only: the shim says them.
 */
#include "analysis/views/moved_words.h"

#include "analysis/base/text.h"
#include "analysis/report/floor.h"
#include "analysis/report/outcome.h"
#include "analysis/views/residual_words.h"

/* The costliest reason but own work. */
static enum residual_kind other_kind(const struct report *report)
{
    enum residual_kind kinds[RESIDUAL_KINDS];
    unsigned count = residual_words_ranked(report, kinds);
    for (unsigned i = 0; i < count; i++)
        if (kinds[i] != RESIDUAL_OWN)
            return kinds[i];
    return RESIDUAL_OWN;
}

struct line moved_words_waits(const struct report *report, size_t columns)
{
    const struct report_totals *totals = &report->totals;
    uint64_t own = report->residual.part[RESIDUAL_OWN].ns, other = totals->blocked_ns - own;
    struct line line = {0};
    if (!outcome_knows_blocked(report))
        line_add(&line, "how long threads waited is unknown");
    else if (!outcome_of(report).complete && totals->blocked_ns == 0) /* nothing is said of what was not seen */
        line_add(&line, "none of the calls that were looked at waited");
    else if (!outcome_of(report).complete)
        line_add(&line, "threads waited %s in the calls that were looked at", text_ns(totals->blocked_ns).text);
    else if (totals->blocked_ns == 0)
        line_add(&line, "no thread waited");
    else if (!report->residual.known)
        line_add(&line, "threads waited %s, %s of their time", text_ns(totals->blocked_ns).text,
                 text_share(totals->blocked_ns, totals->threads_ns).text);
    else if (other < floor_ns(report->floor, totals->run_ns) && own >= other)
        line_add(&line, "threads wait only for their own work now");
    else {
        if (own != 0)
            line_add(&line, "threads waited %s for their own work, %s for other work", text_ns(own).text,
                     text_ns(other).text);
        else
            line_add(&line, "threads waited %s for other work", text_ns(other).text);
        line_add_whole(&line, columns, " (most: %s)", residual_words_reason(report, other_kind(report)).text);
    }
    return line;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts into words what report/default_cost.h decided. Called by whoever says what the default stream costs: the opening of
 * reports, probe, what-if. Must say no bound of what is not known. libc only.
 */
#include "analysis/views/cost_words.h"

#include "analysis/base/text.h"

const char *const cost_words_no_gain[DEFAULT_COSTS] = {
    [DEFAULT_UNUSED] = "the default stream is not used",
    [DEFAULT_ALONE] = "one thread, one stream",
    [DEFAULT_NO_WAIT] = "no call waited longer because of the default stream",
    [DEFAULT_NEEDED] = "results need the order that the default stream keeps",
    [DEFAULT_NO_FASTER] = "replayed under each policy it is no faster",
};

/* Without a replay nobody knows what of the time that threads waited would be gained. */
void cost_words_add(const struct report *report, const struct default_stream *found, struct line *line)
{
    uint64_t run_ns = report->totals.run_ns;
    struct small_text share = text_share(found->most_ns, run_ns);
    if (found->by_replay)
        line_add(line, "it costs %s to %s of %s (%s), by a replay",
                 found->least_ns != 0 ? text_ns(found->least_ns).text : "0", text_ns(found->most_ns).text,
                 text_ns(run_ns).text, share.text);
    else
        line_add(line, "threads waited %s%s (%s)%s; gain unknown", found->or_more ? "" : "up to ",
                 text_ns(found->most_ns).text, share.text, found->or_more ? " or more" : "");
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Which command comes next. Called by the text views. libc only: the shim is linked with it.
 */
#include "analysis/views/opening_next.h"

#include <string.h>

#include "analysis/report/default_cost.h"
#include "analysis/report/outcome.h"
#include "analysis/report/rank.h"
#include "analysis/views/file_word.h"
#include "analysis/views/opening.h"

/* Whether the run left default-stream work where the program put it. */
static bool left_alone(const struct report *report)
{
    const char *policy = report_words_policy(report);
    return strcmp(policy, "observe") == 0 || strcmp(policy, "none") == 0;
}

/* Whether what costs most of the default stream is of calls that name it, which a policy alone does not move. */
static bool asks_for_remap(const struct report *report)
{
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        struct removed_question about = removed_by_policy_question(finding);
        if (finding->fold == FOLD_SHOWN && rank_is_of_default_stream(finding))
            return removed_by_policy(&report->trace.defs, &about, REMOVED_UNDER_GUARDED) == REMOVED_NOT &&
                   removed_by_policy(&report->trace.defs, &about, REMOVED_UNDER_REMAP) == REMOVED_SURELY;
    }
    return false;
}

/* Whether trying a policy is what comes next. Not where a replay says that it gains nothing: but that moved no call that
 * names the legacy stream. */
static bool asks_for_probe(const struct report *report)
{
    struct default_stream cost = default_cost_of(report);
    return left_alone(report) && cost.most_ns >= rank_floor_ns(report) && cost.most_ns != 0 &&
           (!report->no_gain || asks_for_remap(report));
}

/* The rank from 1 of the first finding that has to be mended in the program; 0: none. What guarded removes is none where
 * that gains nothing. */
static size_t to_mend(const struct report *report)
{
    for (size_t i = 0; i < rank_shown(report); i++) {
        struct removed_question about = removed_by_policy_question(report->findings.items[i]);
        if (!report->no_gain || removed_by_policy(&report->trace.defs, &about, REMOVED_UNDER_GUARDED) == REMOVED_NOT)
            return i + 1;
    }
    return 0;
}

struct line opening_next(const struct report *report)
{
    struct outcome outcome = outcome_of(report);
    struct line line = {0};
    size_t mend = to_mend(report);
    if (outcome.finding != NULL || outcome.stuck != NULL)
        line_add(&line, "ptds report --finding %zu",
                 opening_number(report, outcome.stuck != NULL ? outcome.stuck : outcome.finding));
    else if (asks_for_probe(report)) {
        line_add(&line, "%sptds probe -- %.40s ...", asks_for_remap(report) ? "PTDS_EXPLICIT_LEGACY=remap " : "",
                 text_base(report->trace.header.program));
        return line;
    } else if (mend != 0)
        line_add(&line, "ptds report --finding %zu", mend);
    else if (rank_shown(report) != 0)
        line_add(&line, "ptds report --what-if"); /* what the time goes into under each policy */
    else
        line_add(&line, "ptds report --all");
    line_add(&line, "%s", file_word(report).text);
    return line;
}

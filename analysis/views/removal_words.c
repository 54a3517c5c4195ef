/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of removal_words.h. Called by every view that lists findings. Decides nothing. libc only: the shim says them,
 * too.
 */
#include "analysis/views/removal_words.h"

#include "analysis/base/line.h"

const char *const removed_by_words[REMOVED_BYS] = {
    [REMOVED_UNSAID] = "not said",
    [REMOVED_NEVER] = "no policy",
    [REMOVED_STAYS] = "no policy; it may get shorter",
    [REMOVED_WITH_WAIT] =
        "depends on the call: waits for other threads' or other streams' work disappear, for its own work stay",
    [REMOVED_WITH_PART] = "no policy, but the wait of such a call may disappear",
    [REMOVED_WITH_BARRIER] = "guarded and stream, as far as no data ask for the order; per-thread",
    [REMOVED_WITH_TURN] = "guarded, as far as no data ask for the order; per-thread",
    [REMOVED_WITH_MOVE] = "`PTDS_EXPLICIT_LEGACY=remap` where the call names 0x1, else no policy",
    [REMOVED_WITH_PROMISE] = "guarded and stream, which keep the order",
    [REMOVED_AS_ONE_BUILD] = "per-thread",
    [REMOVED_WITH_LEGACY] = "maybe where it is on the default stream, else no policy",
    [REMOVED_WITH_REMAP] = "maybe where the run's own policy moved work, else no policy",
    [REMOVED_WITH_OTHERS] = "maybe: it depends on other calls",
    [REMOVED_WITH_DATA] = "per-thread, which promises no order",
};

/* per-thread drops every order, whatever needs it. */
static const char *how_right(const struct removed_question *about, enum removed_policy policy)
{
    if (policy != REMOVED_UNDER_PER_THREAD)
        return "";
    return about->verdicts[VERDICT_NEEDED] != 0         ? " (wrong results)"
           : about->verdicts[VERDICT_MAYBE_NEEDED] != 0 ? " (maybe wrong results)"
                                                        : "";
}

/* Names the policies of one answer; how many. */
static unsigned add_policies(const struct report *report, const struct removed_question *about, enum removed answer,
                             const char *lead, struct line *line)
{
    const struct definitions *defs = &report->trace.defs;
    unsigned count = 0, named = 0;
    for (unsigned i = 0; i < REMOVED_UNDER_REMAP; i++)
        count += removed_by_policy(defs, about, (enum removed_policy)i) == answer;
    for (unsigned i = 0; i < REMOVED_UNDER_REMAP; i++) {
        if (removed_by_policy(defs, about, (enum removed_policy)i) != answer)
            continue;
        line_add(line, "%s%s", named == 0 ? lead : named + 1 == count ? " and " : ", ", removed_policy_names[i]);
        named++;
        if (answer == REMOVED_SURELY)
            line_add(line, "%s", how_right(about, (enum removed_policy)i));
    }
    return count;
}

/* The default stream has put some of the run's work behind other work: elsewhere that may be done earlier. */
static bool may_shorten(const struct report *report, enum removed_by by)
{
    return removed_by_policy_is_wait(by) && (report->gain.joins != 0 || report->totals.remapped != 0);
}

struct leads {
    const char *sure, *maybe, *else_maybe, *with, *may_with;
};

/* Empty: no policy. The setting for calls that name the legacy stream is said where no policy is surer. */
static struct line policies_line(const struct report *report, const struct removed_question *about,
                                 const struct leads *leads)
{
    struct line line = {0};
    enum removed remap = removed_by_policy(&report->trace.defs, about, REMOVED_UNDER_REMAP);
    unsigned sure = add_policies(report, about, REMOVED_SURELY, leads->sure, &line);
    if (sure == 0 && remap == REMOVED_SURELY)
        line_add(&line, "%s%s", leads->with, removed_policy_names[REMOVED_UNDER_REMAP]);
    unsigned maybe = add_policies(report, about, REMOVED_MAYBE, line.used != 0 ? leads->else_maybe : leads->maybe, &line);
    if (sure != 0 || remap != REMOVED_MAYBE)
        return line;
    if (maybe == 0)
        line_add(&line, "%s%s", leads->may_with, removed_policy_names[REMOVED_UNDER_REMAP]);
    else if (report->totals.kept[KEPT_EXPLICIT] != 0)
        line_add(&line, ", or with %s", removed_policy_names[REMOVED_UNDER_REMAP]);
    return line;
}

struct line removal_words(const struct report *report, const struct removed_question *about)
{
    static const struct leads leads = {"disappears with ", "may disappear with ", "; maybe with ", "disappears with ",
                                       "may disappear with "};
    struct line line = policies_line(report, about, &leads);
    if (line.used == 0)
        line_add(&line, "no policy removes it%s", may_shorten(report, about->by) ? "; it may get shorter" : "");
    return line;
}

struct line removal_words_policies(const struct report *report, const struct removed_question *about)
{
    static const struct leads leads = {"", "maybe ", "; maybe ", "", "maybe "};
    struct line line = policies_line(report, about, &leads);
    if (line.used == 0)
        line_add(&line, "no policy");
    return line;
}

struct line removal_words_finding(const struct report *report, const struct finding *finding)
{
    struct removed_question about = removed_by_policy_question(finding);
    return removal_words(report, &about);
}

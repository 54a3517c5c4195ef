/* SPDX-License-Identifier: Apache-2.0
 *
 * What a report knows of the verdicts on implicit orders, and the words for them: the one place where its writers ask.
 * Without edges the answer is "not analysed", never a number.
 */
#include "analysis/views/verdict_words.h"

#include "analysis/base/line.h"
#include "analysis/views/report_words.h"
#include "analysis/findings/rule.h"
#include "analysis/report/outcome.h"

#define COMPLETE(words, last) _Static_assert(sizeof(words) / sizeof *(words) == (last), "a word for each")

const char *const verdict_words[] = {"not needed", "needed", "maybe needed"};
COMPLETE(verdict_words, VERDICTS);
const char *const verdict_keys[] = {"not_needed", "needed", "maybe_needed"};
COMPLETE(verdict_keys, VERDICTS);
const char *const edge_kind_words[] = {
    "default-stream work behind another stream's",
    "another stream's work behind default-stream work",
    "one thread's default-stream work behind another thread's",
    "a wait of the host behind work that it did not name",
};
COMPLETE(edge_kind_words, EDGE_KINDS);
const char *const outcome_words[] = {"Right", "May be wrong", "WRONG"};
COMPLETE(outcome_words, DOUBTS);

const char *verdict_words_outcome(struct outcome outcome)
{
    return outcome.doubt != DOUBT_NONE ? outcome_words[outcome.doubt]
           : outcome.stuck != NULL     ? (outcome.may_be_stuck ? "Maybe stuck" : "Stuck")
           : outcome.little            ? "hardly seen"
           : !outcome.complete || (outcome.possible != 0 && !outcome.ordered) ? "Right so far"
                                                                              : outcome_words[DOUBT_NONE];
}

const uint64_t *verdict_words_all(const struct report *report, uint64_t verdicts[VERDICTS])
{
    for (unsigned i = 0; i < VERDICTS; i++)
        verdicts[i] = edge_table_count(&report->edges, (enum verdict)i);
    return report->edges.analysed ? verdicts : NULL;
}

const uint64_t *verdict_words_of_finding(const struct report *report, const struct finding *finding)
{
    return report->edges.analysed && finding->has_api ? finding->verdicts : NULL;
}

static bool is_about_lost_order(const struct finding *finding)
{
    return finding->rule->order_given_up || (finding->rule->may_lose_order && finding->given_up != 0);
}

/* No result is read between two writes: what the order decides is which of them stays. */
static bool is_of_writes(const struct report *report, const struct finding *finding)
{
    const struct edge_pair *pair = outcome_pair(report, finding);
    return pair != NULL && pair->first_access == ACCESS_WRITE && pair->second_access == ACCESS_WRITE;
}

const char *verdict_words_needed(const struct report *report, const struct finding *finding)
{
    bool writes = is_of_writes(report, finding);
    if (!report->edges.analysed)
        return NULL;
    if (is_about_lost_order(finding) && finding->given_up != 0)
        return writes ? "two writes of one memory have lost their order" : "results need this order, and it is gone";
    if (is_about_lost_order(finding))
        return finding->may_be_given_up == 0 ? NULL
               : writes                      ? "two writes of one memory have lost their order"
                                             : "results may need this order, and it is gone";
    if (finding->verdicts[VERDICT_NEEDED] == 0)
        return NULL;
    return writes ? "two writes need this order: put an event in its place before you remove it"
                  : "results need this order: put an event in its place before you remove it";
}

const char *verdict_words_doubt(const struct report *report, const struct finding *finding)
{
    const char *needed = is_about_lost_order(finding) ? verdict_words_needed(report, finding) : NULL;
    return needed != NULL ? needed : finding->rule->title;
}

bool verdict_words_is_wrong(const struct finding *finding)
{
    return finding->doubt == DOUBT_WRONG && is_about_lost_order(finding);
}

struct line verdict_words_line(const uint64_t *verdicts)
{
    static const enum verdict gravest_first[VERDICTS] = {VERDICT_NEEDED, VERDICT_MAYBE_NEEDED, VERDICT_NOT_NEEDED};
    struct line line = {0};
    for (unsigned i = 0; i < VERDICTS && verdicts != NULL; i++)
        if (verdicts[gravest_first[i]] != 0)
            line_add(&line, "%s%s %s", line.used != 0 ? ", " : "", text_count(verdicts[gravest_first[i]]).text,
                     verdict_words[gravest_first[i]]);
    if (line.used == 0)
        line_add(&line, "%s", verdicts != NULL ? "none" : "not analysed");
    return line;
}

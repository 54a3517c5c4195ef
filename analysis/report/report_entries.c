/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the list of report_entries.h. Called when a report is weighed; must show every finding that is worth a line in
 * exactly one entry.
 */
#include "analysis/report/report_entries.h"

#include "analysis/base/add.h"
#include "analysis/report/report.h"

/* The costliest places of one cause are entries of their own, the rest is one. */
enum { PLACES_APART = 2 };

/* What puts results in doubt is one cause whatever the call. */
static bool alike(const struct finding *one, const struct finding *two)
{
    bool same_call = one->has_api && two->has_api && one->api == two->api && one->twin == two->twin;
    return one->rule == two->rule && one->severity == two->severity && one->detail == two->detail &&
           (same_call || (one->doubt != DOUBT_NONE && one->doubt == two->doubt));
}

/* So many places are told apart: none where each is a call of its own, as of a helper that is called from many. */
static unsigned places_apart(const struct finding *one, const struct finding *two)
{
    return one->rule->set_up && one->count == 1 && two->count == 1 ? 0 : PLACES_APART;
}

/* The entry that has enough places like the finding's already; NULL: it is one of its own. */
static struct entry *entry_of(struct report *report, const struct finding *finding)
{
    unsigned same = 0;
    for (size_t at = 0; at < report->entries.count; at++) {
        const struct finding *first = report->findings.items[report->entries.items[at].first];
        same += alike(first, finding);
        if (alike(first, finding) && same > places_apart(first, finding))
            return &report->entries.items[at];
    }
    return NULL;
}

static bool is_advised(const struct report *report, const struct finding *finding)
{
    for (size_t at = 0; at < report->entries.count; at++)
        if (finding_advice(report->findings.items[report->entries.items[at].first]) == finding_advice(finding))
            return true;
    return false;
}

static void add(struct report *report, const struct finding *finding, struct entry entry)
{
    struct entry *into = entry_of(report, finding);
    entry.advised = is_advised(report, finding);
    if (into == NULL && !TABLE_ADD(&report->entries)) {
        report->out_of_memory = true;
    } else if (into == NULL) {
        *TABLE_LAST(&report->entries) = entry;
    } else {
        into->findings += entry.findings;
        into->places++;
        into->host_ns = add_capped(into->host_ns, entry.host_ns);
        into->calls = add_capped(into->calls, entry.calls);
        into->known = add_capped(into->known, entry.known);
    }
}

void report_entries(struct report *report)
{
    report->entries.count = 0;
    for (size_t i = 0; i < rank_shown(report); i++) {
        const struct finding *finding = report->findings.items[i];
        const struct sequence *sequence = finding->sequence != 0 ? &report->sequences.items[finding->sequence - 1] : NULL;
        struct entry entry = {.first = i,
                              .findings = 1,
                              .places = 1,
                              .host_ns = finding->host_ns,
                              .calls = finding->count,
                              .known = finding->known};
        if (sequence != NULL && sequence->first != i)
            continue;
        if (sequence != NULL) {
            entry.findings = sequence->findings;
            entry.host_ns = sequence->host_ns;
        }
        add(report, finding, entry);
    }
}

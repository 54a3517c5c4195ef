/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives a report's findings the numbers of their sequences (sequence.h). Called by rank.c once the findings are ranked.
 */
#include "analysis/report/report_sequences.h"

#include "analysis/report/report.h"

#include "analysis/base/add.h"
#include "analysis/base/id_map.h"

/* Numbers the sequences in the order of their costliest findings. */
static void find_sequences(struct report *report)
{
    struct id_map by_leader = {0};
    if (report->search.leader.count == 0)
        sequence_decide(&report->search);
    for (size_t i = 0; i < report->findings.count; i++) {
        struct finding *finding = report->findings.items[i];
        uint32_t leader = sequence_leader(&report->search, finding->serial), at;
        if (leader == 0 || finding->fold != FOLD_SHOWN)
            continue;
        if (!id_map_get(&by_leader, leader, &at)) {
            if (!TABLE_ADD(&report->sequences))
                break;
            at = (uint32_t)report->sequences.count - 1;
            report->sequences.items[at] = (struct sequence){.first = i};
            if (!id_map_put(&by_leader, leader, at))
                break;
        }
        struct sequence *sequence = &report->sequences.items[at];
        finding->sequence = at + 1;
        sequence->findings++;
        sequence->host_ns = add_capped(sequence->host_ns, finding->host_ns);
    }
    id_map_free(&by_leader);
}

/* A finding alone is no sequence. */
static void drop_single_sequences(struct report *report)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < report->sequences.count; i++) {
        struct sequence sequence = report->sequences.items[i];
        uint32_t number = sequence.findings > 1 ? kept + 1 : 0;
        if (number != 0)
            report->sequences.items[kept++] = sequence;
        for (size_t j = sequence.first; j < report->findings.count && sequence.findings != 0; j++) {
            if (report->findings.items[j]->sequence != i + 1)
                continue;
            report->findings.items[j]->sequence = number;
            sequence.findings--;
        }
    }
    report->sequences.count = kept;
}

void report_sequences(struct report *report)
{
    report->sequences.count = 0;
    for (size_t i = 0; i < report->findings.count; i++)
        report->findings.items[i]->sequence = 0;
    find_sequences(report);
    drop_single_sequences(report);
}

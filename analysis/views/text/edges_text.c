/* SPDX-License-Identifier: Apache-2.0
 *
 * The section of the text report about implicit orders. Also written by the shim at exit: libc only. Shows the most telling
 * groups; all of them are in the JSON report.
 */
#include "analysis/views/text/edges_text.h"

#include <stdio.h>

#include "analysis/base/sink.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/verdict_words.h"

enum { GROUPS_SHOWN = 10 };

static void put_end(const struct report *report, struct site_namer *namer, const char *label, const struct edge_end *end,
                    struct text_sink *sink)
{
    char text[300];
    sink_printf(sink, "    %-22s%s, thread %u", label, definitions_api_name(&report->trace.defs, end->api), end->thread);
    if (end->stream != 0) {
        report_words_id(report, FINDING_STREAMS, end->stream, text, sizeof text);
        sink_printf(sink, ", %s", text);
    }
    if (end->object != 0) {
        report_words_id(report, FINDING_KERNELS, end->object, text, sizeof text);
        sink_printf(sink, ", %.100s", text);
    }
    if (report_words_site(report, namer, end->stack, text, sizeof text))
        sink_printf(sink, ", at %s", text);
    sink_printf(sink, "\n");
}

static void put_pair(const struct report *report, struct site_namer *namer, const struct edge_pair *pair,
                     struct text_sink *sink)
{
    char label[32];
    snprintf(label, sizeof label, "first %s", report_words_access(pair->first_access));
    put_end(report, namer, label, &pair->first, sink);
    snprintf(label, sizeof label, "then %s", report_words_access(pair->second_access));
    put_end(report, namer, label, &pair->second, sink);
    if (pair->address == 0)
        return;
    sink_printf(sink, "    %-22s%s", "memory", report_words_memory(pair).text);
    if (pair->size != 0)
        sink_printf(sink, ", %s bytes", text_count(pair->size).text);
    if (pair->allocation != 0 && report_words_has_address(pair))
        sink_printf(sink, ", of allocation #%u", pair->allocation);
    sink_printf(sink, "\n");
}

static void put_group(const struct report *report, struct site_namer *namer, const struct edge_group *group,
                      struct text_sink *sink)
{
    const struct edge *edge = &group->example;
    sink_printf(sink, "\n  %s: %s\n", edge_kind_names[edge->kind], verdict_words_line(group->counts).text);
    put_end(report, namer, "behind", &edge->from, sink);
    put_end(report, namer, "waits", &edge->to, sink);
    if (edge->verdict == VERDICT_MAYBE_NEEDED)
        sink_printf(sink, "    %-22s%s\n", "maybe, because", verdict_reason_names[edge->reason]);
    if (edge->verdict != VERDICT_NOT_NEEDED && edge->pair.first.ticks != 0)
        put_pair(report, namer, &edge->pair, sink);
}

/* What a kind is, and what was said of its edges. */
static void put_kind(const struct edge_table *edges, unsigned kind, struct text_sink *sink)
{
    uint64_t all = 0;
    for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
        all += edges->counts[kind][verdict];
    if (all != 0)
        sink_printf(sink, "  %-8s %s: %s\n", edge_kind_names[kind], edge_kind_words[kind],
                    verdict_words_line(edges->counts[kind]).text);
}

void edges_text(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    const struct edge_table *edges = &report->edges;
    uint64_t total = 0;
    if (!edges->analysed)
        return;
    for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
        total += edge_table_count(edges, (enum verdict)verdict);
    sink_printf(sink, "\nImplicit orders, and whether the program needs them\n");
    if (total == 0) {
        sink_printf(sink, "  none: nothing was ordered but by the program's own streams, events and waits\n");
        return;
    }
    for (unsigned kind = 0; kind < EDGE_KINDS; kind++)
        put_kind(edges, kind, sink);
    if (implicit_order_promised(&report->trace.defs))
        sink_printf(sink, "  kept by policy %s where data asks for it\n", report_words_policy(report));
    for (unsigned reason = 1; reason < VERDICT_REASONS; reason++)
        if (edges->reasons[reason] != 0)
            sink_printf(sink, "  %s, %s: %s\n", verdict_words[VERDICT_MAYBE_NEEDED],
                        text_plural(edges->reasons[reason], "time").text, verdict_reason_names[reason]);
    for (size_t i = 0; i < edges->groups.count && i < GROUPS_SHOWN; i++)
        put_group(report, namer, &edges->groups.items[i], sink);
    if (edges->groups.count > GROUPS_SHOWN)
        sink_printf(sink, "\n  ... and %s of call sites (--format json has all)\n",
                    text_plural(edges->groups.count - GROUPS_SHOWN, "more pair").text);
    if (edges->ungrouped != 0)
        sink_printf(sink, "  %s more between call sites beyond the first %d pairs\n", text_count(edges->ungrouped).text,
                    EDGE_GROUPS_MOST);
}

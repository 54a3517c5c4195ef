/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds report --repair`: a repair as text. Called by the command. Computes nothing.
 */
#include "analysis/views/repair/repair_text.h"

#include "analysis/base/sink.h"
#include "analysis/report/many/traced.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/repair/repair_words.h"

static void put_line(void *sink, const char *line)
{
    sink_printf(sink, "    %s\n", line);
}

static void put_note(void *sink, const char *line)
{
    sink_printf(sink, "  %s\n", line);
}

static void put_head(const struct repair *repair, const char *summary, struct text_sink *sink)
{
    sink_printf(sink, "%s\n  %s\n", REPAIR_TITLE, summary);
    repair_words_notes(repair, put_note, sink);
}

static void put_rest(const struct repair *repair, size_t most, struct text_sink *sink)
{
    if (repair->places.count > most)
        sink_printf(sink, "\n... and %s more of call sites: --all\n",
                    text_plural(repair->places.count - most, "pair").text);
    if (repair->unplaced != 0)
        sink_printf(sink, "\n%s more between other call sites\n", text_plural(repair->unplaced, "wait").text);
}

void repair_text(const struct report *report, const struct repair *repair, struct site_namer *namer, size_t most,
                 struct text_sink *sink)
{
    put_head(repair, repair_words_summary(repair).text, sink);
    for (size_t i = 0; i < repair->places.count && i < most; i++) {
        sink_printf(sink, "\n#%zu %s\n", i + 1, repair_words_title(&repair->places.items[i]).text);
        repair_words(report, namer, &repair->places.items[i], put_line, sink);
    }
    put_rest(repair, most, sink);
}

void repair_text_many(const struct repairs *repairs, const struct traces *traces, struct site_namer *namer, size_t most,
                      struct text_sink *sink)
{
    const struct repair *all = &repairs->all;
    char name[160];
    put_head(all, repair_words_many_summary(repairs).text, sink);
    for (size_t i = 0; i < all->places.count && i < most; i++) {
        const struct traced *traced = traces->list.items[repairs->where.items[i].trace];
        traced_name(traced, name, sizeof name);
        sink_printf(sink, "\n#%zu %s\n", i + 1, repair_words_many_title(repairs, i).text);
        symbolizer_of(namer, &traced->report.trace);
        repair_words(&traced->report, namer, &all->places.items[i], put_line, sink);
        sink_printf(sink, "    %-24s%s\n", "as in", name);
    }
    put_rest(all, most, sink);
}

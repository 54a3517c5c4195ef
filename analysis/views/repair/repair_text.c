/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds report --repair`: a repair as text. Called by the command. Computes nothing.
 */
#include "analysis/views/repair/repair_words.h"

static void put_line(void *sink, const char *line)
{
    sink_printf(sink, "    %s\n", line);
}

static bool any(const struct repair *repair, bool (*is)(const struct repair_place *place))
{
    for (size_t i = 0; i < repair->places.count; i++)
        if (is(&repair->places.items[i]))
            return true;
    return false;
}

static bool is_of_host(const struct repair_place *place)
{
    return place->at != CONFLICT_ON_STREAM;
}

static bool is_of_several(const struct repair_place *place)
{
    return place->more_firsts;
}

static bool is_a_doubt(const struct repair_place *place)
{
    return place->verdict == VERDICT_MAYBE_NEEDED;
}

/* How to read it, as far as it applies. */
static void put_notes(const struct repair *repair, struct text_sink *sink)
{
    bool some = repair->needed + repair->maybe_needed != 0;
    if (some && !repair->wide)
        sink_printf(sink, "  None can be left out: what the others imply, or per-thread keeps, is not listed.\n");
    if (repair->wide)
        sink_printf(sink, "  More was pending at once than is followed: some may be implied by others.\n");
    if (any(repair, is_a_doubt))
        sink_printf(sink, "  Maybe needed: both may use the same memory, and what a kernel does with it can't be seen.\n");
    if (any(repair, is_of_several))
        sink_printf(sink, "  Where several threads or streams record at one place, each needs an event of its own.\n");
    if (any(repair, is_of_host))
        sink_printf(sink, "  The host waits with cuEventSynchronize: no stream's wait protects what it reads itself.\n");
    if (repair->partly)
        sink_printf(sink,
                    "  Not all of the run is known (records are missing, or more was open at once than is followed):\n"
                    "  waits may be missing here.\n");
}

void repair_text(const struct report *report, const struct repair *repair, struct site_namer *namer, size_t most,
                 struct text_sink *sink)
{
    sink_printf(sink, "Repair: the event waits that keep results right if compiled with --default-stream per-thread\n");
    sink_printf(sink, "  %s\n", repair_summary(report, repair).text);
    put_notes(repair, sink);
    for (size_t i = 0; i < repair->places.count && i < most; i++) {
        sink_printf(sink, "\n#%zu %s\n", i + 1, repair_title(&repair->places.items[i]).text);
        repair_words(report, namer, &repair->places.items[i], put_line, sink);
    }
    if (repair->places.count > most)
        sink_printf(sink, "\n... and %s more of call sites: --all\n",
                    text_plural(repair->places.count - most, "pair").text);
    if (repair->unplaced != 0)
        sink_printf(sink, "\n%s more between other call sites\n", text_plural(repair->unplaced, "wait").text);
}

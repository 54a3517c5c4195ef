/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a repair. Called by repair_text.c and the JSON writer. Computes nothing.
 */
#include "analysis/views/repair/repair_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/line.h"
#include "analysis/views/verdict_words.h"

struct line repair_words_summary(const struct repair *repair)
{
    struct line line = {0};
    if (repair->needed + repair->maybe_needed == 0) {
        line_add(&line, "%s: per-thread keeps all orders that operations on the same memory need",
                 repair->partly ? "nothing found to mend" : "nothing to mend");
        return line;
    }
    if (repair->needed != 0)
        line_add(&line, "%s needed", text_plural(repair->needed, "wait").text);
    if (repair->maybe_needed != 0)
        line_add(&line, "%s%s maybe needed", repair->needed != 0 ? ", " : "",
                 repair->needed != 0 ? text_count(repair->maybe_needed).text
                                     : text_plural(repair->maybe_needed, "wait").text);
    line_add(&line, ", between %s of call sites", text_plural(repair->places.count, "pair").text);
    return line;
}

struct line repair_words_title(const struct repair_place *place)
{
    struct line line = {0};
    line_add(&line, "%s, %s", verdict_words[place->verdict], text_count(place->waits).text);
    if (place->calls >= place->waits)
        line_add(&line, " of %s", text_plural(place->calls, "time").text);
    else
        line_add(&line, " %s", place->waits == 1 ? "time" : "times");
    return line;
}

struct line repair_words_many_title(const struct repairs *repairs, size_t place)
{
    struct line line = repair_words_title(&repairs->all.places.items[place]);
    if (repairs->traces > 1)
        line_add(&line, ", in %zu of %zu traces", repairs->where.items[place].traces, repairs->traces);
    return line;
}

struct line repair_words_many_summary(const struct repairs *repairs)
{
    struct line line = repair_words_summary(&repairs->all);
    if (repairs->traces < 2 || repairs->needing + repairs->maybe == 0)
        return line;
    if (repairs->needing != 0)
        line_add(&line, "; needed in %zu of %zu traces", repairs->needing, repairs->traces);
    if (repairs->maybe != 0 && repairs->needing != 0)
        line_add(&line, ", maybe needed in %zu more", repairs->maybe);
    else if (repairs->maybe != 0)
        line_add(&line, "; maybe needed in %zu of %zu traces", repairs->maybe, repairs->traces);
    return line;
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

void repair_words_notes(const struct repair *repair, void (*each)(void *data, const char *line), void *data)
{
    bool some = repair->needed + repair->maybe_needed != 0;
    if (some && !repair->wide)
        each(data, "All of these waits are needed: the list leaves out waits that others imply, and orders that per-thread "
                   "keeps.");
    if (some && repair->strict)
        each(data, "The run was under strict: conflicts that the program itself leaves without an order are listed, too.");
    if (repair->wide)
        each(data, "More work was pending at once than is followed: some of these waits may be implied by others.");
    if (any(repair, is_a_doubt))
        each(data, "Maybe needed: both may use the same memory, and what a kernel does with it can't be seen.");
    if (any(repair, is_of_several))
        each(data, "Where several threads or streams record at one call site, each needs an event of its own.");
    if (any(repair, is_of_host))
        each(data, "The host waits with cuEventSynchronize: no stream's wait protects what it reads itself.");
    if (repair->partly)
        each(data,
             "Not all of the run is known (records are missing, or more was open at once than is followed): waits may be "
             "missing here.");
}

struct saying {
    const struct report *report;
    struct site_namer *namer;
    void (*each)(void *data, const char *line);
    void *data;
};

static void say(const struct saying *saying, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(const struct saying *saying, const char *label, const char *format, ...)
{
    char text[400], line[440];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(line, sizeof line, "%-24s%s", label, text);
    saying->each(saying->data, line);
}

static void say_site(const struct saying *saying, const char *label, uint32_t stack)
{
    char text[360];
    if (report_words_site(saying->report, saying->namer, stack, text, sizeof text))
        say(saying, label, "at %s", text);
}

static void say_end(const struct saying *saying, const char *label, const struct edge_end *end, bool more)
{
    struct line line = {0};
    char text[300];
    line_add(&line, "%s", end->object != 0 ? "kernel " : "");
    line_add(&line, "%s", report_words_accessor(saying->report, end, ACCESS_NONE, 80).text);
    if (end->stream != 0 && !more) {
        report_words_id(saying->report, FINDING_STREAMS, end->stream, text, sizeof text);
        line_add(&line, " on %.60s", text);
    }
    report_words_id(saying->report, FINDING_THREADS, end->thread, text, sizeof text);
    if (more)
        line_add(&line, ", several threads or streams");
    else
        line_add(&line, ", thread %.40s", text);
    say(saying, label, "%s", line.text);
    say_site(saying, "", end->stack);
}

static const char *used(enum access access)
{
    return access == ACCESS_WRITE ? "written" : access == ACCESS_READ ? "read" : "used";
}

static void say_memory(const struct saying *saying, const struct repair_place *place)
{
    const struct edge_pair *pair = &place->pair;
    struct line line = {0};
    if (pair->address == 0) {
        say(saying, "keeps the order of", "what they touch; which memory that is, the trace does not tell");
        return;
    }
    line_add(&line, "%s", place->one_memory ? "" : "several memories; one: ");
    if (pair->allocation != 0)
        line_add(&line, "%s #%u, ", report_words_has_address(pair) ? "allocation" : "memory", pair->allocation);
    if (report_words_has_address(pair) && pair->size != 0)
        line_add(&line, "%s bytes ", text_count(pair->size).text);
    if (report_words_has_address(pair))
        line_add(&line, "from 0x%" PRIx64 ": ", pair->address);
    if (pair->first_access == ACCESS_UNKNOWN && pair->second_access == ACCESS_UNKNOWN)
        line_add(&line, "both use it");
    else
        line_add(&line, "first %s, then %s", used(pair->first_access), used(pair->second_access));
    say(saying, "keeps the order of", "%s", line.text);
    if (place->made.thread != 0)
        say_site(saying, "  allocated", place->made.stack);
}

void repair_words(const struct report *report, struct site_namer *namer, const struct repair_place *place,
                  void (*each)(void *data, const char *line), void *data)
{
    static const char *const labels[] = {"wait for it before", "host waits for it before", "host waits for it after"};
    const struct saying saying = {report, namer, each, data};
    say_end(&saying, "record an event after", &place->first, place->more_firsts);
    say_end(&saying, labels[place->at], &place->second, place->more_seconds);
    if (place->verdict == VERDICT_MAYBE_NEEDED)
        say(&saying, "maybe, because", "%s", verdict_reason_names[place->reason]);
    if (place->reason != REASON_HOST || place->pair.address != 0)
        say_memory(&saying, place);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes what whatif.c found. Called by the command. Computes nothing but ratios and shares.
 */
#include "analysis/views/text/whatif_text.h"

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/views/cost_words.h"

static double most_gain(const struct whatif *whatif, const struct prediction *prediction)
{
    return (double)whatif->recorded / (double)prediction->least;
}

struct line whatif_text_gain(const struct whatif *whatif, const struct prediction *prediction)
{
    struct line line = {0};
    double least = (double)whatif->recorded / (double)prediction->most, most = most_gain(whatif, prediction);
    if (most < 1 / WHATIF_NOTICED)
        line_add(&line, "%.2fx to %.2fx slower", 1 / most, 1 / least);
    else if (least < 1 / WHATIF_NOTICED && most < WHATIF_NOTICED)
        line_add(&line, "up to %.2fx slower", 1 / least);
    else if (least < 1 / WHATIF_NOTICED)
        line_add(&line, "%.2fx slower to %.2fx faster", 1 / least, most);
    else if (most < WHATIF_NOTICED)
        line_add(&line, "no faster");
    else if (least < WHATIF_NOTICED)
        line_add(&line, "up to %.2fx faster", most);
    else
        line_add(&line, "%.2fx to %.2fx faster", least, most);
    return line;
}

/* The two that most of the time goes into. */
static struct line spent(const struct moment *moment)
{
    struct line line = {0};
    unsigned first = 0, second = 1;
    for (unsigned i = 1; i < PARTS; i++)
        if (moment->part[i] > moment->part[first])
            first = i;
    second = first == 0 ? 1 : 0;
    for (unsigned i = 0; i < PARTS; i++)
        if (i != first && moment->part[i] > moment->part[second])
            second = i;
    if (moment->at == 0)
        return line;
    line_add(&line, "%s %.0f %%", whatif_parts[first], 100.0 * (double)moment->part[first] / (double)moment->at);
    if (moment->part[second] * 20 > moment->at)
        line_add(&line, ", %s %.0f %%", whatif_parts[second], 100.0 * (double)moment->part[second] / (double)moment->at);
    return line;
}

static void put_policy(const struct whatif *whatif, unsigned i, struct text_sink *sink)
{
    const struct prediction *prediction = &whatif->policies[i];
    sink_printf(sink, "  %-11s %-28s %9s to %-9s then %s\n", whatif_names[i], whatif_text_gain(whatif, prediction).text,
                text_ns(prediction->least).text, text_ns(prediction->most).text, spent(&prediction->spent).text);
}

struct line whatif_text_line(const struct whatif *whatif)
{
    struct line line = {0};
    if (whatif->doubt == WHATIF_SURE && whatif_is_timed(whatif->gpu, whatif->gpu_timed))
        line_add(&line, "Under %s: %s, by a replay (--what-if)", whatif_names[0],
                 whatif_text_gain(whatif, &whatif->policies[0]).text);
    return line;
}

void whatif_text_opening(struct report *report)
{
    report->what_if = (struct line){0};
    report->no_gain = false;
    if (implicit_order_policy(&report->trace.defs) != ORDER_LEGACY ||
        !whatif_is_timed(report->totals.gpu_operations, report->totals.gpu_timed))
        return;
    struct whatif whatif = whatif_of_source(&report->trace.source);
    whatif_tell(&whatif, report);
    report->what_if = whatif_text_line(&whatif);
    report->no_gain = report->what_if.used != 0 && most_gain(&whatif, &whatif.policies[0]) < WHATIF_NOTICED;
}

static void put_doubt(const struct whatif *whatif, struct text_sink *sink)
{
    sink_printf(sink, "What if: no prediction: %s", whatif_doubts[whatif->doubt]);
    if (whatif->recorded != 0)
        sink_printf(sink, " (from its first work on it took %s", text_ns(whatif->recorded).text);
    if (whatif->doubt == WHATIF_MISSES)
        sink_printf(sink, ", replayed %s: %.1f %% off, more than %.0f", text_ns(whatif->replayed).text, whatif->error * 100,
                    WHATIF_MOST_ERROR * 100);
    sink_printf(sink, "%s\n", whatif->recorded != 0 ? ")" : "");
}

static void put_unknown(const struct whatif *whatif, struct text_sink *sink)
{
    unsigned long long unknown = whatif->gpu - whatif->gpu_timed, all = whatif->gpu;
    if (unknown != 0 && whatif_is_timed(whatif->gpu, whatif->gpu_timed))
        sink_printf(sink, "  %llu of %llu operations have no GPU times; theirs are guessed from what was waited for\n",
                    unknown, all);
    else if (unknown != 0)
        sink_printf(sink, "  A guess: %llu of %llu operations have no GPU times; record with PTDS_DEVICE_TIMES=cupti\n",
                    unknown, all);
}

/* What lies behind the lines, and what they leave out. */
static void put_notes(const struct whatif *whatif, struct text_sink *sink)
{
    sink_printf(sink,
                "  from, to: what the trace leaves open, and %.0f %% on either side, for runs of one program differ\n",
                (WHATIF_RUNS_DIFFER - 1) * 100);
    sink_printf(sink,
                "  then: what the longer of the two times would still go into; host: the program itself, and its calls\n");
    if (whatif->needed + whatif->maybe_needed != 0)
        sink_printf(
            sink,
            "  per-thread gives up implicit order: of this run's orders %s %s needed, %s maybe; without one that is, "
            "results are wrong (--repair: what to add)\n",
            text_count(whatif->needed).text, whatif->needed == 1 ? "is" : "are", text_count(whatif->maybe_needed).text);
}

void whatif_text(const struct whatif *whatif, struct text_sink *sink)
{
    if (cost_words_no_gain[whatif->no_gain] != NULL) {
        sink_printf(sink, "What if default-stream work ran elsewhere? Nothing to gain: %s\n",
                    cost_words_no_gain[whatif->no_gain]);
        return;
    }
    if (whatif->doubt != WHATIF_SURE) {
        put_doubt(whatif, sink);
        return;
    }
    sink_printf(sink,
                "What if default-stream work ran elsewhere? From its first work on the run took %s; replayed as it was "
                "%.1f %% off\n",
                text_ns(whatif->recorded).text, whatif->error * 100);
    put_unknown(whatif, sink);
    for (unsigned i = 0; i < WHATIF_POLICIES; i++)
        put_policy(whatif, i, sink);
    put_notes(whatif, sink);
}

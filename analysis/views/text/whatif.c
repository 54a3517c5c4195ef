/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes what whatif.c found. Called by the command. Computes nothing but ratios and shares.
 */
#include "analysis/views/text/whatif.h"

/* Less than this nobody notices. */
#define NOTICED 1.02

struct line whatif_gain(const struct whatif *whatif, const struct prediction *prediction)
{
    struct line line = {0};
    double least = (double)whatif->recorded / (double)prediction->most,
           most = (double)whatif->recorded / (double)prediction->least;
    if (most < 1 / NOTICED)
        line_add(&line, "%.2fx to %.2fx slower", 1 / most, 1 / least);
    else if (most < NOTICED)
        line_add(&line, "no faster");
    else if (least < NOTICED)
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
    sink_printf(sink, "  %-11s %-24s %9s to %-9s then %s\n", whatif_names[i], whatif_gain(whatif, prediction).text,
                text_ns(prediction->least).text, text_ns(prediction->most).text, spent(&prediction->spent).text);
}

struct line whatif_line(const struct whatif *whatif)
{
    struct line line = {0};
    if (whatif->doubt == WHATIF_SURE && whatif_is_timed(whatif->gpu, whatif->gpu_timed))
        line_add(&line, "Under %s: %s, by a replay (--what-if)", whatif_names[0],
                 whatif_gain(whatif, &whatif->policies[0]).text);
    return line;
}

struct line whatif_opening(const struct report *report)
{
    struct line line = {0};
    if (order_policy_of_run(&report->trace.defs) != ORDER_LEGACY ||
        !whatif_is_timed(report->totals.gpu_operations, report->totals.gpu_timed))
        return line;
    struct whatif whatif = whatif_of_source(&report->trace.source);
    return whatif_line(&whatif);
}

void whatif_text(const struct whatif *whatif, struct text_sink *sink)
{
    if (whatif->doubt == WHATIF_MISSES) {
        sink_printf(sink, "What if: no prediction: %s: from its first work on it took %s, replayed %s\n",
                    whatif_doubts[whatif->doubt], text_ns(whatif->recorded).text, text_ns(whatif->replayed).text);
        return;
    }
    if (whatif->doubt != WHATIF_SURE) {
        sink_printf(sink, "What if: no prediction: %s (from its first work on it took %s)\n", whatif_doubts[whatif->doubt],
                    text_ns(whatif->recorded).text);
        return;
    }
    sink_printf(sink,
                "What if default-stream work ran elsewhere? From its first work on the run took %s; replayed as it was "
                "%.1f %% off\n",
                text_ns(whatif->recorded).text, whatif->error * 100);
    for (unsigned i = 0; i < WHATIF_POLICIES; i++)
        put_policy(whatif, i, sink);
    if (whatif->needed + whatif->maybe_needed != 0)
        sink_printf(sink,
                    "  per-thread keeps no order for its own sake: of this run's, %s are needed, %s maybe (--repair: what "
                    "to add)\n",
                    text_count(whatif->needed).text, text_count(whatif->maybe_needed).text);
    if (whatif->gpu_timed < whatif->gpu)
        sink_printf(sink, "  A guess: %llu of %llu operations have no GPU times; record with PTDS_DEVICE_TIMES=cupti\n",
                    (unsigned long long)(whatif->gpu - whatif->gpu_timed), (unsigned long long)whatif->gpu);
}

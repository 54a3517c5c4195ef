/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of residual_words.h. Computes nothing.
 */
#include "analysis/base/line.h"
#include "analysis/views/removal_words.h"
#include "analysis/views/residual_words.h"

const char *const residual_kind_keys[RESIDUAL_KINDS] = {"own", "context", "held", "data", "mixed", "shared", "legacy"};

unsigned residual_words_ranked(const struct report *report, enum residual_kind ranked[RESIDUAL_KINDS])
{
    const struct residual_part *part = report->residual.part;
    unsigned count = 0;
    for (unsigned i = 0; i < RESIDUAL_KINDS && report->residual.known; i++) {
        unsigned at = count;
        if (part[i].ns == 0)
            continue;
        for (count++; at != 0 && part[ranked[at - 1]].ns < part[i].ns; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = (enum residual_kind)i;
    }
    return count;
}

static const char *why(const struct report *report, enum residual_kind kind, const struct removed_question *about)
{
    static const char *const words[RESIDUAL_KINDS] = {
        [RESIDUAL_OWN] = "own work, or work that the call names",
        [RESIDUAL_CONTEXT] = "all work of the context (synchronising, frees, loads)",
        [RESIDUAL_HELD] = "held up by another thread's call",
        [RESIDUAL_DATA] = "order that results may need",
        [RESIDUAL_MIXED] = "work that the call names, and other work",
        [RESIDUAL_SHARED] = "other threads' work on the same stream",
        [RESIDUAL_LEGACY] = "the legacy stream, on which work stayed",
    };
    bool only_named =
        kind == RESIDUAL_LEGACY && removed_by_policy(&report->trace.defs, about, REMOVED_UNDER_REMAP) == REMOVED_SURELY;
    return only_named ? "the legacy stream used explicitly (0x1)" : words[kind];
}

struct line residual_words_reason(const struct report *report, enum residual_kind kind)
{
    struct removed_question about = residual_goes(report, kind);
    struct line line = {0};
    line_add(&line, "%s: %s", why(report, kind, &about), removal_words_policies(report, &about).text);
    return line;
}

struct line residual_words_line(const struct report *report, enum residual_kind kind)
{
    struct line line = {0};
    line_add(&line, "%s, %s", text_ns(report->residual.part[kind].ns).text, residual_words_reason(report, kind).text);
    return line;
}

struct line residual_words_rest(const struct report *report, const enum residual_kind *kinds, unsigned count)
{
    struct line line = {0};
    uint64_t ns = 0;
    for (unsigned i = 0; i < count; i++)
        ns += report->residual.part[kinds[i]].ns;
    line_add(&line, "%s, for %s", text_ns(ns).text, text_plural(count, "other reason").text);
    return line;
}

struct line residual_words_place(const struct report *report, struct site_namer *namer, enum residual_kind kind)
{
    const struct residual_part *part = &report->residual.part[kind];
    struct line line = {0};
    char text[200];
    line_add(&line, "%s; %s of it %s", text_plural(part->calls, "call").text, text_ns(part->most_ns).text,
             definitions_api_name(&report->trace.defs, part->api));
    if (report_words_site(report, namer, part->stack, text, sizeof text))
        line_add(&line, " at %s", text);
    return line;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The line to copy. Called by screen.c and probe_json.c. A shell must read it as the words that the program was run with.
 */
#include "analysis/probe/answer/command_to_copy.h"

#include "analysis/base/sink.h"
#include "analysis/probe/probe.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/probe/runs/environment.h"

static void put(struct text_sink *sink, const char *text, size_t size)
{
    sink->write(sink, text, size);
}

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    return word[0] != 0 && word[strspn(word, plain)] == 0 && word[0] != '=';
}

/* In single quotes, where one itself stands outside of them. */
static void put_word(struct text_sink *sink, const char *word)
{
    if (is_plain(word)) {
        put(sink, word, strlen(word));
        return;
    }
    put(sink, "'", 1);
    for (const char *at = word; *at != 0; at++)
        if (*at == '\'')
            put(sink, "'\\''", 4);
        else
            put(sink, at, 1);
    put(sink, "'", 1);
}

void command_to_copy(const struct probe *probe, const struct variant *variant, unsigned seed, struct text_sink *sink)
{
    char preload[PATH_MAX * 2], audit[PATH_MAX * 2];
    if (!environment_preload(probe->library, getenv("LD_PRELOAD"), preload, sizeof preload))
        preload[0] = 0;
    if (probe->auditor != NULL && environment_audit(probe->auditor, getenv("LD_AUDIT"), audit, sizeof audit)) {
        put(sink, "LD_AUDIT=", 9);
        put_word(sink, audit);
        put(sink, " ", 1);
    }
    put(sink, "LD_PRELOAD=", 11);
    put_word(sink, preload);
    sink_printf(sink, " PTDS_POLICY=%s", variant->policy);
    if (variant->lanes != 0)
        sink_printf(sink, " PTDS_LANES=%u", variant->lanes);
    if (variant->moves_explicit)
        sink_printf(sink, " PTDS_EXPLICIT_LEGACY=remap");
    if (seed != 0)
        sink_printf(sink, " PTDS_SHAKE=%u", seed);
    sink_printf(sink, " PTDS_REPORT=off");
    for (char **word = probe->program; *word != NULL; word++) {
        put(sink, " ", 1);
        put_word(sink, *word);
    }
}

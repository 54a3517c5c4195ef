/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of command_words.h. Called by the text views. Must name no policy or value that the command would refuse: a
 * trace may come from another version. libc only: the shim writes these lines, too.
 */
#include "analysis/views/command_words.h"

#include <string.h>

#include "analysis/base/text.h"
#include "analysis/views/report_words.h"

/* Settings without which the next run would be another one, of values that need no quotes. */
static void add_settings(const struct report *report, struct line *line)
{
    static const struct {
        const char *name, *usual;
    } settings[] = {{"PTDS_LANES", "1"}, {"PTDS_STREAM", "blocking"}, {"PTDS_EXPLICIT_LEGACY", "keep"}};
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-=,";
    for (unsigned i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = definitions_setting(&report->trace.defs, settings[i].name);
        if (value != NULL && value[0] != 0 && strcmp(value, settings[i].usual) != 0 && value[strspn(value, plain)] == 0)
            line_add(line, "%s=%.40s ", settings[i].name, value);
    }
}

/* guarded is what every command takes by itself. */
static void add_policy(const struct report *report, bool moves, struct line *line)
{
    static const char *const moving[] = {"per-thread", "stream"}, *const others[] = {"observe", "none"};
    const char *const *known = moves ? moving : others;
    for (unsigned i = 0; i < 2; i++)
        if (strcmp(report_words_policy(report), known[i]) == 0)
            line_add(line, "--policy %s ", known[i]);
}

struct line command_words_probe(const struct report *report)
{
    struct line line = {0};
    add_settings(report, &line);
    line_add(&line, "ptds probe ");
    add_policy(report, true, &line);
    line_add(&line, "-- %.40s ...", text_base(report->trace.header.program));
    return line;
}

struct line command_words_run(const struct report *report)
{
    struct line line = {0};
    add_settings(report, &line);
    line_add(&line, "ptds run ");
    add_policy(report, true, &line);
    add_policy(report, false, &line);
    line_add(&line, "--trace app.ptds -- %.40s ... && ptds report app.ptds", text_base(report->trace.header.program));
    return line;
}

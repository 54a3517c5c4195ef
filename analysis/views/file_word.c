/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace's file as a word of a command that a shell reads. Called by all views that say what comes next; whatever the name
 * holds, no byte of it may move the cursor. libc only: the shim writes these lines, too.
 */
#include "analysis/views/file_word.h"

#include <string.h>

#include "analysis/base/line.h"
#include "analysis/views/opening.h"

static bool has_controls(const char *word)
{
    while ((unsigned char)*word >= ' ' && *word != 0x7f)
        word++;
    return *word != 0;
}

/* As bash, ksh and zsh read it. */
static void add_escaped(struct line *line, const char *word)
{
    line_add(line, " $'");
    for (; *word != 0; word++)
        if ((unsigned char)*word < ' ' || *word == 0x7f)
            line_add(line, "\\%03o", (unsigned char)*word);
        else
            line_add(line, *word == '\'' || *word == '\\' ? "\\%c" : "%c", *word);
    line_add(line, "'");
}

/* As a shell reads it. */
static void add_word(struct line *line, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (word[strspn(word, plain)] == 0) {
        line_add(line, " %s", word);
        return;
    }
    if (has_controls(word)) {
        add_escaped(line, word);
        return;
    }
    line_add(line, " '");
    for (; *word != 0; word++)
        line_add(line, *word == '\'' ? "'\\''" : "%c", *word);
    line_add(line, "'");
}

struct line file_word(const struct report *report)
{
    enum { PATH_BYTES = 160 }; /* a line has room for it, and for the command */
    const char *file = report->trace.source.file != NULL ? report->trace.source.file : "TRACE";
    struct line line = {0};
    add_word(&line, strlen(file) > PATH_BYTES ? text_base(file) : file);
    return line;
}

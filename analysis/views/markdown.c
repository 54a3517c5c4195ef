/* SPDX-License-Identifier: Apache-2.0
 *
 * Escapes for Markdown as GitHub and GitLab have it. Called by the writers of pull request comments. A kernel's name must
 * not end a table's row, a code span or a tag.
 */
#include "analysis/views/markdown.h"

#include <string.h>

/* A code span ends at as many backquotes as it began with; `|` ends a cell even inside one. */
void markdown_code(struct text_sink *sink, const char *text)
{
    if (text[0] == 0)
        return;
    const char *fence = strchr(text, '`') != NULL ? "``" : "`";
    sink_printf(sink, "%s%s", fence, fence[1] != 0 ? " " : "");
    for (; *text != 0; text++) {
        if (*text == '|')
            sink_printf(sink, "\\|");
        else if (*text == '`' && text[1] == '`')
            sink_printf(sink, "'"); /* two would end the span */
        else
            sink_printf(sink, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
    }
    sink_printf(sink, "%s%s", fence[1] != 0 ? " " : "", fence);
}

void markdown_text(struct text_sink *sink, const char *text)
{
    for (; *text != 0; text++) {
        if (*text == '<' || *text == '&' || *text == '@')
            sink_printf(sink, "&#%d;", *text); /* a tag, an entity, somebody's name */
        else if (strchr("\\`*_{}[]#|~", *text) != NULL)
            sink_printf(sink, "\\%c", *text);
        else
            sink_printf(sink, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
    }
}

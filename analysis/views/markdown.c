/* SPDX-License-Identifier: Apache-2.0
 *
 * Escapes for Markdown as GitHub and GitLab have it. Called by the writers of pull request comments. A kernel's name must
 * not end a table's row, a code span or a tag.
 */
#include "analysis/views/markdown.h"

#include <string.h>

#include "analysis/base/sink.h"

/* A code span ends at as many backquotes as it began with; `|` ends a cell even inside one. */
void markdown_code(struct text_sink *sink, const char *text)
{
    if (text[0] == 0)
        return;
    const char *fence = strchr(text, '`') != NULL ? "``" : "`";
    sink_printf(sink, "%s%s", fence, fence[1] != 0 ? " " : "");
    for (text = sink_until(sink, text, "|`"); *text != 0; text = sink_until(sink, text + 1, "|`"))
        if (*text == '|')
            sink_printf(sink, "\\|");
        else
            sink_printf(sink, text[1] == '`' ? "'" : "`"); /* two would end the span */
    sink_printf(sink, "%s%s", fence[1] != 0 ? " " : "", fence);
}

void markdown_text(struct text_sink *sink, const char *text)
{
    static const char special[] = "<&@\\`*_{}[]#|~";
    for (text = sink_until(sink, text, special); *text != 0; text = sink_until(sink, text + 1, special))
        if (*text == '<' || *text == '&' || *text == '@')
            sink_printf(sink, "&#%d;", *text); /* a tag, an entity, somebody's name */
        else
            sink_printf(sink, "\\%c", *text);
}

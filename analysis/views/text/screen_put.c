/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes lines onto the first screen, and counts the rows that are left. Called by report_screen.c and screen_list.c.
 */
#include "analysis/views/text/screen_put.h"

#include <string.h>

/* Writes a line that fits. */
void screen_put(struct screen *screen, struct line *line)
{
    line_fit(line, SCREEN_COLUMNS);
    screen->sink->write(screen->sink, line->text, line->used);
    screen->sink->write(screen->sink, "\n", 1);
    screen->rows -= screen->rows != 0;
    *line = (struct line){0};
}

/* How much of a text goes on a line of so many columns: whole words, or all where there is but one. */
static size_t broken_at(const char *text, size_t columns)
{
    size_t size = strlen(text), at = columns;
    if (size <= columns)
        return size;
    while (at != 0 && text[at] != ' ')
        at--;
    return at != 0 ? at : size;
}

unsigned screen_put_text(struct screen *screen, const char *lead, unsigned hang, const char *text, unsigned most,
                         bool count_only)
{
    unsigned lines = 0, indent = (unsigned)strlen(lead);
    while (*text != 0 && lines < most) {
        struct line line = {0};
        line_add(&line, "%*s", (int)indent, lines == 0 ? lead : "");
        size_t size = ++lines == most ? strlen(text) : broken_at(text, SCREEN_COLUMNS - indent);
        line_add(&line, "%.*s", (int)size, text);
        if (!count_only)
            screen_put(screen, &line); /* ends the last one after a whole word */
        text += size + (text[size] == ' ');
        indent = (unsigned)strlen(lead) + hang;
    }
    return lines;
}

void screen_put_blank(struct screen *screen)
{
    struct line line = {0};
    if (!screen->small)
        screen_put(screen, &line);
}

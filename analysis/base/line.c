/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of text in a fixed buffer. Also runs inside the traced process at its exit: libc only, no locale, no exit.
 */
#include "analysis/base/line.h"

#include <stdarg.h>
#include <stdio.h>

void line_add(struct line *line, const char *format, ...)
{
    size_t room = sizeof line->text - line->used;
    va_list args;
    va_start(args, format);
    int size = vsnprintf(line->text + line->used, room, format, args);
    va_end(args);
    if (size > 0)
        line->used += (size_t)size < room ? (size_t)size : room - 1;
}

bool line_add_whole(struct line *line, size_t columns, const char *format, ...)
{
    struct line longer = *line;
    size_t room = sizeof longer.text - longer.used;
    va_list args;
    va_start(args, format);
    int size = vsnprintf(longer.text + longer.used, room, format, args);
    va_end(args);
    if (size < 0 || (size_t)size >= room || longer.used + (size_t)size > columns)
        return false;
    longer.used += (size_t)size;
    *line = longer;
    return true;
}

void line_fit(struct line *line, size_t columns)
{
    if (line->used <= columns || columns < 8)
        return;
    size_t end = columns - 4;
    while (end > columns / 2 && line->text[end] != ' ')
        end--;
    if (line->text[end] != ' ') {
        end = columns - 4;
        while (end > 0 && ((unsigned char)line->text[end] & 0xc0) == 0x80)
            end--;
    }
    line->used = end;
    line_add(line, " ...");
}

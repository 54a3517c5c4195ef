/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on its way to whoever takes it. Also runs inside the traced process at its exit: libc only, no locale, no exit.
 */
#include "analysis/base/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sink_printf(struct text_sink *sink, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (size > 0)
        sink->write(sink, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

/* In pieces: a call for each character was most of the time that a comparison took to write. */
const char *sink_until(struct text_sink *sink, const char *text, const char *stop)
{
    while (*text != 0 && strchr(stop, *text) == NULL) {
        size_t size = 0;
        while ((unsigned char)text[size] >= ' ' && strchr(stop, text[size]) == NULL)
            size++;
        sink->write(sink, size != 0 ? text : " ", size != 0 ? size : 1);
        text += size != 0 ? size : 1;
    }
    return text;
}

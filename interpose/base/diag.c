/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages. Called from anywhere in the shim, also under the loader lock and in a process that is out of memory or file
 * descriptors. Must not allocate, use stdio, or change errno.
 */
#include "interpose/base/diag.h"

#include <stdarg.h>
#include <string.h>

#include "interpose/base/output.h"

static int current_level = DIAG_ERROR;

void diag_level(int level)
{
    __atomic_store_n(&current_level, level, __ATOMIC_RELAXED);
}

void diag_line(enum diag_kind kind, ...)
{
    if ((int)kind > __atomic_load_n(&current_level, __ATOMIC_RELAXED))
        return;
    char line[1024] = "ptds: ";
    size_t used = 6;
    va_list texts;
    va_start(texts, kind);
    for (const char *text = va_arg(texts, const char *); text; text = va_arg(texts, const char *)) {
        size_t room = sizeof line - 1 - used, size = strnlen(text, room);
        memcpy(line + used, text, size);
        used += size;
    }
    va_end(texts);
    line[used++] = '\n';
    output_write(output_stderr(), line, used);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Text helpers of the reports. Also runs inside the traced process at its exit: libc only, no locale, no exit. The
 * demangler is used where the process happens to have one, never asked for.
 */
#include "analysis/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/line.h"
#include "analysis/base/sink.h"

extern char *__cxa_demangle(const char *name, char *out, size_t *size, int *status) __attribute__((weak));

/* What changes the direction of the text behind it, so that a terminal shows a line in another order than it is written. */
static bool turns(uint32_t point)
{
    return (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

/* Bytes of the UTF-8 sequence that starts at `at`, 0 if none does. Surrogates and overlong forms are none. */
static size_t sequence(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0x80, 0x800, 0x10000}; /* of two bytes and more */
    size_t size = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || size > left)
        return 0;
    uint32_t point = at[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = point >= 0xd800 && point <= 0xdfff;
    bool control = point < 0xa0 || turns(point);
    return point < least[size - 2] || point > 0x10ffff || surrogate || control ? 0 : size;
}

/* Whether the next eight bytes are printable ASCII, as most are. */
static inline bool eight_plain(const unsigned char *in)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t word;
    memcpy(&word, in, sizeof word);
    return ((word | (word - 0x20 * each) | (word + each)) & 0x80 * each) == 0;
}

size_t text_clean(char *out, size_t room, const void *bytes, size_t size)
{
    const unsigned char *in = bytes;
    size_t used = 0;
    for (size_t i = 0; i < size && in[i] != 0;) {
        if (size - i >= 8 && used + 8 < room && eight_plain(in + i)) {
            memcpy(out + used, in + i, 8);
            used += 8;
            i += 8;
            continue;
        }
        size_t step = in[i] >= 0x20 && in[i] < 0x7f ? 1 : in[i] >= 0x80 ? sequence(in + i, size - i) : 0;
        if (used + (step != 0 ? step : 1) >= room)
            break;
        if (step == 0)
            out[used++] = '?';
        else
            memcpy(out + used, in + i, step);
        used += step;
        i += step != 0 ? step : 1;
    }
    out[used] = 0;
    return used;
}

char *text_copy(const void *bytes, size_t size)
{
    char *copy = heap_bytes(size + 1);
    if (copy != NULL)
        text_clean(copy, size + 1, bytes, size);
    return copy;
}

struct small_text text_ns(uint64_t ns)
{
    struct small_text out;
    if (ns < 1000)
        snprintf(out.text, sizeof out.text, "%u ns", (unsigned)ns);
    else if (ns < 1000000)
        snprintf(out.text, sizeof out.text, "%.1f us", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(out.text, sizeof out.text, "%.1f ms", (double)ns / 1e6);
    else
        snprintf(out.text, sizeof out.text, "%.2f s", (double)ns / 1e9);
    return out;
}

struct small_text text_count(uint64_t count)
{
    struct small_text out;
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    size_t used = 0;
    for (int i = 0; i < size; i++) {
        if (i != 0 && size > 4 && (size - i) % 3 == 0)
            out.text[used++] = ' ';
        out.text[used++] = digits[i];
    }
    out.text[used] = 0;
    return out;
}

struct line text_plural(uint64_t count, const char *word)
{
    struct line line = {0};
    line_add(&line, "%s %s%s", text_count(count).text, word, count == 1 ? "" : "s");
    return line;
}

struct small_text text_share(uint64_t part, uint64_t whole)
{
    struct small_text out;
    double share = whole != 0 ? (double)part * 100 / (double)whole + 0.5 : 0;
    unsigned percent = share < UINT32_MAX ? (unsigned)share : UINT32_MAX; /* of a damaged trace */
    snprintf(out.text, sizeof out.text, percent == 0 && part != 0 && whole != 0 ? "under 1 %%" : "%u %%", percent);
    return out;
}

void text_demangle(char *out, size_t room, const char *name)
{
    int status = 1;
    char *plain = NULL;
    if (__cxa_demangle != NULL && name[0] == '_' && name[1] == 'Z')
        plain = __cxa_demangle(name, NULL, NULL, &status);
    snprintf(out, room, "%s", plain != NULL && status == 0 ? plain : name);
    free(plain);
}

const char *text_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

struct line text_function(const char *name)
{
    static const char unnamed[] = "(anonymous namespace)";
    const char *start = name, *at = name;
    struct line line = {0};
    while (*at != 0 && *at != '<') {
        if (strncmp(at, unnamed, sizeof unnamed - 1) == 0)
            at += sizeof unnamed - 1;
        else if (*at == '(')
            break;
        else if (*at == ':' || *at == ' ')
            start = ++at;
        else
            at++;
    }
    line_add(&line, "%.*s", (int)(at - start), start);
    return line;
}

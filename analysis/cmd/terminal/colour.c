/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours of what the verbs print on a terminal. main.c puts it before stdout; the views know nothing of it, so their
 * widths are right and a file, a pipe and a pager of the user's own get plain text. Must never change anything but add
 * colours, and passes on at once what is no whole line.
 */
#include "analysis/cmd/terminal/colour.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RED "\033[1;31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define CYAN "\033[36m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* How lines begin, and which part of them has the colour: the beginning, up to the first of these characters after it, or
 * ("") all of the line. */
static const struct ink {
    const char *begin, *until, *colour;
} inks[] = {
    {"Right:", ":", GREEN},
    {"May be wrong:", ":", YELLOW},
    {"WRONG", ":", RED},
    {"FAIL ", " ", RED},
    {"  FAILED ", "", RED},
    {"  ok ", " ", GREEN},
    {"usable", "", GREEN},
    {"NOT usable", "", RED},
    {"#", ":", BOLD},
    {"Findings:", ":", BOLD},
    {"Findings, by ", ":", BOLD},
    {"Blocked:", ":", BOLD},
    {"Start-up:", ":", BOLD},
    {"Implicit orders", ":", BOLD},
    {"Default stream", ":", BOLD},
    {"Not analysed:", ":", YELLOW},
    {"What was looked at", "", BOLD},
    {"Next: ", "", CYAN},
};

/* The words of a finding's severity, which stand in its line or end it. */
static const struct ink severities[] = {{"  error", ",", RED}, {"  warning", ",", YELLOW}, {"  note", ",", CYAN}};

static bool on;
static bool inside; /* of a line that has been passed on in part */

static struct {
    char text[4096];
    size_t used;
} ready;

static void put_ready(void)
{
    for (size_t done = 0; done < ready.used;) {
        ssize_t now = write(STDOUT_FILENO, ready.text + done, ready.used - done);
        if (now <= 0 && errno != EINTR)
            break;
        done += now > 0 ? (size_t)now : 0;
    }
    ready.used = 0;
}

static void put(const char *text, size_t size)
{
    while (size != 0) {
        size_t room = sizeof ready.text - ready.used, piece = size < room ? size : room;
        memcpy(ready.text + ready.used, text, piece);
        ready.used += piece;
        text += piece;
        size -= piece;
        if (ready.used == sizeof ready.text)
            put_ready();
    }
}

static void put_inked(const char *text, size_t size, const char *colour)
{
    put(colour, strlen(colour));
    put(text, size);
    put(PLAIN, strlen(PLAIN));
}

static const struct ink *ink_of(const char *line, size_t size)
{
    for (size_t i = 0; i < sizeof inks / sizeof inks[0]; i++) {
        size_t begin = strlen(inks[i].begin);
        if (size >= begin && memcmp(line, inks[i].begin, begin) == 0)
            return &inks[i];
    }
    return NULL;
}

/* How much of the line its ink is for: a number sign and the rule's name, or up to a character. */
static size_t inked(const struct ink *ink, const char *line, size_t size)
{
    size_t at = strlen(ink->begin);
    if (ink->begin[0] == '#') {
        while (at < size && line[at] != ' ' && line[at] != ':')
            at++;
        while (at < size && line[at] == ' ')
            at++;
        while (at < size && line[at] != ' ' && line[at] != ':')
            at++;
        return at;
    }
    if (ink->until[0] == 0)
        return size;
    while (at > 0 && strchr(ink->until, line[at - 1]) != NULL)
        return at;
    while (at < size && strchr(ink->until, line[at]) == NULL)
        at++;
    return at;
}

/* The rest of a line, in which a severity may stand. */
static void put_rest(const char *line, size_t size)
{
    for (size_t i = 0; i < sizeof severities / sizeof severities[0]; i++) {
        const char *word = severities[i].begin, *at = memmem(line, size, word, strlen(word));
        size_t before = at != NULL ? (size_t)(at - line) + 2 : 0, length = strlen(word) - 2;
        if (at == NULL || (before + length < size && line[before + length] != ','))
            continue;
        put(line, before);
        put_inked(line + before, length, severities[i].colour);
        put(line + before + length, size - before - length);
        return;
    }
    put(line, size);
}

static void put_line(const char *line, size_t size)
{
    const struct ink *ink = inside ? NULL : ink_of(line, size);
    size_t first = ink != NULL ? inked(ink, line, size) : 0;
    if (ink != NULL)
        put_inked(line, first, ink->colour);
    if (ink != NULL && ink->begin[0] == '#')
        put_rest(line + first, size - first);
    else
        put(line + first, size - first);
}

static ssize_t paint(void *data, const char *text, size_t size)
{
    (void)data;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        if (on && end != NULL)
            put_line(text + at, length);
        else
            put(text + at, length);
        if (end != NULL)
            put("\n", 1);
        inside = end == NULL;
        at += length + (end != NULL);
    }
    put_ready();
    return (ssize_t)size;
}

static bool wanted(void)
{
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    return isatty(STDOUT_FILENO) && (none == NULL || none[0] == 0) && kind != NULL && strcmp(kind, "dumb") != 0;
}

void colour_begin(void)
{
    FILE *painted = wanted() ? fopencookie(NULL, "w", (cookie_io_functions_t){.write = paint}) : NULL;
    if (painted == NULL)
        return;
    setvbuf(painted, NULL, _IOLBF, 1 << 16);
    on = true;
    stdout = painted;
}

void colour_off(void)
{
    fflush(stdout);
    on = false;
}

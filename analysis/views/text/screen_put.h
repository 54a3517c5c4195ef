/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the first screen share. For screen.c and screen_list.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_PUT_H
#define PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_PUT_H

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/views/opening.h"
#include "analysis/views/text/report_screen.h"

enum { SCREEN_SMALL_ROWS = 31 }; /* up to so many: no blank lines, and fewer of all but findings */

struct screen {
    const struct report *report;
    struct site_namer *namer;
    struct text_sink *sink;
    unsigned rows; /* left */
    bool small;
    bool brief;    /* what still serialises is left out */
    size_t listed; /* findings, a sequence is one */
};

/* Writes a line and empties it. */
void screen_put(struct screen *screen, struct line *line);
/* Writes a text over as many lines as it needs, at most `most`, broken between words: `lead` before the first, as many
 * blanks and `hang` more before the others. Returns how many; `count_only`: writes none. */
unsigned screen_put_text(struct screen *screen, const char *lead, unsigned hang, const char *text, unsigned most,
                         bool count_only);
void screen_put_blank(struct screen *screen); /* nothing on a small screen */

#endif

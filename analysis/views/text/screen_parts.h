/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the first screen share. For screen.c and screen_list.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_PARTS_H
#define PTDS_ANALYSIS_VIEWS_TEXT_SCREEN_PARTS_H

#include "analysis/views/opening.h"
#include "analysis/views/text/screen.h"

struct screen {
    const struct report *report;
    struct site_namer *namer;
    struct text_sink *sink;
    unsigned rows; /* left */
    bool small;
};

/* Writes a line and empties it. */
void screen_put(struct screen *screen, struct line *line);
void screen_put_blank(struct screen *screen); /* nothing on a small screen */

/* The top findings: as many as fit above `after` rows. */
void screen_put_findings(struct screen *screen, unsigned after);

#endif

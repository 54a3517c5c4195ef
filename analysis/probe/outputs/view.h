/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a run left, in memory.
 */
#ifndef PTDS_ANALYSIS_PROBE_OUTPUTS_VIEW_H
#define PTDS_ANALYSIS_PROBE_OUTPUTS_VIEW_H

#include "analysis/base/line.h"
#include "analysis/base/text.h"
#include "analysis/probe/outputs/same.h"

#ifdef __cplusplus
extern "C" {
#endif

struct view {
    struct bytes bytes;
    size_t mapped; /* pages of our own, which the file does not see changed */
    bool there;    /* false: there is no such file, and the bytes are none */
};

struct view view_open(const char *path);
void view_close(struct view *view);
/* Takes out the lines that the shim writes to a program's stderr; the first of them goes into `said`, if that is empty. */
void view_drop_own_lines(struct view *view, struct line *said);
/* The last lines, in their order, at the end of `lines`; those that it does not have stay as they are. */
void view_last_lines(const struct view *view, struct line *lines, size_t count);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Which verdicts this build can give. Called by `ptds export` and `ptds check`. The names of edge.h are weak here, so that
 * they are those of whatever judges edges as soon as something in this binary does.
 */
#include "analysis/export/export.h"

__attribute__((weak)) const char *const edge_kind_names[EDGE_KINDS] = {"fan-in", "fan-out", "fifo", "host"};
__attribute__((weak)) const char *const verdict_names[VERDICTS] = {"false", "load-bearing", "unknown"};
__attribute__((weak)) const char *const verdict_reason_names[VERDICT_REASONS] = {
    "",
    "an operation may touch memory that the trace does not name",
    "both sides use the same memory; whether either writes it cannot be seen",
    "both sides use one allocation; how far each reaches cannot be seen",
    "the two sides conflict with work that nothing orders",
    "records are missing, or the trace ended too early",
    "more was open at once than is followed",
};

struct edge_feed *edge_feed_of_build(void)
{
    return NULL;
}

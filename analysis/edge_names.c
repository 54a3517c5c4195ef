/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of edge.h: kinds, verdicts, reasons. Used by every writer of a report. A kind's and a verdict's word is part of
 * the JSON form and is never renamed.
 */
#include "analysis/edge.h"

const char *const edge_kind_names[EDGE_KINDS] = {"fan-in", "fan-out", "fifo", "host"};
const char *const verdict_names[VERDICTS] = {"false", "load-bearing", "unknown"};
const char *const verdict_reason_names[VERDICT_REASONS] = {
    "",
    "An operation on one side may touch memory that the trace does not name.",
    "Both sides use the same memory; whether either writes it cannot be seen.",
    "Both sides use one allocation at different addresses; how far each reaches cannot be seen.",
    "The two sides conflict with work that nothing orders, even today.",
    "Records are missing, or the trace ended while the edge was open to more.",
    "More was open at once than is followed.",
};

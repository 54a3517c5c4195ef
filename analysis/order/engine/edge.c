/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of edge.h: kinds, reasons. Used by every writer of a report. A kind's word is part of the JSON form and is
 * never renamed.
 */
#include "analysis/order/engine/edge.h"

const char *const edge_kind_names[EDGE_KINDS] = {"fan-in", "fan-out", "fifo", "host"};
const char *const verdict_reason_names[VERDICT_REASONS] = {
    "",
    "an operation on one side may touch memory that the trace does not name",
    "both sides use the same memory; whether either writes it cannot be seen",
    "both sides use the same allocation; how far each reaches cannot be seen",
    "one side conflicts with work that nothing orders, even today",
    "records are missing, or an order between the two sides cannot be seen",
    "more was open at once than is followed",
    "the host may read, or write again, memory that the work used",
    "a time between events that the program asks for counts the work",
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy strict: as guarded, and where two operations conflict that neither legacy order nor the program orders, the later
 * call waits for the earlier one, on all streams. So a program that forgot an event is right, and the record says where.
 */
#include "interpose/guard/guard.h"
#include "interpose/policy/policy_guarded.h"

const struct policy policy_strict = {
    .name = "strict",
    .sentence = "as guarded, and also orders conflicts that the program itself left without an order, as the calls came",
    .gives_up = "nothing; a kernel that waits for memory which a later call on another stream writes may wait for ever",
    .remaps = 1,
    .legacy = policy_guarded_legacy,
    .context = policy_guarded_context,
    .created = guard_stream_work,
    .wants_footprint = 1,
    .quick = 1,
    .guards = 1,
    .orders_all = 1,
};

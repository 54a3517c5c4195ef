/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy observe: leaves every call where the program put it, and records.
 */
#include "interpose/policy/policy.h"

const struct policy policy_observe = {
    .name = "observe",
    .sentence = "moves nothing and records what the default stream costs",
    .gives_up = "nothing",
};

/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy none: the smallest policy. Every door hands out the driver's own functions.
 */
#include "interpose/policy/policy.h"

const struct policy policy_none = {
    .name = "none",
    .sentence = "moves nothing and records nothing",
    .gives_up = "nothing",
};

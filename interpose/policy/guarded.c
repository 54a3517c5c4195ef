/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy guarded, the default.
 */
#include "interpose/policy/policy.h"

const struct policy policy_guarded = {
    .name = "guarded",
    .sentence = "gives each thread's default-stream work a stream of its own and keeps legacy order where data asks for it",
    .gives_up = "nothing",
};

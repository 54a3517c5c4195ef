/* SPDX-License-Identifier: Apache-2.0
 *
 * Where policy guarded puts default-stream work, for the policies that put it there, too.
 */
#ifndef PTDS_POLICY_GUARDED_H
#define PTDS_POLICY_GUARDED_H

#include "interpose/policy/policy.h"

/* Callbacks of struct policy, `legacy` and `context`. */
void policy_guarded_legacy(struct call *C, int implicit);
void policy_guarded_context(struct call *C, struct context *context);

#endif

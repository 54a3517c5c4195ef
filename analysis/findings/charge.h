/* SPDX-License-Identifier: Apache-2.0
 *
 * Time that calls lost behind another thread's call (hold.h) goes to that call, once.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_CHARGE_H
#define PTDS_ANALYSIS_FINDINGS_CHARGE_H

#include "analysis/findings/rule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For on_held of the rule that is about this kind of call: charges the time that the call at hand lost to the call
 * that held it up. */
void charge_held(struct rule_run *run, const struct call_view *view, uint32_t detail);

#ifdef __cplusplus
}
#endif
#endif

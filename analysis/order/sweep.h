/* SPDX-License-Identifier: Apache-2.0
 *
 * Forgets arrivals that no later conflict can ask for, and so settles edges.
 */
#ifndef PTDS_ANALYSIS_ORDER_SWEEP_H
#define PTDS_ANALYSIS_ORDER_SWEEP_H

#include "analysis/order/engine/engine.h"

/* Between calls. Sets v->sweep_at to the number of open edges at which to sweep again. */
void sweep(struct verdicts *v);

#endif

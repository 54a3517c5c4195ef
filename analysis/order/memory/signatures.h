/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parameters of a kernel lead to memory (struct signature), worked out once a kernel.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_SIGNATURES_H
#define PTDS_ANALYSIS_ORDER_MEMORY_SIGNATURES_H

#include "analysis/base/id_map.h"
#include "analysis/order/engine/engine.h"

/* By the kernel's uid; never NULL, and valid until the next kernel is looked up. _look_up: the kernel was never asked for.
 */
const struct signature *signatures_look_up(struct verdicts *v, uint32_t kernel);
static inline const struct signature *signatures_of(struct verdicts *v, uint32_t kernel)
{
    uint32_t at;
    return id_map_get(&v->signature_by_uid, kernel, &at) ? &v->signatures.items[at] : signatures_look_up(v, kernel);
}
void signatures_free(struct verdicts *v);

#endif

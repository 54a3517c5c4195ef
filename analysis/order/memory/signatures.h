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

/* How the memory is accessed to which the parameter at this place leads; sets *next to the parameter after it. NONE: the
 * code says that it leads to no memory. */
static inline enum access signatures_search(const struct signature *signature, uint32_t place,
                                            const struct parameter **next)
{
    const struct parameter *at = signature->parameters;
    while (at->at != SIGNATURE_END && at->at != place)
        at++;
    if (at->at == SIGNATURE_END)
        return signature->by_code ? ACCESS_NONE : ACCESS_UNKNOWN;
    *next = at + 1;
    return (enum access)at->access;
}

/* The same. Words are in the order of parameters: mostly it is the parameter after the last, or soon after it. */
static inline enum access signatures_access_at(const struct signature *signature, uint32_t place,
                                               const struct parameter **next)
{
    const struct parameter *at = *next;
    while (at->at < place)
        at++;
    if (__builtin_expect(at->at != place, 0))
        return signatures_search(signature, place, next);
    *next = at + 1;
    return (enum access)at->access;
}

#endif

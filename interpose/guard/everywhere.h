/* SPDX-License-Identifier: Apache-2.0
 *
 * A call of which nothing is known takes part in the order of every stream. For doors/.
 */
#ifndef PTDS_EVERYWHERE_H
#define PTDS_EVERYWHERE_H

#include "interpose/state/call.h"

/* Before a call of which nothing is known, and after it: it comes after all work of the current context that legacy order
 * promises to any of its streams, and all that is promised those streams' work comes after it. Nothing of C counts but the
 * thread. */
void everywhere_take_part(struct call *C);

#endif

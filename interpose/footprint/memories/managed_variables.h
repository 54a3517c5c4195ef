/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the host may store into a module's variables without a call, since some are managed. `variables` is the memory of
 * all of a module's variables; the answers are bits of its `host`.
 */
#ifndef PTDS_MANAGED_VARIABLES_H
#define PTDS_MANAGED_VARIABLES_H

#include "interpose/footprint/memories/memory_object.h"

/* What the driver says of the variable at that address: 0 not managed; 1 managed, or the driver does not say;
 * 1 | MEMORY_UNASKED: the driver must not be asked now, since a capture is open. */
uint8_t managed_variables_ask(uint64_t address);

/* One more variable was mapped, and this is what managed_variables_ask said of it. Takes this file's lock. */
void managed_variables_add(struct memory *variables, uint8_t answer);

/* Whether the host may store there: some are managed, or the driver could not be asked so far. Asks the driver again, of
 * each variable, where it could not be asked before and no capture is open. */
int managed_variables_are_hosts(struct memory *variables);

/* In a forked child: the lock is free. */
void managed_variables_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the driver how far an allocation goes that the shim has not seen being made.
 */
#ifndef PTDS_DRIVER_RANGE_H
#define PTDS_DRIVER_RANGE_H

#include <stdint.h>

/* In: *base an address. Out: where its allocation begins, and its length in bytes. 0: the driver does not say, or must not
 * be asked; then each kernel may touch anything from here on, since pointers into that memory can't be told. */
int driver_range_ask(uint64_t *base, uint64_t *bytes);

#endif

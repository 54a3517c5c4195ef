/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows what a launch was found to touch to a driver that asks for it (driver_wants_claims): the simulated one, which
 * compares it with each access of the kernel.
 */
#ifndef PTDS_SHOW_DRIVER_H
#define PTDS_SHOW_DRIVER_H

#include "interpose/driver/driver.h"
#include "interpose/state/call.h"

/* The launch's footprint is complete. Before the driver has the call. */
void show_driver_slow(const struct call *C);
static inline void show_driver(const struct call *C)
{
    if (__builtin_expect(driver_wants_claims != NULL, 0))
        show_driver_slow(C);
}

#endif

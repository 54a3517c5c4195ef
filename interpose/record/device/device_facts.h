/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the devices that the program uses.
 */
#ifndef PTDS_DEVICE_FACTS_H
#define PTDS_DEVICE_FACTS_H

/* Writes the device's name and limits, once a device; nothing for -1, or while a capture is open. */
void device_facts_record(int device);

void device_facts_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Device times from CUPTI, PTDS_DEVICE_TIMES=cupti, through libptds_cupti.so.
 */
#ifndef PTDS_DEVICE_CUPTI_H
#define PTDS_DEVICE_CUPTI_H

#include "interpose/state/call.h"

/* Loads the library; 0: there will be no device times, which has been said on stderr. Not while threads wait for recording
 * to start: the library's constructors may take long. */
int device_cupti_start(void);

/* Around the real call of work. */
void device_cupti_before(struct call *C);
void device_cupti_after(struct call *C);

#endif

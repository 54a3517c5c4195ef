/* SPDX-License-Identifier: Apache-2.0
 *
 * Device times of the work, PTDS_DEVICE_TIMES. sampled: a pair of timing events around one operation of a hundred or fewer.
 * cupti: see device_cupti.h. Off unless asked for, since either makes the device's own work longer.
 */
#ifndef PTDS_DEVICE_TIMES_H
#define PTDS_DEVICE_TIMES_H

#include "interpose/state/call.h"

extern uint32_t device_times_on; /* enum env_device_times; set once recording runs */

/* Before and after the real call of a wrapper. The first also collects what has ended. */
void device_times_before(struct call *C);
void device_times_after(struct call *C);

/* Lanes have been made in the context, which is current, and no capture is open: makes the stream and the event that
 * sampling needs there, too, since to make a stream later may wait for the device. */
void device_times_ready(struct context *context);

void device_times_start(void);
void device_times_after_fork(void);

#endif

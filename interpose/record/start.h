/* SPDX-License-Identifier: Apache-2.0
 *
 * The beginning of recording.
 */
#ifndef PTDS_START_H
#define PTDS_START_H

/* Starts recording where the configuration wants it: on the first call that is more than a look-up or cuInit, so that a
 * process that only links CUDA leaves no file. Any thread; returns when recording runs or was refused, or after a second,
 * and then the call goes on unrecorded. Keeps errno. */
void start_recording(void);

/* In a forked child: nothing has started there. */
void start_after_fork(void);

#endif

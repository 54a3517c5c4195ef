/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of recording.
 */
#ifndef PTDS_FINISH_H
#define PTDS_FINISH_H

/* Closes the trace and prints what PTDS_REPORT asks for. Once, at exit; other threads may still make calls. */
void finish_recording(void);

#endif

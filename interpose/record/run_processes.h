/* SPDX-License-Identifier: Apache-2.0
 *
 * The `ptds run` that this process belongs to: the command says so in PTDS_RUN, which is "ID:PID:STDERR".
 */
#ifndef PTDS_RUN_PROCESSES_H
#define PTDS_RUN_PROCESSES_H

#include <stdint.h>

#define RUN_VARIABLE "PTDS_RUN"

/* The same in all processes of one run; 0: of none. */
uint64_t run_processes_id(void);

/* At the exit of a process that made no CUDA call: if it is the one that the command became, says so in a line on stderr.
 */
void run_processes_say_nothing_seen(void);

#endif

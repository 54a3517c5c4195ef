/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions for functions of the driver that the table does not know: a fixed number, made when the library was. Read by
 * the assembler, too.
 */
#ifndef PTDS_FORWARD_H
#define PTDS_FORWARD_H

#define FORWARDERS 64

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* Its arguments in registers, and its results; only the assembly knows where. */
struct forward_frame;

/* What to hand out for a function of the driver: the same one each time. calls: counts its calls. NULL: all are taken. Any
 * thread, no locks; inside dlsym, too. */
void *forward_to(void *function, uint32_t *calls);

/* Bytes from one of them to the next. */
enum { FORWARD_BYTES = 16 };
extern const uint8_t ptds_forward_first[];

/* Called by forwarder `number`: stacked are the words behind its return address, `caller`. */
void ptds_forward_run(uint32_t number, struct forward_frame *frame, const uint64_t *stacked, const void *caller);

/* Calls the function with the frame's arguments and a copy of so many words of the stack. */
void ptds_forward_call(void *function, struct forward_frame *frame, const uint64_t *stacked, size_t count);

/* In a forked child. */
void forward_after_fork(void);
#endif

#endif

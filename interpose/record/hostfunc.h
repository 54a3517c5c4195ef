/* SPDX-License-Identifier: Apache-2.0
 *
 * When host functions and stream callbacks really ran. Used by the table's rows that put one on a stream.
 */
#ifndef PTDS_HOSTFUNC_H
#define PTDS_HOSTFUNC_H

#include "interpose/state/call.h"

/* Before the call: puts a function of the shim's own in the place of the program's, which it calls with what it was given.
 * Changes nothing where nothing is recorded, or where the function may run more than once because a capture takes it. */
void hostfunc_wrap(struct call *C, CUstream stream, CUhostFn *function, void **data);
void hostfunc_wrap_callback(struct call *C, CUstream stream, CUstreamCallback *callback, void **data);

/* After it, whatever the result. */
void hostfunc_put(struct call *C);

void hostfunc_after_fork(void);

#endif

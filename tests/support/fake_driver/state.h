/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fake driver remembers: handles it has given out, captures, each thread's contexts, and its log.
 */
#ifndef PTDS_TESTS_FAKE_STATE_H
#define PTDS_TESTS_FAKE_STATE_H

#include "tests/support/fake_driver/fake_driver.h"

namespace fake
{

void note(const fake_entry &entry);
/* A call that is no row: noted only while a capture is open. */
void note_query(const char *symbol);
void note_lookup(const char *name, int version, unsigned long long flags, const char *found);

/* Leaves errno as FAKE_ERRNO says; FAKE_RESULT, or -1. */
void spoil_errno();
int forced_result();

CUresult new_stream(CUstream *out, unsigned flags);
CUresult end_stream(CUstream stream);
CUresult stream_flags(CUstream stream, unsigned *flags);
CUresult new_event(CUevent *out);
CUresult new_context(CUcontext *out);
CUresult new_graph_exec(CUgraphExec *out);
CUresult new_memory(uint64_t first, uint64_t *out);

CUresult push(CUcontext context);
CUresult pop(CUcontext *context);
CUresult set_current(CUcontext context);
CUcontext current();

CUresult begin_capture(bool twin, CUstream stream);
CUresult end_capture(bool twin, CUstream stream, CUgraph *graph);
CUresult is_capturing(bool twin, CUstream stream, CUstreamCaptureStatus *status);

/* Both answers of cuGetProcAddress: NULL in *found with a status. */
CUdriverProcAddressQueryResult look_up(const char *name, int version, unsigned long long flags, void **found);

} // namespace fake

#endif

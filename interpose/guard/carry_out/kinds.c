/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows of the table are work, by their class; those that differ from their class by name. Called for every call with
 * a stream.
 */
#include "interpose/guard/carry_out/kinds.h"

enum guard_kind kinds_of(const struct call *C)
{
    switch (C->api) {
    case API_cuStreamWaitEvent: return GUARD_AWAIT;
    case API_cuStreamSynchronize: return GUARD_SYNC;
    case API_cuStreamQuery: return GUARD_QUERY;
    case API_cuStreamAttachMemAsync: return GUARD_WORK;
    case API_cuGraphInstantiateWithParams: return GUARD_NOTHING; /* the upload; a launch waits for it by itself */
    default: break;
    }
    switch (api_rows[C->api].class_) {
    case PTDS_CLASS_EVENT: return GUARD_RECORD;
    case PTDS_CLASS_STREAM:
    case PTDS_CLASS_CAPTURE: return GUARD_NOTHING;
    default: return GUARD_WORK;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call with a stream is to the guard.
 */
#ifndef PTDS_KINDS_H
#define PTDS_KINDS_H

#include "interpose/state/call.h"

enum guard_kind {
    GUARD_NOTHING, /* tells about the stream, or changes it; orders nothing */
    GUARD_WORK,
    GUARD_RECORD, /* the program records an event */
    GUARD_AWAIT,  /* the stream waits for an event */
    GUARD_SYNC,   /* the host waits for the stream */
    GUARD_QUERY   /* the host asks whether it is done */
};

enum guard_kind kinds_of(const struct call *C);

#endif

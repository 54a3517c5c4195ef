/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of any kind, as the trace's version had them, in the structs of this one. For the reader's own files.
 */
#ifndef PTDS_ANALYSIS_TRACE_RECORDS_H
#define PTDS_ANALYSIS_TRACE_RECORDS_H

#include "analysis/trace/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

union any_record {
#define F(type, name, doc)
#define TAIL(type, name, doc)
#define REC(NAME, id, doc, fields) struct ptds_rec_##NAME NAME;
#include "interpose/trace/records.def"
};

/* The record's fixed part, zero-filled; returns how many bytes of the record it takes, 0 for a kind that is not known. The
 * record's size has been checked against what is there (record_at). */
uint32_t records_fixed(const struct trace *trace, const struct ptds_record *record, const unsigned char *bytes,
                       union any_record *fixed);

/* Kinds that are no definitions: threads write them among their calls. */
bool records_is_among_calls(uint16_t kind);

/* Hands out the records of some kinds that lie among the threads' calls (CALL itself, REGION, HOST_RUN, EDGE, DEVICE_TIME),
 * chunk by chunk and in a thread's order: the fixed part, zero-filled to the size of its struct, and the uid of the thread
 * whose chunk it is in. kinds: a bit (1 << PTDS_REC_...) each. An EDGE is about the CALL that comes next in its thread. */
typedef void (*records_fn)(void *data, uint32_t thread, uint16_t kind, const void *fixed);
void records_each(const struct trace *trace, uint32_t kinds, records_fn each, void *data);

#ifdef __cplusplus
}
#endif
#endif

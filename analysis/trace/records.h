/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of any kind, as the trace's version had them, in the structs of this one. For the reader's own files.
 */
#ifndef PTDS_ANALYSIS_TRACE_RECORDS_H
#define PTDS_ANALYSIS_TRACE_RECORDS_H

#include "analysis/trace/reader.h"

union any_record {
#define F(type, name, doc)
#define TAIL(type, name, doc)
#define REC(NAME, id, doc, fields) struct ptds_rec_##NAME NAME;
#include "interpose/trace/records.def"
};

/* The record's fixed part, zero-filled; returns how many bytes of the record it takes, 0 for a kind that is not known. The
 * record's size has been checked against what is there (record_at). */
uint32_t record_fixed(const struct trace *trace, const struct ptds_record *record, const unsigned char *bytes,
                      union any_record *fixed);

/* Kinds that are no definitions: threads write them among their calls. */
bool record_is_among_calls(uint16_t kind);

#endif

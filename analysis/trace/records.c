/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes records apart, and hands out those that stand among a thread's calls. Called by the reader's first pass and, later,
 * by whoever wants such records. The bytes are untrusted: sizes come from record_at alone.
 */
#include "analysis/trace/records.h"

#include <string.h>

uint32_t records_fixed(const struct trace *trace, const struct ptds_record *record, const unsigned char *bytes,
                       union any_record *fixed)
{
    uint32_t size = record->kind < 32 ? trace->fixed[record->kind] : 0;
    if (size > record->size)
        size = record->size;
    memset(fixed, 0, sizeof *fixed);
    memcpy(fixed, bytes, size < sizeof *fixed ? size : sizeof *fixed);
    return size;
}

bool records_is_among_calls(uint16_t kind)
{
    return kind == PTDS_REC_REGION || kind == PTDS_REC_HOST_RUN || kind == PTDS_REC_EDGE || kind == PTDS_REC_DEVICE_TIME;
}

void records_each(const struct trace *trace, uint32_t kinds, records_fn each, void *data)
{
    for (size_t i = 0; i < trace->chunks.count; i++) {
        const struct chunk_ref *chunk = &trace->chunks.items[i];
        const unsigned char *records = trace_chunk_records(trace, chunk);
        struct ptds_record record;
        for (uint32_t at = 0; records != NULL && record_at(records, chunk->bytes, at, &record) > 0; at += record.size) {
            union any_record fixed;
            if (record.kind < 32 && (kinds >> record.kind & 1) && records_fixed(trace, &record, records + at, &fixed) != 0)
                each(data, chunk->thread, record.kind, &fixed);
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcupti that does what a test says, and notes what it is asked: see scripted_cupti.h.
 */
#include "tests/interpose/scripted_cupti.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct scripted_cupti scripted_cupti;

EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = scripted_cupti.version;
    return scripted_cupti.version ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = scripted_cupti.now;
    return scripted_cupti.now ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

EXPORT CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
    *type = scripted_cupti.thread_ids;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                                  CUpti_BuffersCallbackCompleteFunc take)
{
    scripted_cupti.give = give;
    scripted_cupti.take = take;
    return scripted_cupti.refuses_callbacks ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    if (kind == scripted_cupti.refuses_kind)
        return CUPTI_ERROR_UNKNOWN;
    scripted_cupti.enabled |= UINT64_C(1) << kind;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + SCRIPTED_RECORD : buffer;
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
    scripted_cupti.flush_ms = time;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    if (kind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
        scripted_cupti.pushed = id;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *id)
{
    *id = scripted_cupti.pushed;
    if (kind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
        scripted_cupti.pops++;
    return CUPTI_SUCCESS;
}

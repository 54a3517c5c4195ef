/* SPDX-License-Identifier: Apache-2.0
 *
 * As much of a libcupti as libptds_cupti.so asks for: when an id is popped, there was a call with one kernel, which runs
 * for 1234 ns from the pop on. The id attached to it is the one that was there when the outermost call began, as measured
 * on an H100: a call of the runtime's if the program says so (fake_cupti_runtime), and then only if those are recorded. The
 * kernel's record comes before the id's. FAKE_CUPTI_VERSION: what it says it is. A subscriber is called once, when it
 * enables a domain; FAKE_CUPTI_REFUSES: there is one already.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cupti.h>

#define EXPORT __attribute__((visibility("default")))

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffer;
static size_t size, used;
static uint32_t correlation;
static uint64_t enabled; /* bits, by kind */
static __thread uint64_t pushed, at_entry;
static __thread int in_runtime;

static uint64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
    const char *other = getenv("FAKE_CUPTI_VERSION");
    errno = EBADF; /* a library may */
    *version = other ? (uint32_t)atoi(other) : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = now();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                                  CUpti_BuffersCallbackCompleteFunc take)
{
    request = give;
    complete = take;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    enabled |= UINT64_C(1) << kind;
    return CUPTI_SUCCESS;
}

/* The program calls the runtime, or comes back from there. */
EXPORT void fake_cupti_runtime(int enters)
{
    in_runtime = enters;
    at_entry = pushed;
}

static CUpti_CallbackFunc subscriber_function;

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user)
{
    (void)user;
    *subscriber = NULL;
    subscriber_function = callback;
    return getenv("FAKE_CUPTI_REFUSES") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
    (void)subscriber;
    if (enable)
        subscriber_function(NULL, domain, 0, NULL);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
    (void)time;
    return CUPTI_SUCCESS;
}

/* Under the lock. */
static void hand_over(void)
{
    uint8_t *full = buffer;
    buffer = NULL;
    if (full)
        complete(NULL, 0, full, size, used);
    used = 0;
}

EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&lock);
    hand_over();
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

static size_t size_of(const CUpti_Activity *record)
{
    return record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION ? sizeof(CUpti_ActivityExternalCorrelation)
                                                                    : sizeof(CUpti_ActivityKernel10);
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + size_of(*record) : from;
    if (next >= from + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    pushed = kind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 ? id : 0;
    return CUPTI_SUCCESS;
}

/* Under the lock. */
static void append(const void *record, size_t bytes)
{
    memcpy(buffer + used, record, bytes);
    used += bytes;
}

EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *id)
{
    CUpti_ActivityExternalCorrelation pair = {.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
    CUpti_ActivityKernel10 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
    size_t most = 0;
    uint64_t attached = in_runtime ? at_entry : pushed;
    uint64_t api = UINT64_C(1) << (in_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER);
    uint64_t needs = api | UINT64_C(1) << CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION |
                     UINT64_C(1) << CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    *id = pushed;
    if (!pushed || (enabled & needs) != needs)
        return CUPTI_ERROR_QUEUE_EMPTY;
    pthread_mutex_lock(&lock);
    if (buffer && size - used < sizeof pair + sizeof kernel)
        hand_over();
    if (!buffer)
        request(&buffer, &size, &most);
    pair.externalKind = kind;
    pair.externalId = attached;
    pair.correlationId = kernel.correlationId = ++correlation;
    kernel.start = now();
    kernel.end = kernel.start + 1234;
    append(&kernel, sizeof kernel);
    if (attached)
        append(&pair, sizeof pair);
    pthread_mutex_unlock(&lock);
    pushed = 0;
    return CUPTI_SUCCESS;
}

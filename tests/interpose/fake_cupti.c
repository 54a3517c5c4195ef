/* SPDX-License-Identifier: Apache-2.0
 *
 * As much of a libcupti as libptds_cupti.so asks for: when an id is popped, there was a call with one kernel, which runs
 * for 1234 ns (or what fake_cupti_work says) from the pop on. As measured on an H100, a call of the runtime's, if the
 * program says that it makes one (fake_cupti_runtime), is the one that is recorded, with what is done within it, and the
 * id attached is the one that was there when it began; of a thread without one there is none. A driver call's record
 * begins when the driver has it. The work's records come before the call's, or after, in turn. FAKE_CUPTI_VERSION: what it
 * says it is. FAKE_CUPTI_THREADS=system: threads are named by their tid. A subscriber is called once, when it enables a
 * domain; FAKE_CUPTI_REFUSES: there is one already.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cupti.h>

#define EXPORT __attribute__((visibility("default")))

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffer;
static size_t size, used;
static uint32_t correlation;
static uint64_t enabled; /* bits, by kind */
static __thread uint64_t pushed;

/* The outermost call that the thread is in, with what it has done on the device. */
#define MOST_WORK 4
static __thread struct outermost {
    int runtime;
    uint32_t correlation;
    uint64_t attached, start;
    CUpti_ActivityKernel10 work[MOST_WORK];
    int works;
} outermost;
static __thread uint64_t next_ns;
static __thread CUpti_ActivityKind next_kind;

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

static size_t size_of(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
    default: return sizeof(CUpti_ActivityKernel10);
    }
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + size_of((*record)->kind) : from;
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

EXPORT CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
    const char *threads = getenv("FAKE_CUPTI_THREADS");
    *type = threads && !strcmp(threads, "system") ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                                  : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
    return CUPTI_SUCCESS;
}

static uint32_t thread_id(void)
{
    CUpti_ActivityThreadIdType type;
    cuptiGetThreadIdType(&type);
    return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? (uint32_t)syscall(SYS_gettid)
                                                        : (uint32_t)(uintptr_t)pthread_self();
}

/* Under the lock. */
static void append(CUpti_ActivityKind kind, void *record)
{
    size_t most = 0, bytes = size_of(kind);
    if (!(enabled & UINT64_C(1) << kind))
        return;
    if (buffer && size - used < bytes)
        hand_over();
    if (!buffer)
        request(&buffer, &size, &most);
    *(CUpti_ActivityKind *)record = kind;
    memcpy(buffer + used, record, bytes);
    used += bytes;
}

static void work_began(CUpti_ActivityKind kind, uint64_t ns)
{
    CUpti_ActivityMemcpy6 copy = {.correlationId = outermost.correlation};
    CUpti_ActivityMemset4 set = {.correlationId = outermost.correlation};
    CUpti_ActivityKernel10 *work = &outermost.work[outermost.works++];
    copy.start = set.start = now();
    copy.end = set.end = copy.start + ns;
    memset(work, 0, sizeof *work);
    work->kind = kind;
    work->correlationId = outermost.correlation;
    work->start = copy.start;
    work->end = copy.end;
    if (kind == CUPTI_ACTIVITY_KIND_MEMCPY)
        memcpy(work, &copy, sizeof copy);
    if (kind == CUPTI_ACTIVITY_KIND_MEMSET)
        memcpy(work, &set, sizeof set);
    work->kind = kind;
}

/* Under the lock. */
static void append_work(void)
{
    for (int i = 0; i < outermost.works; i++)
        append(outermost.work[i].kind, &outermost.work[i]);
    outermost.works = 0;
}

static void call_begins(int runtime)
{
    outermost.runtime = runtime;
    outermost.correlation = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED);
    outermost.attached = pushed;
    outermost.start = now();
}

static void call_ends(void)
{
    CUpti_ActivityExternalCorrelation pair = {.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0,
                                              .externalId = outermost.attached,
                                              .correlationId = outermost.correlation};
    CUpti_ActivityAPI call = {.start = outermost.start, .end = now(), .correlationId = outermost.correlation};
    CUpti_ActivityKind kind = outermost.runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
    call.threadId = thread_id();
    pthread_mutex_lock(&lock);
    if (outermost.correlation % 2)
        append_work();
    if (outermost.attached && enabled & UINT64_C(1) << kind)
        append(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, &pair);
    append(kind, &call);
    append_work();
    pthread_mutex_unlock(&lock);
    outermost = (struct outermost){0};
}

/* The program calls the runtime, or comes back from there. */
EXPORT void fake_cupti_runtime(int enters)
{
    if (enters)
        call_begins(1);
    else
        call_ends();
}

/* What the thread's next operation does on the device. */
EXPORT void fake_cupti_work(CUpti_ActivityKind kind, uint64_t ns)
{
    next_kind = kind;
    next_ns = ns;
}

/* Within a call of the runtime: it does this besides. */
EXPORT void fake_cupti_besides(CUpti_ActivityKind kind, uint64_t ns)
{
    work_began(kind, ns);
}

EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *id)
{
    (void)kind;
    *id = pushed;
    if (!pushed)
        return CUPTI_ERROR_QUEUE_EMPTY;
    int runtime = outermost.runtime;
    if (!runtime)
        call_begins(0);
    work_began(next_ns ? next_kind : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, next_ns ? next_ns : 1234);
    next_ns = 0;
    if (!runtime)
        call_ends();
    pushed = 0;
    return CUPTI_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * libptds_cupti.so: device times of kernels, copies and memsets from CUPTI's activity records. Loaded by the shim on
 * request, in a process of its own choosing; CUPTI starts a thread there and makes each launch longer, by some three
 * microseconds through the driver or the runtime (H100; tests/bench/README.md). Libcupti is opened at run time, of the very
 * version that this was built with, since its records' layouts change. Must never call CUDA.
 */
#include "interpose/cupti/cupti.h"

#if defined(__has_include) && __has_include(<cupti.h>)

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cupti.h>

#include "interpose/base/first_glibc.h"
#include "interpose/cupti/first.h"

OF_FIRST_GLIBC(dlopen);
OF_FIRST_GLIBC(dlsym);

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define MAJOR (CUPTI_API_VERSION / 10000)

#define FUNCTIONS(X) \
    X(cuptiGetVersion) \
    X(cuptiGetTimestamp) \
    X(cuptiGetThreadIdType) \
    X(cuptiActivityRegisterCallbacks) \
    X(cuptiActivityEnable) \
    X(cuptiActivityGetNextRecord) \
    X(cuptiActivityFlushAll) \
    X(cuptiActivityFlushPeriod) X(cuptiActivityPushExternalCorrelationId) X(cuptiActivityPopExternalCorrelationId)
static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
} cupti;

#define BUFFER_SIZE (1u << 20)
#define ALIGNMENT 8u
#define FLUSH_MS 200u

static struct cupti_shim shim;

/* What CUPTI tells of a call, by its correlation id, the latest of each slot. The parts come in any order. Filled and read
 * by the thread that has a buffer; CUPTI hands them out one at a time. */
#define SLOTS (1u << 16)
static struct slot {
    uint32_t correlation;
    uint16_t seen;       /* bits, by enum cupti_work */
    uint16_t only;       /* the kind that the operation is of; 0: not asked */
    uint64_t ticket;     /* 0: not known yet */
    uint64_t start, end; /* came before the ticket; start 0: not */
} slots[SLOTS];

/* CUPTI attaches the external id that is on the thread's stack when the outermost call begins (measured on an H100,
 * CUPTI 13.0): where a program calls the runtime, that is before the shim sees anything. So each thread has the id of its
 * next operation there, a ticket, and which call that became is noted when it is made. Where nothing of the thread's came
 * before its first operation's outermost call, that call has no id, and its own record tells (first.h). */
static uint64_t tickets;
static __thread uint64_t own_ticket; /* of the thread's next operation; 0: none yet */

/* By ticket. Two threads may write one entry at a time: then neither is believed. */
static struct call {
    uint64_t check; /* id ^ ticket */
    uint64_t id;
} calls[SLOTS];

static uint64_t call_of(uint64_t wanted)
{
    const struct call *call = &calls[wanted % SLOTS];
    uint64_t check = __atomic_load_n(&call->check, __ATOMIC_ACQUIRE), id = __atomic_load_n(&call->id, __ATOMIC_RELAXED);
    return (check ^ id) == wanted ? id : 0;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    void *memory = NULL;
    *records = 0;
    *size = posix_memalign(&memory, ALIGNMENT, BUFFER_SIZE) == 0 ? BUFFER_SIZE : 0;
    *buffer = *size ? memory : NULL;
}

struct moment {
    uint64_t timestamp;
    uint32_t base;
};

static struct moment moment_now(void)
{
    struct moment now = {0, 0};
    uint64_t earliest = shim.ticks();
    if (cupti.cuptiGetTimestamp(&now.timestamp) == CUPTI_SUCCESS)
        now.base = shim.base(earliest, shim.ticks());
    return now;
}

static struct slot *slot_of(uint32_t correlation)
{
    struct slot *slot = &slots[correlation % SLOTS];
    if (slot->correlation != correlation)
        *slot = (struct slot){.correlation = correlation};
    return slot;
}

static void tell_ticket(const struct moment *moment, uint64_t ticket, uint64_t start, uint64_t end)
{
    uint64_t id = call_of(ticket);
    if (id) /* else made by a call that the shim did not see or record */
        shim.operation(id, moment->base, (int64_t)(start - moment->timestamp), (int64_t)(end - moment->timestamp));
}

static void tell(const struct moment *moment, enum cupti_work work, uint32_t correlation, uint64_t start, uint64_t end)
{
    struct slot *slot = slot_of(correlation);
    slot->seen |= (uint16_t)(1u << work);
    if (!start || end < start || (slot->only && slot->only != work))
        return; /* not timed, or not the operation's */
    if (slot->ticket) {
        tell_ticket(moment, slot->ticket, start, end);
        return;
    }
    slot->start = slot->start && slot->start < start ? slot->start : start;
    slot->end = slot->end > end ? slot->end : end;
}

static void learn_ticket(const struct moment *moment, struct slot *slot, uint64_t ticket)
{
    slot->ticket = ticket;
    if (slot->start)
        tell_ticket(moment, slot->ticket, slot->start, slot->end);
    slot->start = slot->end = 0;
}

static void learn(const struct moment *moment, const CUpti_ActivityExternalCorrelation *pair)
{
    if (pair->externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
        learn_ticket(moment, slot_of(pair->correlationId), pair->externalId);
}

/* A call of the runtime or the driver. Within a thread's first one modules may be loaded: not all is the operation's. */
static void learn_first(const struct moment *moment, const CUpti_ActivityAPI *call)
{
    struct slot *slot = &slots[call->correlationId % SLOTS];
    uint32_t work = 0;
    if (slot->correlation == call->correlationId && slot->ticket)
        return;
    uint64_t ticket = first_within(call->threadId, call->start, call->end, &work);
    slot = ticket ? slot_of(call->correlationId) : NULL;
    if (!slot || slot->seen & ~(1u << work))
        return;
    slot->only = (uint16_t)work;
    learn_ticket(moment, slot, ticket);
}

static void tell_of(const struct moment *moment, const CUpti_Activity *record)
{
    const CUpti_ActivityKernel10 *kernel = (const CUpti_ActivityKernel10 *)record;
    const CUpti_ActivityMemcpy6 *copy = (const CUpti_ActivityMemcpy6 *)record;
    const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: learn(moment, (const CUpti_ActivityExternalCorrelation *)record); break;
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        tell(moment, WORK_KERNEL, kernel->correlationId, kernel->start, kernel->end);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: tell(moment, WORK_COPY, copy->correlationId, copy->start, copy->end); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: tell(moment, WORK_MEMSET, set->correlationId, set->start, set->end); break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: learn_first(moment, (const CUpti_ActivityAPI *)record); break;
    default: break;
    }
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    CUpti_Activity *record = NULL;
    struct moment moment = moment_now();
    while (moment.base && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        tell_of(&moment, record);
    free(buffer);
}

static uint64_t timestamp(void)
{
    uint64_t now = 0;
    return cupti.cuptiGetTimestamp(&now) == CUPTI_SUCCESS ? now : 0;
}

/* As the records of calls have it. */
static uint32_t thread_id(void)
{
    CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
    cupti.cuptiGetThreadIdType(&type);
    return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? (uint32_t)syscall(SYS_gettid)
                                                        : (uint32_t)(uintptr_t)pthread_self();
}

static void next_ticket(void)
{
    uint64_t old;
    if (own_ticket)
        cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &old);
    own_ticket = __atomic_add_fetch(&tickets, 1, __ATOMIC_RELAXED);
    cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, own_ticket);
}

static void ready(void)
{
    if (!own_ticket)
        next_ticket();
}

static void operation(uint64_t id, enum cupti_work work)
{
    struct call *call = &calls[own_ticket % SLOTS];
    __atomic_store_n(&call->id, id, __ATOMIC_RELAXED);
    __atomic_store_n(&call->check, id ^ own_ticket, __ATOMIC_RELEASE);
    if (first_open())
        first_begins(thread_id(), own_ticket, work, timestamp());
}

static void done(void)
{
    if (first_open())
        first_ends(timestamp());
    next_ticket();
}

/* While CUPTI and the driver still work: before the destructors of either. */
static void flush_at_exit(void)
{
    cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

static const char *open_cupti(void)
{
    static const char *const places[] = {"libcupti.so.13", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                                         "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};
    void *library = NULL;
    uint32_t version = 0;
    for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "libcupti.so could not be loaded (is its folder in LD_LIBRARY_PATH?)";
#define X(name) \
    if (!(*(void **)&cupti.name = dlsym(library, #name))) \
        return "libcupti.so has no " #name;
    FUNCTIONS(X)
#undef X
    if (cupti.cuptiGetVersion(&version) != CUPTI_SUCCESS || version / 10000 != MAJOR)
        return "libcupti.so is of another CUDA release than " STRING(CUPTI_API_VERSION);
    return NULL;
}

static int enable(void)
{
    /* Ids are attached to the records of calls; of driver calls within the runtime's there are none. */
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,    CUPTI_ACTIVITY_KIND_MEMCPY,  CUPTI_ACTIVITY_KIND_MEMSET};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (cupti.cuptiActivityEnable(kinds[i]) != CUPTI_SUCCESS)
            return 0;
    }
    return 1;
}

const char *ptds_cupti_start(const struct cupti_shim *offered, struct cupti_tool *tool)
{
    if (offered->size != sizeof *offered)
        return "libptds_cupti.so is of another libptds";
    const char *problem = open_cupti();
    if (problem)
        return problem;
    shim = *offered;
    if (cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer) != CUPTI_SUCCESS || !enable())
        return "CUPTI refused (another tool may be using it)";
    cupti.cuptiActivityFlushPeriod(FLUSH_MS);
    atexit(flush_at_exit);
    *tool = (struct cupti_tool){ready, operation, done};
    return NULL;
}

#else

const char *ptds_cupti_start(const struct cupti_shim *offered, struct cupti_tool *tool)
{
    (void)offered;
    (void)tool;
    return "libptds_cupti.so was built without CUPTI's headers";
}

#endif

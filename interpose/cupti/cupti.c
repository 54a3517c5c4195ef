/* SPDX-License-Identifier: Apache-2.0
 *
 * libptds_cupti.so: device times of kernels, copies and memsets from CUPTI's activity records. Loaded by the shim on
 * request, in a process of its own choosing; CUPTI starts a thread there and makes each launch about a microsecond longer.
 * Libcupti is opened at run time, of the very version that this was built with, since its records' layouts change. Must
 * never call CUDA.
 */
#include "interpose/cupti/cupti.h"

#if defined(__has_include) && __has_include(<cupti.h>)

#include <dlfcn.h>
#include <stdlib.h>

#include <cupti.h>

#include "interpose/base/first_glibc.h"

OF_FIRST_GLIBC(dlopen);
OF_FIRST_GLIBC(dlsym);

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define MAJOR (CUPTI_API_VERSION / 10000)

#define FUNCTIONS(X) \
    X(cuptiGetVersion) \
    X(cuptiGetTimestamp) \
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

/* CUPTI's correlation id -> ours, the latest of each slot. Filled and read by the thread that has a buffer; CUPTI hands
 * them out one at a time. */
#define SLOTS (1u << 16)
static struct {
    uint32_t correlation;
    uint64_t id;
} slots[SLOTS];

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    void *memory = NULL;
    *records = 0;
    *size = posix_memalign(&memory, ALIGNMENT, BUFFER_SIZE) == 0 ? BUFFER_SIZE : 0;
    *buffer = *size ? memory : NULL;
}

static void learn(const CUpti_Activity *record)
{
    const CUpti_ActivityExternalCorrelation *pair = (const CUpti_ActivityExternalCorrelation *)record;
    if (record->kind != CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION ||
        pair->externalKind != CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
        return;
    slots[pair->correlationId % SLOTS].correlation = pair->correlationId;
    slots[pair->correlationId % SLOTS].id = pair->externalId;
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

static void tell(const struct moment *moment, uint32_t correlation, uint64_t start, uint64_t end)
{
    uint32_t slot = correlation % SLOTS;
    if (slots[slot].correlation != correlation || !slots[slot].id || !start || end < start)
        return; /* not made by a call that the shim saw, or not timed */
    shim.operation(slots[slot].id, moment->base, (int64_t)(start - moment->timestamp), (int64_t)(end - moment->timestamp));
}

static void tell_of(const struct moment *moment, const CUpti_Activity *record)
{
    const CUpti_ActivityKernel10 *kernel = (const CUpti_ActivityKernel10 *)record;
    const CUpti_ActivityMemcpy6 *copy = (const CUpti_ActivityMemcpy6 *)record;
    const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)record;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: tell(moment, kernel->correlationId, kernel->start, kernel->end); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: tell(moment, copy->correlationId, copy->start, copy->end); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: tell(moment, set->correlationId, set->start, set->end); break;
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
    while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        learn(record);
    for (record = NULL; moment.base && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS;)
        tell_of(&moment, record);
    free(buffer);
}

static void push(uint64_t id)
{
    cupti.cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id);
}

static void pop(void)
{
    uint64_t id;
    cupti.cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id);
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
    /* Ids are attached to the records of driver calls. */
    static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_DRIVER,
                                               CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                               CUPTI_ACTIVITY_KIND_MEMSET};
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
    *tool = (struct cupti_tool){push, pop};
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

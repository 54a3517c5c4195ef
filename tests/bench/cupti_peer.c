/* SPDX-License-Identifier: Apache-2.0
 *
 * libbench_cupti.so: what people use today to see driver calls, at its cheapest, for scripts/bench to compare with. The
 * driver loads it by CUDA_INJECTION64_PATH. BENCH_CUPTI=callbacks: an empty callback for every driver call; =activity:
 * records of driver calls and kernels, dropped unread. At the end it writes into the file BENCH_CUPTI_LOG how many
 * callbacks (0 or 1) or buffers came, so that a run in which CUPTI did nothing is not taken for a cheap one. Must never
 * call CUDA; the callback must do nothing.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti.h>

#define FUNCTIONS(X) \
    X(cuptiSubscribe) \
    X(cuptiEnableDomain) X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable) X(cuptiActivityFlushAll)
static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
} cupti;

enum { BUFFER_SIZE = 4 << 20, ALIGNMENT = 8 };

static unsigned came;
static const char *problem = "not asked";

/* Reads a word that all threads share, and writes it once. */
static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)data;
    if (!came)
        came = 1;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
    void *memory = NULL;
    *records = 0;
    *size = posix_memalign(&memory, ALIGNMENT, BUFFER_SIZE) == 0 ? BUFFER_SIZE : 0;
    *buffer = *size ? memory : NULL;
}

static void CUPTIAPI drop_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    __atomic_add_fetch(&came, valid != 0, __ATOMIC_RELAXED);
    free(buffer);
}

static const char *open_cupti(void)
{
    static const char *const places[] = {"libcupti.so.13", "libcupti.so", "/usr/local/cuda/lib64/libcupti.so",
                                         "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                         "/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcupti.so.13"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof places / sizeof *places; i++)
        library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "no libcupti.so (is its folder in LD_LIBRARY_PATH?)";
#define X(name) \
    if (!(*(void **)&cupti.name = dlsym(library, #name))) \
        return "libcupti.so has no " #name;
    FUNCTIONS(X)
#undef X
    return NULL;
}

static const char *start_callbacks(void)
{
    CUpti_SubscriberHandle subscriber;
    if (cupti.cuptiSubscribe(&subscriber, on_call, NULL) != CUPTI_SUCCESS ||
        cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS)
        return "CUPTI refused callbacks";
    return NULL;
}

static void flush(void)
{
    cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

static const char *start_activity(void)
{
    if (cupti.cuptiActivityRegisterCallbacks(give_buffer, drop_buffer) != CUPTI_SUCCESS ||
        cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER) != CUPTI_SUCCESS ||
        cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
        return "CUPTI refused activity records";
    atexit(flush);
    return NULL;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("BENCH_CUPTI_LOG");
    FILE *log = path ? fopen(path, "w") : NULL;
    if (!log)
        return;
    if (problem)
        fprintf(log, "0 %s\n", problem);
    else
        fprintf(log, "%u came\n", came);
    fclose(log);
}

/* The name that the driver calls in an injected library. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
    const char *asked = getenv("BENCH_CUPTI");
    problem = open_cupti();
    if (!problem && asked)
        problem = strcmp(asked, "activity") == 0 ? start_activity() : start_callbacks();
    return 1;
}

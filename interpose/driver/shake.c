/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which operations are delayed, and stands before the driver's functions that put work on a stream. Called by every
 * caller of driver_real, under every policy, with the stream on which the work really goes. Must add no order: a delay lies
 * on the stream of the operation itself, right before the operation, as if the work before it had taken longer.
 */
#include "interpose/driver/shake.h"

#include "interpose/driver/driver.h"
#include "interpose/env/env.h"

#define NOT_A_STREAM ((CUstream) ~(uintptr_t)0)
enum { OFTEN = 256, ONE_IN = 4 };

static void *behind[API_COUNT][2];
static uint32_t threads;
static __thread uint32_t own_number __attribute__((tls_model("initial-exec"))); /* plus one */
static __thread uint32_t operations __attribute__((tls_model("initial-exec")));

/* The mixing function of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* From less than a small kernel's time to more than most kernels' times. */
uint32_t shake_delay_ns(uint32_t seed, uint32_t thread, uint32_t n)
{
    static const uint32_t lengths[] = {20000, 100000, 1000000, 5000000};
    uint64_t random = mix(mix((uint64_t)seed << 32 | thread) ^ n);
    uint32_t one_in = n < OFTEN ? ONE_IN : n / (OFTEN / ONE_IN);
    return (random >> 8) % one_in == 0 ? lengths[random % 4] : 0;
}

int shake_wanted(void)
{
    const struct env *env = env_get();
    return env->shake != 0 && !env->disable;
}

/* stream: as the driver's function gets it; a twin means the thread's own by 0. */
static void delay(CUstream stream, int twin)
{
    if (stream == NOT_A_STREAM)
        return;
    if (!own_number)
        own_number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    uint32_t ns = shake_delay_ns(env_get()->shake, own_number - 1, operations++);
    if (ns != 0)
        shake_spin(!stream && twin ? CU_STREAM_PER_THREAD : stream, ns);
}

#define SHAKEN(function, symbol, twin_index, params, args, stream) \
    static CUresult shaken_##function params \
    { \
        delay(stream, twin_index); \
        return ((__typeof__(&function))behind[API_##symbol][twin_index])args; \
    }

/* By the route column: the stream that the function gets. */
#define ON_NO_STREAM NOT_A_STREAM
#define ON_STREAM(s) s
#define ON_STREAM2(s, t) s
#define ON_STREAM_AT(p) ((p) ? *(p) : NOT_A_STREAM)
#define ON_CONFIG(c) ((c) ? (c)->hStream : NOT_A_STREAM)
#define ON_UPLOAD(p) NOT_A_STREAM
#define ON_KEEP(s) s
#define ON_KEEP_IF(s, condition) s
#define ON_MULTI(l, n) NOT_A_STREAM
#define ON_LEGACY NULL

/* By class: work that reads or writes memory. */
#define OF_COPY(...) SHAKEN(__VA_ARGS__)
#define OF_GRAPH(...) SHAKEN(__VA_ARGS__)
#define OF_HOSTFUNC(...) SHAKEN(__VA_ARGS__)
#define OF_LAUNCH(...) SHAKEN(__VA_ARGS__)
#define OF_MEMOP(...) SHAKEN(__VA_ARGS__)
#define OF_MEMSET(...) SHAKEN(__VA_ARGS__)
#define OF_PREFETCH(...)
#define OF_ALLOC(...)
#define OF_EVENT(...)
#define OF_SEMAPHORE(...)
#define OF_STREAM(...)
#define OF_SYNC(...)
#define OF_CAPTURE(...)
#define OF_CONFIG(...)
#define OF_CONTEXT(...)
#define OF_ENTRY(...)
#define OF_GRAPHICS(...)
#define OF_INTEROP(...)
#define OF_MODULE(...)
#define OF_QUERY(...)

#define API(symbol, since, route, class_, timing, told, params, args, before, after) \
    OF_##class_(symbol, symbol, 0, params, args, ON_##route)
#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, params, args, before, after) \
    OF_##class_(symbol, symbol, 0, params, args, ON_##route) OF_##class_(symbol##_ptsz, symbol, 1, params, args, ON_##route)
#define API_PTDS(symbol, since, twin_since, async_form, class_, timing, told, params, args, before, after) \
    OF_##class_(symbol, symbol, 0, params, args, CU_STREAM_LEGACY) \
        OF_##class_(symbol##_ptds, symbol, 1, params, args, CU_STREAM_PER_THREAD)
#include "interpose/api/api.def"

/* The same rows once more, as data. */
#undef SHAKEN
#define SHAKEN(function, symbol, twin_index, params, args, stream) [API_##symbol][twin_index] = (void *)shaken_##function,
static void *const shaken[API_COUNT][2] = {
#define API(symbol, since, route, class_, timing, told, params, args, before, after) \
    OF_##class_(symbol, symbol, 0, params, args, NULL)
#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, params, args, before, after) \
    OF_##class_(symbol, symbol, 0, params, args, NULL) OF_##class_(symbol##_ptsz, symbol, 1, params, args, NULL)
#define API_PTDS(symbol, since, twin_since, async_form, class_, timing, told, params, args, before, after) \
    OF_##class_(symbol, symbol, 0, params, args, NULL) OF_##class_(symbol##_ptds, symbol, 1, params, args, NULL)
#include "interpose/api/api.def"
};

__typeof__(&cuLaunchKernel) shake_launch(void)
{
    return (__typeof__(&cuLaunchKernel))behind[API_cuLaunchKernel][0];
}

int shake_row(int id, int twin)
{
    return shaken[id][twin] != NULL && shake_wanted();
}

void shake_begin(void)
{
    for (int id = 0; shake_wanted() && id < API_COUNT; id++) {
        for (int twin = 0; twin < 2; twin++) {
            if (!shaken[id][twin] || !driver_real[id][twin])
                continue;
            behind[id][twin] = driver_real[id][twin];
            driver_replace(id, twin, shaken[id][twin]);
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The knobs (SIM_... variables, README.md) and the counters that tests read. Every exported function passes through
 * call_enter first. Must never read the environment after the first call: a test's own changes come before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/sim.h"

#include "tests/sim/arguments.h"
#include "tests/sim/sim_test_api.h"

static struct {
    int driver_version, devices, log;
    uint64_t launch_ns;
    size_t spacing;
    bool load_holds, overtake, thread_end_hangs, pageable, loses_errno, claims_abort, tells_unknown;
} knob = {.driver_version = 13000, .devices = 2, .log = -1};

int knob_driver_version(void)
{
    return knob.driver_version;
}
int knob_devices(void)
{
    return knob.devices;
}
bool knob_pageable(void)
{
    return knob.pageable;
}
uint64_t knob_launch_ns(void)
{
    return knob.launch_ns;
}
bool knob_load_holds(void)
{
    return knob.load_holds;
}

bool knob_small_copies_overtake(void)
{
    return knob.overtake;
}

bool knob_thread_end_hangs(void)
{
    return knob.thread_end_hangs;
}

size_t knob_spacing(void)
{
    return knob.spacing;
}

bool knob_claims_abort(void)
{
    return knob.claims_abort;
}

bool knob_tells_unknown(void)
{
    return knob.tells_unknown;
}

static struct entry *entry_named(const char *symbol, size_t length)
{
    for (int i = 0; i < sim_entry_count; i++)
        if (strlen(sim_entries[i].symbol) == length && memcmp(sim_entries[i].symbol, symbol, length) == 0)
            return &sim_entries[i];
    fprintf(stderr, "sim: no such symbol: %.*s\n", (int)length, symbol);
    abort();
}

static void set_hidden(struct entry *e, const char *rest)
{
    (void)rest;
    e->hidden = true;
}

static void set_fail(struct entry *e, const char *rest)
{
    int code = 0;
    if (sscanf(rest, ":%lu:%d", &e->fail_at, &code) != 2)
        fprintf(stderr, "sim: SIM_FAIL wants symbol:N:code\n"), abort();
    e->fail_code = (CUresult)code;
}

static void set_delay(struct entry *e, const char *rest)
{
    e->delay_ns = strtoull(rest + (*rest == ':'), NULL, 0);
}

static void set_keeps_errno(struct entry *e, const char *rest)
{
    (void)rest;
    e->keeps_errno = true;
}

static void set_nap(struct entry *e, const char *rest)
{
    if (sscanf(rest, ":%lu:%lu", &e->nap_at, &e->nap_ns) != 2)
        fprintf(stderr, "sim: SIM_NAP wants symbol:N:ns\n"), abort();
}

/* A comma list of symbol[:rest]. */
static void for_each(const char *variable, void (*set)(struct entry *, const char *))
{
    const char *item = getenv(variable);
    while (item && *item) {
        size_t length = strcspn(item, ":,");
        if (length)
            set(entry_named(item, length), item + length);
        item += strcspn(item, ",");
        item += *item == ',';
    }
}

static long number(const char *variable, long otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtol(value, NULL, 0) : otherwise;
}

/* A variable that is not set, empty or that one word. */
static bool is_word(const char *variable, const char *word)
{
    const char *value = getenv(variable);
    if (!value || !*value)
        return false;
    if (strcmp(value, word) != 0)
        fprintf(stderr, "sim: %s is %s or nothing\n", variable, word), abort();
    return true;
}

/* As a driver has it: the program's choice goes before its own. */
static unsigned int queues(void)
{
    long own = number("SIM_QUEUES", 0), chosen = number("CUDA_DEVICE_MAX_CONNECTIONS", 0);
    if (own < 0 || own > 32)
        fprintf(stderr, "sim: SIM_QUEUES is 1 to 32\n"), abort();
    return (unsigned int)(own && chosen >= 1 && chosen <= 32 ? chosen : own);
}

/* As drivers do: not before the first work, so that whoever chooses may do so before cuInit. */
unsigned int knob_queues(void)
{
    static unsigned int read; /* + 1 */
    unsigned int now = __atomic_load_n(&read, __ATOMIC_RELAXED);
    if (!now)
        __atomic_store_n(&read, now = queues() + 1, __ATOMIC_RELAXED);
    return now - 1;
}

static void load(void)
{
    static const char *const early[] = {
        "cuInit",         "cuGetProcAddress", "cuGetProcAddress_v2", "cuDriverGetVersion",
        "cuGetErrorName", "cuGetErrorString", "cuGetExportTable",    "cuThreadExchangeStreamCaptureMode"};
    knob.driver_version = (int)number("SIM_DRIVER_VERSION", 13000);
    knob.devices = (int)number("SIM_DEVICES", 2);
    if (knob.devices < 0 || knob.devices > MAX_DEVICES)
        fprintf(stderr, "sim: SIM_DEVICES is 0 to %d\n", MAX_DEVICES), abort();
    knob.pageable = number("SIM_PAGEABLE", 0) != 0;
    knob.launch_ns = (uint64_t)number("SIM_LAUNCH_NS", 0);
    knob.load_holds = number("SIM_LOAD_HOLDS", 0) != 0;
    knob.spacing = (size_t)number("SIM_SPACING", 0);
    queues(); /* whether it can be */
    knob.overtake = is_word("SIM_SMALL_COPIES", "overtake");
    knob.thread_end_hangs = is_word("SIM_THREAD_END", "hang");
    knob.claims_abort = !is_word("SIM_CLAIMS", "tell");
    knob.tells_unknown = is_word("SIM_UNKNOWN", "tell");
    for_each("SIM_HIDE", set_hidden);
    for_each("SIM_FAIL", set_fail);
    for_each("SIM_DELAY", set_delay);
    for_each("SIM_NAP", set_nap);
    for_each("SIM_ERRNO_BUT", set_keeps_errno);
    knob.loses_errno = getenv("SIM_ERRNO_BUT") != NULL;
    for (size_t i = 0; i < COUNT_OF(early); i++)
        entry_named(early[i], strlen(early[i]))->before_init = true;
    for (int i = 0; i < sim_entry_count; i++) {
        struct entry *e = &sim_entries[i];
        e->hidden = e->hidden || e->since > knob.driver_version;
        if (e->hidden)
            hide_symbol(e->address);
    }
    arguments_wanted = number("SIM_LOG_ARGUMENTS", 0) != 0;
    const char *log = getenv("SIM_LOG");
    if (log && *log && (knob.log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0)
        fprintf(stderr, "sim: SIM_LOG %s: %s\n", log, strerror(errno)), abort();
}

void knobs_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
}

/* Before anybody can look a hidden symbol up. */
__attribute__((constructor)) static void at_load(void)
{
    knobs_load();
}

static void log_call(const struct entry *e, uintptr_t stream, uint64_t thread)
{
    char line[700], handle[24] = "-";
    if (stream != NO_HANDLE)
        snprintf(handle, sizeof handle, "0x%llx", (unsigned long long)stream);
    int length =
        snprintf(line, sizeof line, "%s %s %llu%s\n", e->symbol, handle, (unsigned long long)thread, arguments_kept());
    if (write(knob.log, line, (size_t)length) != length)
        abort();
}

static void busy_wait(uint64_t ns)
{
    for (uint64_t end = sim_now_ns() + ns; sim_now_ns() < end;) {
    }
}

/* A cancellation point, as a driver's own waits are. */
static void nap(unsigned long ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&t, NULL);
}

CUresult call_enter(int index, bool twin, uintptr_t stream)
{
    struct entry *e = &sim_entries[index];
    struct thread *self = thread_self();
    knobs_load();
    if (e->hidden)
        return CUDA_ERROR_NOT_FOUND;
    if (knob.loses_errno && !e->keeps_errno)
        errno = EXDEV; /* as no driver does by itself, and any may */
    unsigned long count = __atomic_add_fetch(&e->calls, 1, __ATOMIC_RELAXED);
    if (stream != NO_HANDLE)
        __atomic_store_n(&e->last_stream, stream, __ATOMIC_RELAXED);
    if (knob.log >= 0)
        log_call(e, stream, self->id);
    if (e->delay_ns)
        busy_wait(e->delay_ns);
    if (e->nap_at == count)
        nap(e->nap_ns);
    if (__atomic_load_n(&e->fail_at, __ATOMIC_RELAXED) == count) {
        if (e->fail_code == CUDA_ERROR_OUT_OF_MEMORY)
            errno = ENOMEM; /* as what it asked for memory would */
        return e->fail_code;
    }
    if (!e->before_init && !sim_initialised())
        return CUDA_ERROR_NOT_INITIALIZED;
    if (e->row && self->in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    self->twin = twin;
    return CUDA_SUCCESS;
}

/* ---- the interface for tests in the same process: sim_test_api.h ---- */

unsigned long sim_calls(const char *symbol)
{
    return __atomic_load_n(&entry_named(symbol, strlen(symbol))->calls, __ATOMIC_RELAXED);
}

uintptr_t sim_last_stream(const char *symbol)
{
    return __atomic_load_n(&entry_named(symbol, strlen(symbol))->last_stream, __ATOMIC_RELAXED);
}

void sim_reset_calls(void)
{
    for (int i = 0; i < sim_entry_count; i++) {
        __atomic_store_n(&sim_entries[i].calls, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&sim_entries[i].last_stream, 0, __ATOMIC_RELAXED);
    }
}

void sim_fail(const char *symbol, unsigned long calls_from_now, CUresult code)
{
    struct entry *e = entry_named(symbol, strlen(symbol));
    e->fail_code = code;
    unsigned long at = calls_from_now ? __atomic_load_n(&e->calls, __ATOMIC_RELAXED) + calls_from_now : 0;
    __atomic_store_n(&e->fail_at, at, __ATOMIC_RELAXED);
}

int sim_symbols(const char **symbols, int capacity)
{
    for (int i = 0; i < sim_entry_count && i < capacity; i++)
        symbols[i] = sim_entries[i].symbol;
    return sim_entry_count;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's side of libptds_cupti.so: loads it, tells it which call is under way, writes down what it says. The library
 * calls back on CUPTI's own thread, which must not call CUDA.
 */
#include "interpose/record/device/device_cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/cupti/cupti.h"
#include "interpose/driver/driver.h"
#include "interpose/record/append.h"
#include "interpose/record/file/define.h"
#include "interpose/record/recorder.h"

#define PLUGIN "libptds_cupti.so"

/* A call in 64 bits: thread uid << 48 | the low bits of its enter, whose high ones are those of the last hours. */
#define ENTER_BITS 48
#define MOST_THREADS UINT16_MAX
#define ENTER_MASK ((UINT64_C(1) << ENTER_BITS) - 1)

static struct cupti_tool tool;
static struct device_sample *const told = (struct device_sample *)&tool; /* C->sample: work, recorded or not */
static uint32_t bases = UINT32_C(1) << 31;                               /* apart from those of timing events */

static uint64_t ticks(void)
{
    return clock_ticks();
}

static uint32_t base(uint64_t earliest, uint64_t latest)
{
    struct ptds_rec_DEVICE_BASE record = {.earliest = earliest, .latest = latest, .source = PTDS_DEVICE_CUPTI};
    record.id = __atomic_add_fetch(&bases, 1, __ATOMIC_RELAXED);
    return recorder_on() && define(PTDS_REC_DEVICE_BASE, &record, sizeof record, NULL, 0) ? record.id : 0;
}

static uint64_t whole_enter(uint64_t low)
{
    uint64_t now = clock_ticks(), enter = (now & ~ENTER_MASK) | low;
    return enter > now ? enter - (ENTER_MASK + 1) : enter;
}

static void operation(uint64_t id, uint32_t base_id, int64_t start, int64_t end)
{
    struct thread *thread = recorder_on() ? thread_get_as_drivers() : NULL;
    struct ptds_rec_DEVICE_TIME *record = thread ? append_reserve(thread, PTDS_REC_DEVICE_TIME, sizeof *record) : NULL;
    if (!record)
        return;
    record->enter = whole_enter(id & ENTER_MASK);
    record->start = (uint64_t)start;
    record->end = (uint64_t)end;
    record->thread = (uint32_t)(id >> ENTER_BITS);
    record->base = base_id;
    append_commit(thread);
}

/* Beside the shim's own file. */
static int plugin_path(char path[1024])
{
    struct elf_object own;
    if (!loaded_containing((const void *)device_cupti_start, &own))
        return 0;
    const char *slash = strrchr(own.path, '/');
    size_t folder = slash ? (size_t)(slash - own.path) + 1 : 0;
    if (folder + sizeof PLUGIN > 1024)
        return 0;
    memcpy(path, own.path, folder);
    memcpy(path + folder, PLUGIN, sizeof PLUGIN);
    return 1;
}

static int find_start(const struct elf_object *object, void *start)
{
    if (!object->soname || strcmp(object->soname, PLUGIN) != 0)
        return 0;
    *(void **)start = elf_symbol(object, "ptds_cupti_start");
    return 1;
}

int device_cupti_start(void)
{
    static const struct cupti_shim shim = {sizeof shim, ticks, base, operation};
    cupti_start_function start = NULL;
    char path[1024] = PLUGIN;
    int saved = errno;
    if (plugin_path(path) && driver_load(path, RTLD_NOW | RTLD_LOCAL))
        loaded_each(find_start, &start);
    const char *problem = start ? start(&shim, &tool) : "it could not be loaded";
    if (problem)
        diag_once(DIAG_ERROR, "PTDS_DEVICE_TIMES=cupti: ", path, ": ", problem, "; no device times");
    errno = saved;
    return !problem;
}

static enum cupti_work work_of(uint8_t op)
{
    switch (op) {
    case PTDS_OP_LAUNCH: return WORK_KERNEL;
    case PTDS_OP_COPY: return WORK_COPY;
    case PTDS_OP_MEMSET: return WORK_MEMSET;
    default: return WORK_OTHER;
    }
}

/* Whether its thread fits into an id; that the others have no times is said. */
static int has_id(const struct call *C)
{
    if (C->thread->uid <= MOST_THREADS)
        return 1;
    diag_once(DIAG_ERROR,
              "PTDS_DEVICE_TIMES=cupti: more than 65535 threads have called CUDA; no device times for later ones");
    return 0;
}

void device_cupti_before(struct call *C)
{
    int saved = errno, works = C->op >= PTDS_OP_LAUNCH && C->op <= PTDS_OP_OPAQUE;
    tool.ready();
    if (works)
        C->sample = told;
    if (works && C->enter && has_id(C)) {
        tool.operation((uint64_t)C->thread->uid << ENTER_BITS | (C->enter & ENTER_MASK), work_of(C->op));
        C->flags |= PTDS_CALL_TIMED; /* beside the device's time the host's is wanted, too */
    }
    errno = saved;
}

void device_cupti_after(struct call *C)
{
    int saved = errno;
    tool.done();
    C->sample = NULL;
    errno = saved;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks, at the end of recording, for calls that may have reached the driver past the doors: other copies of the driver,
 * other hooks, libraries that export its functions, drivers of dlmopen namespaces and their users, libraries that
 * RTLD_DEEPBIND has bound past the shim. Says only what the loaded objects show. Called by finish_recording, and by the
 * dlopen door for names to look for then: there it must not allocate, lock or fail.
 */
#include "interpose/record/bypass.h"

#include <string.h>

#include "interpose/base/audited.h"
#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/base/slots.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/others.h"
#include "interpose/record/recorder.h"

/* File names, without folders. */
enum { DEEP = 16, DEEP_NAME = 64 };
static struct {
    char name[DEEP_NAME];
    uint32_t there;
} deep[DEEP];
static uint32_t deep_count;

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int is_deep(const char *name)
{
    for (int i = 0; i < DEEP; i++) {
        if (__atomic_load_n(&deep[i].there, __ATOMIC_ACQUIRE) && strcmp(deep[i].name, name) == 0)
            return 1;
    }
    return 0;
}

void bypass_opened_deep(const char *file)
{
    const char *name = file_of(file);
    size_t size = strlen(name);
    if (size == 0 || size >= DEEP_NAME || is_deep(name))
        return;
    uint32_t at = __atomic_load_n(&deep_count, __ATOMIC_RELAXED);
    do {
        if (at == DEEP)
            return;
    } while (!__atomic_compare_exchange_n(&deep_count, &at, at + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    memcpy(deep[at].name, name, size);
    __atomic_store_n(&deep[at].there, 1, __ATOMIC_RELEASE);
}

static int is_driver_file(const struct elf_object *object)
{
    return strncmp(file_of(object->path), "libcuda.so", 10) == 0;
}

static int note_namespace(const struct elf_object *object, void *to_record)
{
    if (!is_driver_file(object))
        return 0;
    if (to_record)
        recorder_bypass(PTDS_BYPASS_NAMESPACE, object->path, 0);
    return 1;
}

int bypass_in_a_namespace(void)
{
    return loaded_each_elsewhere(note_namespace, NULL);
}

/* The objects that the auditor saw using such a driver; without an auditor, or if it saw none, the driver itself. */
static void note_namespaces(void)
{
    int to_record = 1;
    for (int i = 0; i < AUDITED_OBJECTS; i++) {
        const struct audited_object *user = &ptds_audited.elsewhere[i];
        if (!__atomic_load_n(&user->named, __ATOMIC_ACQUIRE))
            continue;
        recorder_bypass(PTDS_BYPASS_NAMESPACE_USER, user->name, __atomic_load_n(&user->functions, __ATOMIC_RELAXED));
        to_record = 0;
    }
    if (to_record)
        loaded_each_elsewhere(note_namespace, &to_record);
}

/* How far an object's references show that it went past the shim. */
struct past {
    int calls, looks_up;
};

static int leads_to_libc(uintptr_t address)
{
    struct elf_object there;
    return loaded_containing((const void *)address, &there) && elf_is_libc(&there);
}

static void look_at(const struct elf_object *object, const struct slot *slot, void *data)
{
    struct past *past = data;
    uintptr_t now = __atomic_load_n(slot->at, __ATOMIC_ACQUIRE);
    int twin;
    (void)object;
    if (strncmp(slot->name, "cu", 2) == 0)
        past->calls |= driver_row((const void *)now, &twin) >= 0;
    else if (strcmp(slot->name, "dlsym") == 0 || strcmp(slot->name, "dlvsym") == 0)
        past->looks_up |= leads_to_libc(now);
}

static void note_deep(const struct elf_object *object)
{
    struct past past = {0};
    if (!is_deep(file_of(object->path)) && !(object->soname && is_deep(object->soname)))
        return;
    slots_each(object, look_at, &past);
    if (past.calls)
        recorder_bypass(PTDS_BYPASS_DEEPBIND, object->path, 0);
    else if (past.looks_up)
        recorder_bypass(PTDS_BYPASS_DEEPBIND_LOOKUP, object->path, 0);
}

static int note_object(const struct elf_object *object, void *drivers)
{
    if (is_driver_file(object) && ++*(int *)drivers > 1 && !driver_has((const void *)object->base))
        recorder_bypass(PTDS_BYPASS_DRIVER_COPY, object->path, 0);
    int is_libc =
        object->soname && (strncmp(object->soname, "libc.so", 7) == 0 || strncmp(object->soname, "libdl.so", 8) == 0);
    if (!is_libc && object->soname && strcmp(object->soname, "libptds.so") != 0 && elf_symbol(object, "dlsym"))
        recorder_bypass(PTDS_BYPASS_OTHER_HOOK, object->path, 0);
    if (__atomic_load_n(&deep_count, __ATOMIC_RELAXED))
        note_deep(object);
    return 0;
}

static void note_others(const struct elf_object *object, uint32_t functions, void *unused)
{
    char program[1024];
    (void)unused;
    recorder_bypass(PTDS_BYPASS_FUNCTIONS, loaded_path(object, program, sizeof program), functions);
}

void bypass_record(void)
{
    int drivers = 0;
    driver_look_behind();
    loaded_each(note_object, &drivers);
    others_each(note_others, NULL);
    note_namespaces();
}

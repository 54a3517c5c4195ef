/* SPDX-License-Identifier: Apache-2.0
 *
 * libptds_openmp.so: tells libptds.so what OpenMP's threads hand over to each other, which it cannot see, since GNU's
 * runtime wakes its threads by raw futexes. Preloaded beside it, for programs compiled by gcc. Called by the program
 * instead of libgomp's functions of these names (libgomp.map, from GOMP_1.0 to 5.0), to which all calls go on unchanged.
 * Must not change which runtime a call goes to, nor its result. Not seen: tasks, `ordered`, reductions over tasks, critical
 * sections and locks (they order nothing else either), and programs whose compiler is not gcc.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

extern int ptds_api_hand_over(const void *object) __attribute__((weak));
extern int ptds_api_take_over(const void *object) __attribute__((weak));

/* A parallel region: on the stack of the thread that began it, which leaves it last. */
struct region {
    void (*body)(void *);
    void *data;
    const void *caller;
};
static __thread const struct region *current;

static void hand_over(const void *object)
{
    if (ptds_api_hand_over && object)
        ptds_api_hand_over(object);
}

static void take_over(const void *object)
{
    if (ptds_api_take_over && object)
        ptds_api_take_over(object);
}

static bool is_own(const void *address)
{
    Dl_info info, own;
    return dladdr(address, &info) && dladdr((const void *)(size_t)&is_own, &own) && info.dli_fbase == own.dli_fbase;
}

/* What an object's own libraries have; but the main program's are all that anybody sees, this one among them. */
static void *look_in(const char *path, const char *name)
{
    void *object = path[0] != 0 ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!object)
        return NULL;
    void *function = dlsym(object, name);
    dlclose(object);
    return function && !is_own(function) ? function : NULL;
}

struct runtimes {
    char path[4][1024];
    unsigned count;
};

static int note_runtime(struct dl_phdr_info *object, size_t size, void *data)
{
    struct runtimes *runtimes = data;
    const char *slash = strrchr(object->dlpi_name, '/'), *file = slash ? slash + 1 : object->dlpi_name;
    bool is_runtime =
        strncmp(file, "libgomp", 7) == 0 || strncmp(file, "libomp", 6) == 0 || strncmp(file, "libiomp", 7) == 0;
    (void)size;
    if (is_runtime && strlen(object->dlpi_name) < sizeof runtimes->path[0])
        strcpy(runtimes->path[runtimes->count++], object->dlpi_name);
    return runtimes->count == sizeof runtimes->path / sizeof runtimes->path[0];
}

/* Where no definition is seen by all: what the caller's own libraries have, as those of a module that was opened by itself
 * with a runtime of its own; there may be several. A function that ends in the call has left, and who called it may know of
 * none: then the first that there is. */
static void *find_local(const char *name, const void *caller)
{
    struct runtimes runtimes = {.count = 0};
    Dl_info info;
    int saved = errno;
    void *function = dladdr(caller, &info) && info.dli_fname ? look_in(info.dli_fname, name) : NULL;
    if (!function)
        dl_iterate_phdr(note_runtime, &runtimes); /* nothing may be opened inside */
    for (unsigned i = 0; i < runtimes.count && !function; i++)
        function = look_in(runtimes.path[i], name);
    dlerror(); /* that something was not found concerns nobody */
    errno = saved;
    return function;
}

/* What the caller would have reached without this library. */
static void *find(void **found, const char *name, const void *caller)
{
    void *function = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (function)
        return function;
    function = dlsym(RTLD_NEXT, name);
    if (!function)
        return find_local(name, caller);
    __atomic_store_n(found, function, __ATOMIC_RELAXED);
    return function;
}

#define REAL(name, caller) \
    static void *found; \
    __typeof__(&name) const real = (__typeof__(&name))(size_t)find(&found, #name, caller)
/* In a region, who began it: the runtime is the same. */
#define IN_REGION (current ? current->caller : __builtin_return_address(0))

static void enter_region(void *data)
{
    const struct region *region = data, *outer = current;
    current = region;
    take_over(region);
    region->body(region->data);
    hand_over(region);
    current = outer;
}

/* The runtime calls the body in every thread of the team, this one included, and returns when all are done. */
#define REGION(name, parameters, arguments) \
    EXPORT void name parameters; \
    void name parameters \
    { \
        const void *const caller = __builtin_return_address(0); \
        REAL(name, caller); \
        const struct region region = {body, data, caller}; \
        void *const entered = (void *)(size_t)&region; \
        if (!real) { /* nobody has such a function: then nobody could have called it */ \
            body(data); \
            return; \
        } \
        hand_over(&region); \
        real arguments; \
        take_over(&region); \
    }

static void take_over_from(const struct region **region)
{
    take_over(*region);
}

/* All of the team, or those that have nothing to do, wait for the others. */
#define MEETING(type, name) \
    EXPORT type name(void); \
    type name(void) \
    { \
        REAL(name, IN_REGION); \
        const struct region *left __attribute__((cleanup(take_over_from), unused)) = current; \
        hand_over(current); \
        return real ? real() : (type)0; \
    }

#define TEAM void (*body)(void *), void *data, unsigned threads
#define INNER enter_region, entered, threads
#define LOOP_PARAMETERS (TEAM, long start, long end, long step, long chunk, unsigned flags)
#define LOOP_ARGUMENTS (INNER, start, end, step, chunk, flags)
#define RUNTIME_PARAMETERS (TEAM, long start, long end, long step, unsigned flags)
#define RUNTIME_ARGUMENTS (INNER, start, end, step, flags)

REGION(GOMP_parallel, (TEAM, unsigned flags), (INNER, flags))
REGION(GOMP_parallel_sections, (TEAM, unsigned count, unsigned flags), (INNER, count, flags))
REGION(GOMP_parallel_loop_static, LOOP_PARAMETERS, LOOP_ARGUMENTS)
REGION(GOMP_parallel_loop_dynamic, LOOP_PARAMETERS, LOOP_ARGUMENTS)
REGION(GOMP_parallel_loop_guided, LOOP_PARAMETERS, LOOP_ARGUMENTS)
REGION(GOMP_parallel_loop_nonmonotonic_dynamic, LOOP_PARAMETERS, LOOP_ARGUMENTS)
REGION(GOMP_parallel_loop_nonmonotonic_guided, LOOP_PARAMETERS, LOOP_ARGUMENTS)
REGION(GOMP_parallel_loop_runtime, RUNTIME_PARAMETERS, RUNTIME_ARGUMENTS)
REGION(GOMP_parallel_loop_nonmonotonic_runtime, RUNTIME_PARAMETERS, RUNTIME_ARGUMENTS)
REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime, RUNTIME_PARAMETERS, RUNTIME_ARGUMENTS)

MEETING(void, GOMP_barrier)
MEETING(void, GOMP_loop_end)
MEETING(void, GOMP_sections_end)
MEETING(bool, GOMP_barrier_cancel)
MEETING(bool, GOMP_loop_end_cancel)
MEETING(bool, GOMP_sections_end_cancel)

/* One thread runs a `single copyprivate` and gets NULL at once; the others get what it put, when it is done. */
MEETING(void *, GOMP_single_copy_start)

EXPORT void GOMP_single_copy_end(void *data);
void GOMP_single_copy_end(void *data)
{
    REAL(GOMP_single_copy_end, IN_REGION);
    hand_over(current);
    if (real)
        real(data);
    take_over(current);
}

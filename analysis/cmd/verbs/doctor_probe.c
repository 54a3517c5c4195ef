/* SPDX-License-Identifier: Apache-2.0
 *
 * The child of `ptds doctor`: loads the driver and asks for one function through every door, once with the shim preloaded
 * and once without; in the latter it also asks which GPUs there are. Writes "KEY VALUE" lines to stdout for verb_doctor.c.
 * Makes no context: it may run on a machine without a GPU, and must not disturb one.
 */
#include "analysis/cmd/verbs/doctor_probe.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "interpose/base/audited.h"
#include "analysis/cmd/exit_status.h"

typedef int (*driver_version)(int *version);
typedef int (*proc_address)(const char *name, void **address, int version, uint64_t flags);
typedef int (*proc_address_v2)(const char *name, void **address, int version, uint64_t flags, int *status);

/* Known to every driver since 4.0, treated specially by every policy. */
static const char asked[] = "cuLaunchKernel";
enum { ASKED_SINCE = 4000 };

static const char *owner(void *address)
{
    Dl_info info;
    if (address == NULL)
        return "absent";
    return dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "unknown";
}

static void door(const char *name, void *address)
{
    printf("door %s %s\n", name, owner(address));
}

static void try_doors(void *driver)
{
    void *found = NULL;
    int status = 0;
    door("elf", dlsym(RTLD_DEFAULT, asked));
    door("dlsym", dlsym(driver, asked));
    /* An object without versions satisfies any. */
    door("dlvsym", dlvsym(driver, asked, "ANY"));
    proc_address v1 = (proc_address)dlsym(driver, "cuGetProcAddress");
    proc_address_v2 v2 = (proc_address_v2)dlsym(driver, "cuGetProcAddress_v2");
    if (v1 != NULL && v1(asked, &found, ASKED_SINCE, 0) != 0)
        found = NULL;
    door("cuGetProcAddress", found);
    found = NULL;
    if (v2 != NULL && v2(asked, &found, ASKED_SINCE, 0, &status) != 0)
        found = NULL;
    door("cuGetProcAddress_v2", found);
}

/* Words of the driver's API that are asked for here. */
enum { PAGEABLE_MEMORY_ACCESS = 88, NAME_SIZE = 128 };

struct gpus {
    int (*init)(unsigned flags);
    int (*count)(int *count);
    int (*get)(int *device, int ordinal);
    int (*name)(char *name, int size, int device);
    int (*attribute)(int *value, int attribute, int device);
};

static void name_gpus(const struct gpus *gpus)
{
    int count = 0, error = gpus->init(0);
    if (error == 0)
        error = gpus->count(&count);
    if (error != 0)
        printf("no-gpu error %d\n", error);
    for (int ordinal = 0, device; ordinal < count && gpus->get(&device, ordinal) == 0; ordinal++) {
        char name[NAME_SIZE] = "without a name";
        int pageable = 0;
        gpus->name(name, sizeof name, device);
        gpus->attribute(&pageable, PAGEABLE_MEMORY_ACCESS, device);
        printf("gpu %d %s\n", ordinal, name);
        if (pageable != 0)
            printf("pageable %d\n", ordinal);
    }
}

static void ask_gpus(void *driver)
{
    struct gpus gpus = {0};
    *(void **)&gpus.init = dlsym(driver, "cuInit");
    *(void **)&gpus.count = dlsym(driver, "cuDeviceGetCount");
    *(void **)&gpus.get = dlsym(driver, "cuDeviceGet");
    *(void **)&gpus.name = dlsym(driver, "cuDeviceGetName");
    *(void **)&gpus.attribute = dlsym(driver, "cuDeviceGetAttribute");
    if (gpus.init != NULL && gpus.count != NULL && gpus.get != NULL && gpus.name != NULL && gpus.attribute != NULL)
        name_gpus(&gpus);
}

static const char *const functions[] = {
#define API(symbol, ...) #symbol,
#define API_PTSZ(symbol, ...) #symbol, #symbol "_ptsz",
#define API_PTDS(symbol, ...) #symbol, #symbol "_ptds",
#include "interpose/api/api.def"
};

static bool exports(void *object, const char *path, const char *name)
{
    void *found = dlsym(object, name);
    return found != NULL && strcmp(owner(found), path) == 0;
}

/* How many of the driver's functions an object exports itself. */
static unsigned count_functions(void *object, const char *path)
{
    unsigned count = 0;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        count += exports(object, path, functions[i]);
    return count;
}

/* Names each loaded object, and those that export a dlsym of their own, or functions of the driver's. */
static int each_object(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    const char *path = info->dlpi_name;
    if (path == NULL || path[0] == 0)
        return 0;
    printf("loaded %s\n", path);
    void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    unsigned count = object != NULL ? count_functions(object, path) : 0;
    if (object != NULL && exports(object, path, "dlsym"))
        printf("hook %s\n", path);
    if (count != 0)
        printf("functions %u %s\n", count, path);
    if (object != NULL)
        dlclose(object);
    return 0;
}

int doctor_probe(bool with_gpus)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL);
    if (driver == NULL) {
        printf("no-driver %s\n", dlerror());
    } else {
        struct link_map *map;
        int version = 0;
        driver_version get = (driver_version)dlsym(driver, "cuDriverGetVersion");
        if (dlinfo(driver, RTLD_DI_LINKMAP, &map) == 0)
            printf("driver %s\n", map->l_name);
        if (get != NULL && get(&version) == 0)
            printf("version %d\n", version);
        try_doors(driver);
        if (with_gpus)
            ask_gpus(driver);
    }
    const struct ptds_audited *audited = dlsym(RTLD_DEFAULT, "ptds_audited");
    if (audited != NULL && audited->version == AUDITED_VERSION && audited->present != 0)
        printf("audited yes\n");
    dl_iterate_phdr(each_object, NULL);
    return fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_FINDINGS;
}

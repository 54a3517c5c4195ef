/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace says first: the driver's functions, the settings, and what of the environment explains the run. Called once,
 * when recording starts. Must not tell a secret: others get to read traces.
 */
#include "interpose/record/file/preamble.h"

#include <string.h>
#include <unistd.h>

#include "interpose/api/api.h"
#include "interpose/driver/driver.h"
#include "interpose/env/env.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/path.h"

static void define_setting(enum ptds_setting kind, const char *text)
{
    struct ptds_rec_SETTING record = {.kind = kind};
    define(PTDS_REC_SETTING, &record, sizeof record, text, strlen(text));
}

static void shim_setting(const char *name, const char *value, void *unused)
{
    char text[2048];
    (void)unused;
    size_t length = strlen(name), room = sizeof text - length - 2;
    memcpy(text, name, length);
    text[length] = '=';
    size_t size = strnlen(value, room);
    memcpy(text + length + 1, value, size);
    text[length + 1 + size] = '\0';
    define_setting(PTDS_SETTING_SHIM, text);
}

/* What of the environment goes into a trace, which others get to read: names alone that say how CUDA is set up, which rank
 * this is, and what else is preloaded. Never by the beginning of a name: a user may call a secret CUDA_SOMETHING. */
static const char *const told[] = {
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DEVICE_MAX_COPY_CONNECTIONS",
    "CUDA_SCALE_LAUNCH_QUEUES",
    "CUDA_MODULE_LOADING",
    "CUDA_MODULE_DATA_LOADING",
    "CUDA_FORCE_PTX_JIT",
    "CUDA_DISABLE_PTX_JIT",
    "CUDA_CACHE_DISABLE",
    "CUDA_CACHE_PATH",
    "CUDA_CACHE_MAXSIZE",
    "CUDA_MANAGED_FORCE_DEVICE_ALLOC",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
    "CUDA_INJECTION64_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "NVIDIA_VISIBLE_DEVICES",
    "PYTORCH_CUDA_ALLOC_CONF",
    "CUPY_CUDA_PER_THREAD_DEFAULT_STREAM",
    "NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_LOCALID",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LD_PRELOAD",
};

static int is_told(const char *variable)
{
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        size_t size = strlen(told[i]);
        if (strncmp(variable, told[i], size) == 0 && variable[size] == '=')
            return 1;
    }
    return 0;
}

static void define_environment(void)
{
    for (char **variable = environ; variable && *variable; variable++) {
        if (is_told(*variable))
            define_setting(PTDS_SETTING_ENVIRONMENT, *variable);
    }
}

void preamble_define(void)
{
    for (uint16_t api = 0; api < API_COUNT; api++) {
        struct ptds_rec_API record = {
            .api = api, .twin = api_rows[api].twin != API_TWIN_NONE, .class_ = api_rows[api].class_};
        define(PTDS_REC_API, &record, sizeof record, api_rows[api].symbol, strlen(api_rows[api].symbol));
    }
    shim_setting("policy", env_policy_word(), NULL);
    if (env_policy_guards())
        shim_setting("guard", "1", NULL);
    env_each_set(shim_setting, NULL);
    define_environment();
    int version = 0;
    char digits[21] = "0";
    if (driver.cuDriverGetVersion)
        driver.cuDriverGetVersion(&version);
    path_decimal((uint64_t)version, digits);
    shim_setting("driver_version", digits, NULL);
    shim_setting("driver_path", driver_path(), NULL);
}

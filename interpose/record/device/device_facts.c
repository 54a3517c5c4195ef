/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the devices that the program uses, as settings of the trace. Called when a context is first seen. Asks the
 * driver only what is no question to a stream, and never while a capture is open.
 */
#include "interpose/record/device/device_facts.h"

#include <string.h>

#include "interpose/driver/driver.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/path.h"
#include "interpose/record/recorder.h"
#include "interpose/state/capture.h"

static uint64_t known; /* a bit a device */

static void define_fact(int device, const char *what, const char *value)
{
    struct ptds_rec_SETTING record = {.kind = PTDS_SETTING_PROCESS};
    char text[512] = "device.";
    size_t used = strlen(text);
    used += path_decimal((uint64_t)device, text + used);
    text[used++] = '.';
    for (; *what; what++)
        text[used++] = *what;
    text[used++] = '=';
    size_t size = strnlen(value, sizeof text - used - 1);
    memcpy(text + used, value, size);
    define(PTDS_REC_SETTING, &record, sizeof record, text, used + size);
}

static int attribute(int device, CUdevice_attribute which, int *value)
{
    return driver.cuDeviceGetAttribute && ASK(driver.cuDeviceGetAttribute(value, which, device)) == CUDA_SUCCESS;
}

static void define_number(int device, const char *what, CUdevice_attribute which)
{
    char digits[21];
    int value = 0;
    if (!attribute(device, which, &value) || value < 0)
        return;
    path_decimal((uint64_t)value, digits);
    define_fact(device, what, digits);
}

static const char *compute_mode(int mode)
{
    switch (mode) {
    case CU_COMPUTEMODE_DEFAULT: return "default";
    case CU_COMPUTEMODE_PROHIBITED: return "prohibited";
    case CU_COMPUTEMODE_EXCLUSIVE_PROCESS: return "exclusive-process";
    default: return "unknown";
    }
}

void device_facts_record(int device)
{
    char name[256] = "";
    int mode = 0;
    if (!recorder_on() || device < 0 || device >= 64 || capture_any() ||
        (__atomic_fetch_or(&known, UINT64_C(1) << device, __ATOMIC_RELAXED) & UINT64_C(1) << device))
        return;
    if (driver.cuDeviceGetName && ASK(driver.cuDeviceGetName(name, sizeof name - 1, device)) == CUDA_SUCCESS)
        define_fact(device, "name", name);
    if (attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &mode))
        define_fact(device, "compute_mode", compute_mode(mode));
    define_number(device, "capability_major", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    define_number(device, "capability_minor", CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    define_number(device, "multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

void device_facts_after_fork(void)
{
    known = 0;
}

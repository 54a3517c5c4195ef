/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in kernels whose memory no parameter names: their module's variable, pointers that lie in device memory,
 * texture and surface objects. The same as PTX: tests/conformance/variables.ptx.h, tables.ptx.h and textures.ptx.h. Called
 * by kernels.c, which lists them. Must never take the simulator's lock.
 */
#include <stdlib.h>

#include "tests/sim/kernels.h"

enum { VARIABLE_WORDS = 256 };

/* Of the module that the kernel is of. One without it cannot have such a kernel: its text names the variable. */
static void *named(const struct kernel_work *k, const char *name)
{
    CUdeviceptr address;
    if (module_variable(k->function->module, name, &address, NULL) != CUDA_SUCCESS)
        abort();
    return memory_bytes(address);
}

static uint32_t *variable(const struct kernel_work *k)
{
    return named(k, "ptds_var");
}

static uint32_t *kept(const struct kernel_work *k)
{
    return memory_bytes(*(const uint64_t *)named(k, "ptds_kept"));
}

KERNEL(, var_set)
{
    uint32_t *words = variable(k), value = reader_word(&r);
    for (uint32_t i = 0; i < VARIABLE_WORDS; i++)
        words[i] = value;
}

KERNEL(, var_add)
{
    uint32_t *words = variable(k), n = reader_word(&r);
    for (uint32_t i = 0; i < n && i < VARIABLE_WORDS; i++)
        words[i]++;
}

KERNEL(, var_get)
{
    const uint32_t *words = variable(k);
    uint32_t *dst = reader_pointer(&r), n = reader_word(&r);
    for (uint32_t i = 0; i < n && i < VARIABLE_WORDS; i++)
        dst[i] = words[i];
}

KERNEL(, kept_set)
{
    *(uint64_t *)named(k, "ptds_kept") = reader_next(&r, 8);
}

KERNEL(, kept_add)
{
    uint32_t *words = kept(k), n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        words[i]++;
}

KERNEL(, kept_get)
{
    const uint32_t *words = kept(k);
    uint32_t *dst = reader_pointer(&r), n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        dst[i] = words[i];
}

KERNEL(, gather)
{
    uint32_t *dst = reader_pointer(&r);
    const uint64_t *table = reader_pointer(&r);
    uint32_t count = reader_word(&r), n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t sum = 0;
        for (uint32_t t = 0; t < count; t++)
            sum += ((const uint32_t *)memory_bytes(table[t]))[i];
        dst[i] = sum;
    }
}

KERNEL(, scatter)
{
    const uint64_t *table = reader_pointer(&r);
    uint32_t count = reader_word(&r), value = reader_word(&r), n = reader_word(&r);
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < n; i++)
            ((uint32_t *)memory_bytes(table[t]))[i] = value;
}

KERNEL(, deep_add)
{
    r.at += 3992;
    uint32_t *p = reader_pointer(&r), n = reader_word(&r);
    for (uint32_t i = 0; i < n; i++)
        p[i]++;
}

/* Outside of its memory a texture is 0. */
KERNEL(, tex_copy)
{
    uint32_t *dst = reader_pointer(&r);
    size_t bytes = 0;
    const uint32_t *words = object_bytes(reader_next(&r, 8), OBJECT_TEXTURE, &bytes);
    uint32_t n = reader_word(&r);
    if (!words)
        abort(); /* a GPU would fault */
    for (uint32_t i = 0; i < n; i++)
        dst[i] = i < bytes / 4 ? words[i] : 0;
}

/* Outside of it a surface traps. */
KERNEL(, surf_add)
{
    size_t bytes = 0;
    uint32_t *words = object_bytes(reader_next(&r, 8), OBJECT_SURFACE, &bytes);
    uint32_t n = reader_word(&r);
    if (!words || n > bytes / 4)
        abort();
    for (uint32_t i = 0; i < n; i++)
        words[i]++;
}

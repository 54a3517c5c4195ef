/* SPDX-License-Identifier: Apache-2.0
 *
 * How the built-in kernels are written: kernels.c and kernels_memory.c.
 */
#ifndef PTDS_TESTS_SIM_KERNELS_H
#define PTDS_TESTS_SIM_KERNELS_H

#include <string.h>

#include "tests/sim/sim.h"

/* The parameters, one after the other; offsets as PTX lays them out. */
struct reader {
    const unsigned char *at, *start;
};

static inline uint64_t reader_next(struct reader *r, size_t size)
{
    uint64_t value = 0;
    r->at = r->start + ((size_t)(r->at - r->start) + size - 1) / size * size;
    memcpy(&value, r->at, size);
    r->at += size;
    return value;
}

static inline void *reader_pointer(struct reader *r)
{
    return memory_bytes(reader_next(r, 8));
}
static inline uint32_t reader_word(struct reader *r)
{
    return (uint32_t)reader_next(r, 4);
}

/* The body of kernel_NAME, with `r` before the first parameter and `k`, the launch; `linkage`: static, or nothing. */
#define KERNEL(linkage, name) \
    static void body_##name(const struct kernel_work *k, struct reader r); \
    linkage void kernel_##name(const struct kernel_work *k, const unsigned char *parameters) \
    { \
        body_##name(k, (struct reader){parameters, parameters}); \
    } \
    static void body_##name(const struct kernel_work *k __attribute__((unused)), struct reader r __attribute__((unused)))

void kernel_var_set(const struct kernel_work *k, const unsigned char *parameters);
void kernel_var_add(const struct kernel_work *k, const unsigned char *parameters);
void kernel_var_get(const struct kernel_work *k, const unsigned char *parameters);
void kernel_kept_set(const struct kernel_work *k, const unsigned char *parameters);
void kernel_kept_add(const struct kernel_work *k, const unsigned char *parameters);
void kernel_kept_get(const struct kernel_work *k, const unsigned char *parameters);
void kernel_gather(const struct kernel_work *k, const unsigned char *parameters);
void kernel_scatter(const struct kernel_work *k, const unsigned char *parameters);
void kernel_deep_add(const struct kernel_work *k, const unsigned char *parameters);
void kernel_tex_copy(const struct kernel_work *k, const unsigned char *parameters);
void kernel_surf_add(const struct kernel_work *k, const unsigned char *parameters);

#endif

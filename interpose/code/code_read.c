/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's facts from its image: the front end that is for it, then the solver. Called by the shim when a kernel is first
 * launched and by `ptds kernels`. No memory of its own is left when a function here returns.
 */
#include <string.h>

#include "interpose/code/arena.h"
#include "interpose/code/code.h"
#include "interpose/code/form.h"

enum { SCRATCH_MOST = 256 << 20 };

/* The lists' numbers are 0, so what lies in them counts for nothing. */
static void begin_facts(const struct code_image *image, struct code_facts *facts)
{
    memset(facts, 0, offsetof(struct code_facts, base));
    facts->is_ptx = image->is_ptx;
    facts->arch = (uint16_t)image->arch;
}

void code_read(const struct code_image *image, const char *kernel, struct code_facts *facts)
{
    struct arena arena = {.limit = SCRATCH_MOST};
    struct form form = {.arena = &arena, .facts = facts};
    begin_facts(image, facts);
    if (image->is_ptx)
        ptx_read(image, kernel, &form);
    else
        sass_read(image, kernel, &form);
    if (facts->verdict != CODE_UNKNOWN)
        solve(&form);
    arena_free(&arena);
}

int code_read_kernels(const struct code_image *image, int (*each)(void *data, const char *kernel), void *data)
{
    return image->is_ptx ? ptx_kernels(image, each, data) : sass_kernels(image, each, data);
}

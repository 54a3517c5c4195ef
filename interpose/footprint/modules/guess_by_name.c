/* SPDX-License-Identifier: Apache-2.0
 *
 * Guesses what a kernel touches by its name alone, for programs whose users ask for that (PTDS_TRUST=names). Called once a
 * kernel whose code can't be read. Nothing here is proven: a kernel may write through a pointer to const, and follow
 * pointers that lie in memory of any type.
 */
#include "interpose/footprint/modules/guess_by_name.h"

#include <string.h>

#include "interpose/footprint/modules/signature.h"

int guess_by_name_has_ends(const char *name)
{
    return name && strstr(name, "reverse_iterator") != NULL;
}

/* The flags of the parameters by the name, if the name has as many parameters as the driver says, and each pointer among
 * them has a pointer's size. Otherwise nothing is known of any. */
static void ask_name(const char *name, uint32_t params, const uint32_t *layout, uint8_t flags[SIGNATURE_MOST])
{
    int count = signature_of(name, flags), fits = count >= 0 && (uint32_t)count == params;
    for (int i = 0; i < count && fits; i++)
        fits = !(flags[i] & (SIGNATURE_READS | SIGNATURE_POINTS)) || (layout[i] & 0xffffu) == sizeof(void *);
    if (!fits)
        memset(flags, 0, SIGNATURE_MOST);
}

void guess_by_name(const char *name, uint32_t params, const uint32_t *layout, struct code_facts *facts)
{
    uint8_t flags[SIGNATURE_MOST];
    if (params == UINT32_MAX || params > CODE_BASES)
        return;
    ask_name(name, params, layout, flags);
    facts->verdict = CODE_DIRECT;
    facts->flags = 0;
    facts->bases = facts->handles = 0;
    for (uint32_t i = 0; i < params; i++) {
        uint16_t offset = (uint16_t)(layout[i] >> 16), size = (uint16_t)(layout[i] & 0xffffu);
        uint8_t known = i < SIGNATURE_MOST ? flags[i] : 0,
                use = known & SIGNATURE_READS ? CODE_READ : CODE_READ | CODE_WRITE;
        if (size < sizeof(void *))
            continue;
        facts->base[facts->bases++] =
            (struct code_base){.use = use, .count = 1, .term = {{CODE_RANGE, offset, (uint16_t)(offset + size)}}};
        if (known & SIGNATURE_POINTS) {
            facts->base[facts->bases - 1].through = facts->base[facts->bases - 1].beyond = CODE_READ | CODE_WRITE;
            facts->verdict = CODE_INDIRECT;
        }
    }
    for (uint16_t i = 0; i < facts->variables && facts->bases < CODE_BASES; i++)
        facts->base[facts->bases++] =
            (struct code_base){.use = CODE_READ | CODE_WRITE, .count = 1, .term = {{CODE_VARIABLE, i, 0}}};
}

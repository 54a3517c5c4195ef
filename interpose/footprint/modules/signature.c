/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the parameter types out of a name mangled by the Itanium C++ ABI, as nvcc does. Called once a kernel. Whatever it
 * does not know makes it give up.
 */
#include "interpose/footprint/modules/signature.h"

#include <string.h>

#include "interpose/base/pages.h"
#include "interpose/footprint/modules/mangled_names.h"
#include "interpose/footprint/modules/mangled_types.h"

static uint8_t flags_of(const struct mangled_parser *p, unsigned type)
{
    const struct mangled_types_read *top = &p->type[type];
    if (top->kind == CONST)
        top = &p->type[top->inner];
    if (top->kind == OTHER || (top->kind == CLASS && !top->plain))
        return SIGNATURE_UNKNOWN;
    if (top->kind != POINTER)
        return 0;
    uint8_t flags = 0;
    const struct mangled_types_read *to = &p->type[top->inner];
    while (to->kind == CONST) {
        flags |= SIGNATURE_READS;
        to = &p->type[to->inner];
    }
    if (to->kind == POINTER || to->kind == OTHER || (to->kind == CLASS && !to->plain))
        flags |= SIGNATURE_POINTS;
    return flags;
}

static int at_end(const struct mangled_parser *p, int outermost)
{
    return outermost ? !*p->at || *p->at == '.' : !*p->at || *p->at == 'E';
}

int signature_read(struct mangled_parser *p, uint8_t *flags, int outermost)
{
    int templated, count = 0;
    if (++p->depth > DEPTH || !mangled_names_read(p, 1, &templated))
        return -1;
    if (templated && !at_end(p, outermost) && !mangled_types_read(p)) /* the type that the function returns */
        return -1;
    if (*p->at == 'v' && (p->at++, at_end(p, outermost)))
        return p->depth--, 0;
    while (!at_end(p, outermost)) {
        unsigned type = mangled_types_read(p);
        if (!type || count == SIGNATURE_MOST)
            return -1;
        if (flags)
            flags[count] = flags_of(p, type);
        count++;
    }
    p->depth--;
    return count;
}

int signature_of(const char *name, uint8_t flags[SIGNATURE_MOST])
{
    if (!name || strncmp(name, "_Z", 2) != 0)
        return -1;
    struct mangled_parser *parser = pages_map(sizeof *parser);
    if (!parser)
        return -1;
    parser->at = name + 2;
    int count = signature_read(parser, flags, 1);
    pages_unmap(parser, sizeof *parser);
    return count;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the parameter types out of a name mangled by the Itanium C++ ABI, as nvcc does. Called once a kernel. Whatever it
 * does not know makes it give up: a wrong type would make a kernel that writes one that reads.
 */
#include "interpose/footprint/signature.h"

#include <stddef.h>
#include <string.h>

#include "interpose/base/pages.h"
#include "interpose/footprint/mangled.h"

static int is_plain(const char *name)
{
    static const char *const scalars[] = {"char", "uchar", "short",    "ushort",    "int",   "uint",
                                          "long", "ulong", "longlong", "ulonglong", "float", "double"};
    static const char *const others[] = {"__half",
                                         "__half2",
                                         "__nv_bfloat16",
                                         "__nv_bfloat162",
                                         "__nv_fp8_e4m3",
                                         "__nv_fp8_e5m2",
                                         "c10::Half",
                                         "c10::BFloat16",
                                         "c10::complex<>",
                                         "thrust::complex<>",
                                         "cuda::std::complex<>",
                                         "std::complex<>",
                                         "dim3",
                                         "curandStateXORWOW",
                                         "curandStatePhilox4_32_10",
                                         "curandStateMRG32k3a"};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        size_t size = strlen(scalars[i]);
        if (strncmp(name, scalars[i], size) == 0 && name[size] >= '1' && name[size] <= '4' && !name[size + 1])
            return 1;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(name, others[i]) == 0)
            return 1;
    }
    return 0;
}

static unsigned read_class(struct parser *p)
{
    int templated, bare_substitution = 0;
    if (*p->at == 'S' && p->at[1] != 't') {
        const char *before = p->at;
        unsigned name = mangled_substitution(p);
        bare_substitution = *p->at != 'I';
        if (!name || bare_substitution)
            return name;
        p->at = before;
    }
    unsigned name = mangled_name(p, 0, &templated);
    if (name && p->type[name].kind == CLASS)
        p->type[name].plain = (uint8_t)is_plain(text_of(p, name));
    return substitutable(p, name) ? name : 0;
}

/* F [Y] <types> E. */
static unsigned read_function_type(struct parser *p)
{
    p->at++;
    take(p, 'Y');
    while (*p->at && *p->at != 'E')
        if (!mangled_type(p))
            return 0;
    unsigned made = take(p, 'E') ? new_type(p, FUNCTION, 0) : 0;
    return substitutable(p, made) ? made : 0;
}

/* A [number] _ <element>: as far as pointers into it go, its element. */
static unsigned read_array(struct parser *p)
{
    p->at++;
    while (is_digit(*p->at))
        p->at++;
    unsigned element = take(p, '_') ? mangled_type(p) : 0;
    return substitutable(p, element) ? element : 0;
}

/* cv-qualifiers together make one type more; only const matters. */
static unsigned read_qualified(struct parser *p)
{
    int constant = 0;
    while (*p->at == 'r' || *p->at == 'V' || *p->at == 'K')
        constant |= *p->at++ == 'K';
    unsigned inner = mangled_type(p);
    unsigned made = inner ? new_type(p, constant ? CONST : p->type[inner].kind, inner) : 0;
    if (made && !constant)
        p->type[made] = p->type[inner];
    return substitutable(p, made) ? made : 0;
}

static unsigned read_pointer(struct parser *p)
{
    p->at++;
    unsigned inner = mangled_type(p);
    unsigned made = inner ? new_type(p, POINTER, inner) : 0;
    return substitutable(p, made) ? made : 0;
}

/* D and one letter are builtin types, or things that need more than this. */
static unsigned read_d(struct parser *p)
{
    if (p->at[1] && strchr("defhisuacn", p->at[1])) {
        p->at += 2;
        return new_type(p, BUILTIN, 0);
    }
    if (p->at[1] != 'F')
        return 0;
    p->at += 2;
    while (is_digit(*p->at))
        p->at++;
    return take(p, '_') || take(p, 'b') || take(p, 'x') ? new_type(p, BUILTIN, 0) : 0;
}

static unsigned read_parameter_type(struct parser *p)
{
    unsigned type = mangled_template_parameter(p);
    if (!substitutable(p, type))
        return 0;
    return type;
}

static unsigned read_any_type(struct parser *p)
{
    char c = *p->at;
    if (c && strchr("vwbcahstijlmxynofdegz", c)) {
        p->at++;
        return new_type(p, BUILTIN, 0);
    }
    switch (c) {
    case 'r':
    case 'V':
    case 'K': return read_qualified(p);
    case 'P':
    case 'R':
    case 'O': return read_pointer(p);
    case 'F': return read_function_type(p);
    case 'A': return read_array(p);
    case 'D': return read_d(p);
    case 'T': return p->at[1] && strchr("sue", p->at[1]) ? 0 : read_parameter_type(p);
    default: return c == 'N' || c == 'Z' || c == 'S' || is_digit(c) ? read_class(p) : 0;
    }
}

unsigned mangled_type(struct parser *p)
{
    if (++p->depth > DEPTH)
        return 0;
    unsigned type = read_any_type(p);
    p->depth--;
    return type;
}

static uint8_t flags_of(const struct parser *p, unsigned type)
{
    const struct type *top = &p->type[type];
    if (top->kind == CONST)
        top = &p->type[top->inner];
    if (top->kind == OTHER || (top->kind == CLASS && !top->plain))
        return SIGNATURE_UNKNOWN;
    if (top->kind != POINTER)
        return 0;
    uint8_t flags = 0;
    const struct type *to = &p->type[top->inner];
    while (to->kind == CONST) {
        flags |= SIGNATURE_READS;
        to = &p->type[to->inner];
    }
    if (to->kind == POINTER || to->kind == OTHER || (to->kind == CLASS && !to->plain))
        flags |= SIGNATURE_POINTS;
    return flags;
}

static int at_end(const struct parser *p, int outermost)
{
    return outermost ? !*p->at || *p->at == '.' : !*p->at || *p->at == 'E';
}

int mangled_encoding(struct parser *p, uint8_t *flags, int outermost)
{
    int templated, count = 0;
    if (++p->depth > DEPTH || !mangled_name(p, 1, &templated))
        return -1;
    if (templated && !at_end(p, outermost) && !mangled_type(p)) /* what it returns */
        return -1;
    if (*p->at == 'v' && (p->at++, at_end(p, outermost)))
        return p->depth--, 0;
    while (!at_end(p, outermost)) {
        unsigned type = mangled_type(p);
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
    struct parser *parser = pages_map(sizeof *parser);
    if (!parser)
        return -1;
    parser->at = name + 2;
    int count = mangled_encoding(parser, flags, 1);
    pages_unmap(parser, sizeof *parser);
    return count;
}

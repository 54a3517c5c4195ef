/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads types as the Itanium C++ ABI mangles them. Called by signature.c and mangled_names.c, once a kernel. Whatever it
 * does not know makes it give up: a wrong type would make a kernel that writes one that reads.
 */
#include "interpose/footprint/modules/mangled_types.h"

#include <stddef.h>
#include <string.h>

#include "interpose/footprint/modules/mangled_names.h"

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

static unsigned read_class(struct mangled_parser *p)
{
    int templated, bare_substitution = 0;
    if (*p->at == 'S' && p->at[1] != 't') {
        const char *before = p->at;
        unsigned name = mangled_names_substitution(p);
        bare_substitution = *p->at != 'I';
        if (!name || bare_substitution)
            return name;
        p->at = before;
    }
    unsigned name = mangled_names_read(p, 0, &templated);
    if (name && p->type[name].kind == CLASS)
        p->type[name].plain = (uint8_t)is_plain(mangled_parser_text(p, name));
    return mangled_parser_substitutes(p, name) ? name : 0;
}

/* F [Y] <types> E. */
static unsigned read_function_type(struct mangled_parser *p)
{
    p->at++;
    mangled_parser_take(p, 'Y');
    while (*p->at && *p->at != 'E')
        if (!mangled_types_read(p))
            return 0;
    unsigned made = mangled_parser_take(p, 'E') ? mangled_parser_add(p, FUNCTION, 0) : 0;
    return mangled_parser_substitutes(p, made) ? made : 0;
}

/* A [number] _ <element>: as far as pointers into it go, its element. */
static unsigned read_array(struct mangled_parser *p)
{
    p->at++;
    while (mangled_parser_is_digit(*p->at))
        p->at++;
    unsigned element = mangled_parser_take(p, '_') ? mangled_types_read(p) : 0;
    return mangled_parser_substitutes(p, element) ? element : 0;
}

/* cv-qualifiers together make one type more; only const matters. */
static unsigned read_qualified(struct mangled_parser *p)
{
    int constant = 0;
    while (*p->at == 'r' || *p->at == 'V' || *p->at == 'K')
        constant |= *p->at++ == 'K';
    unsigned inner = mangled_types_read(p);
    unsigned made = inner ? mangled_parser_add(p, constant ? CONST : p->type[inner].kind, inner) : 0;
    if (made && !constant)
        p->type[made] = p->type[inner];
    return mangled_parser_substitutes(p, made) ? made : 0;
}

static unsigned read_pointer(struct mangled_parser *p)
{
    p->at++;
    unsigned inner = mangled_types_read(p);
    unsigned made = inner ? mangled_parser_add(p, POINTER, inner) : 0;
    return mangled_parser_substitutes(p, made) ? made : 0;
}

/* D and one letter: a builtin type, or a type that is not understood here. */
static unsigned read_d(struct mangled_parser *p)
{
    if (p->at[1] && strchr("defhisuacn", p->at[1])) {
        p->at += 2;
        return mangled_parser_add(p, BUILTIN, 0);
    }
    if (p->at[1] != 'F')
        return 0;
    p->at += 2;
    while (mangled_parser_is_digit(*p->at))
        p->at++;
    return mangled_parser_take(p, '_') || mangled_parser_take(p, 'b') || mangled_parser_take(p, 'x')
               ? mangled_parser_add(p, BUILTIN, 0)
               : 0;
}

static unsigned read_parameter_type(struct mangled_parser *p)
{
    unsigned type = mangled_names_template_parameter(p);
    if (!mangled_parser_substitutes(p, type))
        return 0;
    return type;
}

static unsigned read_any_type(struct mangled_parser *p)
{
    char c = *p->at;
    if (c && strchr("vwbcahstijlmxynofdegz", c)) {
        p->at++;
        return mangled_parser_add(p, BUILTIN, 0);
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
    default: return c == 'N' || c == 'Z' || c == 'S' || mangled_parser_is_digit(c) ? read_class(p) : 0;
    }
}

unsigned mangled_types_read(struct mangled_parser *p)
{
    if (++p->depth > DEPTH)
        return 0;
    unsigned type = read_any_type(p);
    p->depth--;
    return type;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A module's variables: the .global and .const declarations of PTX text, in device memory that the module owns. Called by
 * module.c and by the two calls that ask for an address. Kernels find them by module_variable, without the lock: the list
 * never changes once the module is loaded. Values other than numbers (addresses of other variables) stay zero.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define SPACE " \t\r\n"

CUresult module_variable(const struct module *m, const char *name, CUdeviceptr *address, size_t *size)
{
    for (const struct variable *v = m->variables; v; v = v->next)
        if (strcmp(v->name, name) == 0) {
            if (address)
                *address = m->memory + v->offset;
            if (size)
                *size = v->size;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static bool starts(const char *p, const char *word)
{
    size_t n = strlen(word);
    return strncmp(p, word, n) == 0 && !isalnum((unsigned char)p[n]) && p[n] != '_';
}

/* "[4][8]": 32; p stands at the first bracket and ends behind the last. "[]" is as long as its values. */
static size_t elements(const char **p)
{
    size_t count = 1;
    for (; **p == '['; *p += strspn(*p, SPACE)) {
        char *end;
        size_t n = strtoul(*p + 1, &end, 0);
        if (!n)
            for (const char *v = strchr(end, '{'); v && *v && *v != '}'; v++)
                n += *v == '{' || *v == ',';
        count *= n;
        *p = end + strcspn(end, "]");
        *p += **p == ']';
    }
    return count;
}

/* ".align 4 .u32 name[64] = {1, 2};" behind ".global"; returns the end. */
static const char *declare(struct module *m, const char *p, size_t *total)
{
    struct variable *v = calloc(1, sizeof *v);
    size_t align = 0, count = 1;
    if (!v)
        abort();
    for (p += strspn(p, SPACE); *p && *p != ';' && *p != '='; p += strspn(p, SPACE)) {
        size_t length = strcspn(p, SPACE "[=;");
        if (starts(p, ".align")) {
            char *end;
            align = strtoul(p + strlen(".align"), &end, 10);
            length = (size_t)(end - p);
        } else if (starts(p, ".v2") || starts(p, ".v4")) {
            count *= (size_t)(p[2] - '0');
        } else if (*p == '.' && !v->element) {
            v->element = ptx_type_size(p + 1);
        } else if (*p != '.') {
            memcpy(v->name, p, length < sizeof v->name ? length : sizeof v->name - 1);
        }
        p += length;
        count *= elements(&p);
    }
    v->size = v->element * count;
    if (!align)
        align = v->element;
    if (!v->size || !v->name[0]) {
        free(v);
        return p;
    }
    v->first_value = *p == '=' ? p + 1 : NULL;
    v->offset = (*total + align - 1) / align * align;
    *total = v->offset + v->size;
    v->next = m->variables;
    m->variables = v;
    return p + strcspn(p, ";");
}

/* Numbers only: 5, 0x10, -1, 0f3F800000. */
static void set_values(const struct variable *v, char *at)
{
    const char *p = v->first_value;
    for (size_t done = 0; p && *p && *p != ';' && done < v->size; done += v->element) {
        p += strspn(p, SPACE "{,");
        bool bits = *p == '0' && (p[1] == 'f' || p[1] == 'F' || p[1] == 'd' || p[1] == 'D');
        uint64_t value = bits ? strtoull(p + 2, NULL, 16) : (uint64_t)strtoll(p, NULL, 0);
        if (!isdigit((unsigned char)*p) && *p != '-')
            value = 0;
        memcpy(at + done, &value, v->element);
        p += strcspn(p, ",;}");
        if (*p == '}')
            break;
    }
}

/* Declarations stand outside of all braces and parentheses; .extern ones have no memory. */
void variables_parse(struct module *m, const char *text)
{
    const char *statement = text;
    size_t total = 0;
    int depth = 0;
    for (const char *p = text; *p; p++) {
        depth += (*p == '{' || *p == '(') - (*p == '}' || *p == ')');
        if (*p == ';' || *p == '}' || *p == ')')
            statement = p;
        if (depth || (!starts(p, ".global") && !starts(p, ".const")))
            continue;
        const char *outside = strstr(statement, ".extern");
        if (outside && outside < p)
            p += strcspn(p, ";") - 1;
        else
            p = declare(m, p + strcspn(p, SPACE), &total) - 1;
    }
    if (!m->variables || memory_allocate(m->ctx, MEMORY_MODULE, total, 0, &m->memory) != CUDA_SUCCESS)
        return;
    m->memory_id = memory_find(m->memory)->id;
    memset(memory_bytes(m->memory), 0, total);
    for (struct variable *v = m->variables; v; v = v->next) {
        set_values(v, (char *)memory_bytes(m->memory) + v->offset);
        v->first_value = NULL;
    }
}

/* The context may have gone before and taken the memory along. */
void variables_free(struct module *m)
{
    const struct allocation *a = m->memory ? memory_find(m->memory) : NULL;
    if (a && a->id == m->memory_id)
        memory_free(m->memory);
    for (struct variable *v = m->variables, *next; v; v = next) {
        next = v->next;
        free(v);
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules, as the names and parameters of their kernels. PTX text is read for its .entry lines; any other image is taken
 * as having every built-in kernel. Variables are in variables.c. Called by module_api.c and library.c. Locked, all of it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

size_t ptx_type_size(const char *type)
{
    static const struct {
        const char *bits;
        size_t size;
    } sizes[] = {{"64", 8}, {"32", 4}, {"16", 2}, {"8", 1}};
    if (!*type || !strchr("usbf", *type))
        return 0;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (strncmp(type + 1, sizes[i].bits, strlen(sizes[i].bits)) == 0)
            return sizes[i].size;
    return 0;
}

static struct function *function_new(struct module *m, const char *name, size_t length)
{
    const char *signature;
    struct function *f = calloc(1, sizeof *f);
    if (!f || length >= sizeof f->name)
        abort();
    memcpy(f->name, name, length);
    f->module = m;
    f->run = kernel_find(f->name, &signature);
    f->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024;
    f->attributes[CU_FUNC_ATTRIBUTE_NUM_REGS] = 16;
    f->attributes[CU_FUNC_ATTRIBUTE_PTX_VERSION] = 52;
    f->attributes[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 90;
    f->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 48 * 1024;
    f->next = m->functions;
    m->functions = f;
    handle_add(f, HANDLE_FUNCTION);
    return f;
}

static void add_parameter(struct function *f, size_t size, size_t align)
{
    if (!size || !align)
        return;
    f->parameters = realloc(f->parameters, (f->parameter_count + 1) * sizeof *f->parameters);
    if (!f->parameters)
        abort();
    size_t offset = (f->parameter_bytes + align - 1) / align * align;
    f->parameters[f->parameter_count++] = (struct parameter){offset, size};
    f->parameter_bytes = offset + size;
}

/* One ".param .align 8 .b8 name[16]" or ".param .u64 name", up to the comma or parenthesis. */
static void parse_parameter(struct function *f, const char *p, const char *end)
{
    size_t size = 0, align = 0, count = 1;
    for (; p < end; p++) {
        if (strncmp(p, ".align", 6) == 0) {
            align = strtoul(p + 6, NULL, 10);
            p += 5;
        } else if (*p == '.' && !size && ptx_type_size(p + 1)) {
            size = ptx_type_size(p + 1);
        } else if (*p == '[') {
            count = strtoul(p + 1, NULL, 10);
        }
    }
    add_parameter(f, size * count, align ? align : size);
}

/* p: behind ".entry". */
static void parse_entry(struct module *m, const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    size_t length = strcspn(p, "( \t\r\n{");
    struct function *f = function_new(m, p, length);
    p += length;
    p += strspn(p, " \t\r\n");
    if (*p != '(')
        return;
    for (p++; *p && *p != ')';) {
        size_t n = strcspn(p, ",)");
        parse_parameter(f, p, p + n);
        p += n;
        p += *p == ',';
    }
}

/* A copy of PTX text without comments. */
static char *without_comments(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    if (!copy)
        abort();
    while (*text) {
        if (strncmp(text, "//", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            const char *end = strstr(text + 2, "*/");
            text = end ? end + 2 : text + strlen(text);
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
    return copy;
}

/* Binary images start with the magic number of ELF or of a fat binary; PTX starts with a directive or a comment. */
static bool is_ptx(const char *image)
{
    const char *p = image + strspn(image, " \t\r\n");
    return *p == '.' || strncmp(p, "//", 2) == 0 || strncmp(p, "/*", 2) == 0;
}

struct module *module_parse(struct context *ctx, const void *image)
{
    struct module *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->ctx = ctx;
    m->ptx = is_ptx(image);
    if (!m->ptx) { /* it has the variable of the built-in kernels, too */
        variables_parse(m, ".global .align 4 .u32 ptds_var[256];");
        return m;
    }
    char *text = without_comments(image);
    if (!strstr(text, ".version")) {
        free(text);
        free(m);
        return NULL;
    }
    for (const char *p = strstr(text, ".entry"); p; p = strstr(p, ".entry")) {
        p += strlen(".entry");
        parse_entry(m, p);
    }
    variables_parse(m, text);
    free(text);
    return m;
}

void module_free(struct module *m)
{
    for (struct function *f = m->functions, *next; f; f = next) {
        next = f->next;
        handle_remove(f);
        free(f->parameters);
        free(f);
    }
    variables_free(m);
    free(m);
}

struct function *module_function(struct module *m, const char *name)
{
    const char *signature;
    for (struct function *f = m->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f;
    if (m->ptx || !kernel_find(name, &signature))
        return NULL;
    struct function *f = function_new(m, name, strlen(name));
    for (; *signature; signature++) {
        size_t size = *signature == 'S' ? 4000 : strchr("pq", *signature) ? 8 : 4;
        add_parameter(f, size, size < 8 ? size : 8);
    }
    return f;
}

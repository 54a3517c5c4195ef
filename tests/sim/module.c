/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules: the kernels of a PTX text with their parameters. Any other image is taken as having every built-in kernel.
 * Variables are in variables.c, the text's contents in ptx_text.c. Called by module_api.c and library.c. Locked, all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

static void add_parameter(struct function *f, size_t offset, size_t size)
{
    f->parameters = realloc(f->parameters, (f->parameter_count + 1) * sizeof *f->parameters);
    if (!f->parameters)
        abort();
    f->parameters[f->parameter_count++] = (struct parameter){offset, size};
    f->parameter_bytes = offset + size;
}

/* code: NULL, a test's own. */
static struct function *function_new(struct module *m, const char *name, const struct ptx_function *code)
{
    const char *signature = "";
    struct function *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name)))
        abort();
    f->module = m;
    f->code = code;
    f->run = kernel_find(f->name, &signature);
    f->attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024;
    f->attributes[CU_FUNC_ATTRIBUTE_NUM_REGS] = 16;
    f->attributes[CU_FUNC_ATTRIBUTE_PTX_VERSION] = 52;
    f->attributes[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 90;
    f->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 48 * 1024;
    f->next = m->functions;
    m->functions = f;
    handle_add(f, HANDLE_FUNCTION);
    for (unsigned i = 0; code && i < code->parameter_count; i++)
        add_parameter(f, code->parameters[i].offset, code->parameters[i].size);
    for (; !code && *signature; signature++) {
        size_t size = strchr("pq", *signature) ? 8 : 4;
        add_parameter(f, (f->parameter_bytes + size - 1) / size * size, size);
    }
    return f;
}

bool function_runs(const struct function *f)
{
    return f->run || (f->code && !f->code->unknown);
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
    m->text = m->ptx ? ptx_open(image) : ptx_built_in();
    if (!m->text) {
        free(m);
        return NULL;
    }
    for (const struct ptx_function *f = m->text->functions; f && m->ptx; f = f->next)
        if (f->entry)
            function_new(m, f->name, f);
    variables_place(m);
    return m;
}

void module_free(struct module *m)
{
    for (struct function *f = m->functions, *next; f; f = next) {
        next = f->next;
        handle_remove(f);
        free(f->parameters);
        free(f->name);
        free(f);
    }
    variables_free(m);
    ptx_close(m->text);
    free(m);
}

struct function *module_function(struct module *m, const char *name)
{
    const char *signature;
    for (struct function *f = m->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f;
    const struct ptx_function *code = m->ptx ? NULL : ptx_entry(m->text, name);
    if (m->ptx || (!code && !kernel_find(name, &signature)))
        return NULL;
    return function_new(m, name, code);
}

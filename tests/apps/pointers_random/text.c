// SPDX-License-Identifier: Apache-2.0
//
// A program's kernels as text, one a step, each run by one thread. What says a parameter in the text adds its value to the
// arguments, so the two cannot differ. Called by world.c when modules are loaded and by act.c at each launch.

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/pointers_random/world.h"

// Before a buffer, not just where another may begin: a pointer to an allocation's beginning means that allocation.
enum { MODULE_TEXT = 1 << 18, EDGE = 4100 };

static void say(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t room, const char *format, ...)
{
    size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text + used, room - used, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= room - used)
        abort();
}

#define CODE(...) say(e->code, sizeof e->code, __VA_ARGS__)

static unsigned declare(struct emit *e, const char *type, const char *count, void *at)
{
    unsigned n = e->parameters++;
    say(e->declarations, sizeof e->declarations, "%s.param %s p%u%s", n ? ", " : "", type, n, count);
    e->at[n] = at;
    return n;
}

static unsigned parameter(struct emit *e, const char *type, uint64_t value)
{
    uint64_t *at = &e->value[e->parameters];
    *at = value;
    return declare(e, type, "", at);
}

// A register that has it.
static unsigned word_64(struct emit *e, uint64_t value)
{
    unsigned r = e->registers++;
    CODE("ld.param.u64 %%rd%u, [p%u];\n", r, parameter(e, ".u64", value));
    return r;
}

static unsigned word_32(struct emit *e, uint32_t value)
{
    unsigned r = e->registers++;
    CODE("ld.param.u32 %%r%u, [p%u];\n", r, parameter(e, ".u32", value));
    return r;
}

static uint64_t noise_address(const struct path *path)
{
    return world.buffer[path->noise % PINNED_BUFFER];
}

static unsigned structure(struct emit *e, const struct path *path, uint64_t value, int indexed)
{
    uint64_t *block = e->block[e->blocks++];
    unsigned word = path->noise % BLOCK_WORDS, r = e->registers++;
    for (unsigned i = 0; i < BLOCK_WORDS; i++)
        block[i] = noise_address(path) + i * 4;
    block[word] = value;
    unsigned n = declare(e, ".align 8 .b8", "[64]", block);
    if (!indexed) {
        CODE("ld.param.u64 %%rd%u, [p%u+%u];\n", r, n, word * 8);
        return r;
    }
    unsigned index = word_32(e, word), at = e->registers++;
    CODE("mov.b64 %%rd%u, p%u;\nmul.wide.u32 %%rd%u, %%r%u, 8;\nadd.s64 %%rd%u, %%rd%u, %%rd%u;\n", at, n, r, index, at, at,
         r);
    CODE("ld.param.u64 %%rd%u, [%%rd%u];\n", r, at);
    return r;
}

static unsigned halves(struct emit *e, const struct path *path, uint64_t value, int apart)
{
    unsigned r = e->registers++, low, high;
    if (apart) {
        high = word_32(e, (uint32_t)(value >> 32));
        word_32(e, path->noise);
        low = word_32(e, (uint32_t)value);
    } else {
        low = word_32(e, (uint32_t)value);
        high = word_32(e, (uint32_t)(value >> 32));
    }
    CODE("mov.b64 %%rd%u, {%%r%u, %%r%u};\n", r, low, high);
    return r;
}

static unsigned of_two(struct emit *e, const char *operation, uint64_t a, uint64_t b)
{
    unsigned first = word_64(e, a), second = word_64(e, b), r = e->registers++;
    CODE("%s %%rd%u, %%rd%u, %%rd%u;\n", operation, r, first, second);
    return r;
}

static unsigned masked(struct emit *e, uint64_t value, const char *mask)
{
    unsigned given = word_64(e, value), r = e->registers++;
    CODE("and.b64 %%rd%u, %%rd%u, %s;\n", r, given, mask);
    return r;
}

static unsigned selected(struct emit *e, const struct path *path, uint64_t value)
{
    unsigned first = word_64(e, value), second = word_64(e, noise_address(path)), which = word_32(e, path->noise | 1),
             r = e->registers++;
    CODE("setp.ne.u32 %%p1, %%r%u, 0;\nselp.b64 %%rd%u, %%rd%u, %%rd%u, %%p1;\n", which, r, first, second);
    return r;
}

static unsigned through_shared(struct emit *e, uint64_t value)
{
    unsigned given = word_64(e, value), r = e->registers++;
    CODE(".shared .align 8 .u64 s%u[2];\nst.shared.u64 [s%u+8], %%rd%u;\nbar.sync 0;\nld.shared.u64 %%rd%u, [s%u+8];\n", r,
         r, given, r, r);
    return r;
}

static unsigned indexed(struct emit *e, const struct path *path)
{
    unsigned cell = (unsigned)path->cell, place = place_of(cell);
    unsigned table = word_64(e, world.place[place]), index = word_32(e, (cell - first_cell(place)) * places[place].stride),
             r = e->registers++;
    CODE("mul.wide.u32 %%rd%u, %%r%u, 8;\nadd.u64 %%rd%u, %%rd%u, %%rd%u;\n", r, index, r, table, r);
    return r;
}

static unsigned root_value(struct emit *e, const struct path *path, uint64_t value)
{
    const uint64_t any = path->noise * 0x9e3779b97f4a7c15ull, q = noise_address(path);
    switch (path->root) {
    case STRUCTURE: return structure(e, path, value, 0);
    case STRUCTURE_INDEXED: return structure(e, path, value, 1);
    case HALVES: return halves(e, path, value, 0);
    case HALVES_APART: return halves(e, path, value, 1);
    case SUM: return of_two(e, "add.u64", value - path->noise % EDGE * 4, path->noise % EDGE * 4);
    case SUM_OF_ANY: return of_two(e, "add.u64", any, value - any);
    case DIFFERENCE: return of_two(e, "add.u64", q, value - q);
    case XOR: return of_two(e, "xor.b64", value ^ any, any);
    case TAG_LOW: return masked(e, value | (path->noise & 7), "-8");
    case TAG_HIGH: return masked(e, value | (uint64_t)path->noise << 56, "0x00ffffffffffffff");
    case SELECTED: return selected(e, path, value);
    case THROUGH_SHARED: return through_shared(e, value);
    case INDEXED: return indexed(e, path);
    default: break;
    }
    unsigned r = word_64(e, path->root == BEFORE ? value - EDGE : value);
    if (path->root == BEFORE)
        CODE("add.u64 %%rd%u, %%rd%u, %d;\n", r, r, EDGE);
    return r;
}

// By the variable's name: its address, or what it has.
static unsigned root_variable(struct emit *e, const struct path *path)
{
    unsigned cell = (unsigned)path->cell, place = place_of(cell), r = e->registers++,
             offset = (cell - first_cell(place)) * 8;
    if (!path->loads)
        CODE("mov.u64 %%rd%u, %s;\ncvta.global.u64 %%rd%u, %%rd%u;\nadd.u64 %%rd%u, %%rd%u, %u;\n", r, places[place].name,
             r, r, r, r, offset);
    else
        CODE("ld.%s.u64 %%rd%u, [%s+%u];\n", places[place].is_constant ? "const" : "global", r, places[place].name, offset);
    return r;
}

// The register that has the address in the end.
static unsigned emit_path(struct emit *e, const struct path *path)
{
    unsigned loads = path->loads, r;
    if (path->root == VARIABLE) {
        r = root_variable(e, path);
        loads -= loads != 0;
    } else {
        r = root_value(e, path, path->cell < 0 ? world.buffer[path->buffer] : cell_address((unsigned)path->cell));
    }
    for (; loads; loads--) {
        unsigned to = e->registers++;
        if (path->noise & 256)
            CODE("cvta.to.global.u64 %%rd%u, %%rd%u;\nld.global.u64 %%rd%u, [%%rd%u];\n", r, r, to, r);
        else
            CODE("ld.u64 %%rd%u, [%%rd%u];\n", to, r);
        r = to;
    }
    return r;
}

static void spin(struct emit *e, const struct step *step)
{
    static const uint64_t quarters[LONG_SPIN + 1] = {0, 1, 2, 4, 16};
    unsigned ns = word_64(e, world.spin_ns * quarters[step->spin] / 4), began = e->registers++, now = e->registers++;
    CODE("mov.u64 %%rd%u, %%globaltimer;\nSPIN:\nmov.u64 %%rd%u, %%globaltimer;\nsub.u64 %%rd%u, %%rd%u, %%rd%u;\n", began,
         now, now, now, began);
    CODE("setp.ge.u64 %%p1, %%rd%u, %%rd%u;\n@%%p1 bra FIND;\nnanosleep.u32 1000;\nbra SPIN;\nFIND:\n", now, ns);
}

static unsigned element(struct emit *e, unsigned base, unsigned offset)
{
    unsigned r = e->registers++;
    CODE("add.u64 %%rd%u, %%rd%u, %%rd%u;\n", r, base, offset);
    return r;
}

static unsigned load_element(struct emit *e, unsigned base, unsigned offset)
{
    unsigned at = element(e, base, offset), r = e->registers++;
    CODE("ld.u32 %%r%u, [%%rd%u];\n", r, at);
    return r;
}

static void loop(struct emit *e, const struct step *step)
{
    unsigned to = emit_path(e, &step->path[0]), from = 0, other = 0, value = word_32(e, step->value);
    if (step->kind != KERNEL_STORE)
        from = emit_path(e, &step->path[1]);
    if (step->kind == KERNEL_ADD)
        other = emit_path(e, &step->path[2]);
    unsigned i = e->registers++, offset = e->registers++, sum = e->registers++;
    CODE("mov.u32 %%r%u, 0;\nNEXT:\nmul.wide.u32 %%rd%u, %%r%u, 4;\n", i, offset, i);
    if (step->kind == KERNEL_STORE)
        CODE("add.u32 %%r%u, %%r%u, %%r%u;\n", sum, value, i);
    else if (step->kind == KERNEL_SCALE)
        CODE("mad.lo.u32 %%r%u, %%r%u, 3, %%r%u;\n", sum, load_element(e, from, offset), value);
    else if (step->kind == KERNEL_ADD)
        CODE("add.u32 %%r%u, %%r%u, %%r%u;\n", sum, load_element(e, from, offset), load_element(e, other, offset));
    if (step->kind == KERNEL_ADD)
        CODE("add.u32 %%r%u, %%r%u, %%r%u;\n", sum, sum, value);
    unsigned at = element(e, to, offset);
    if (step->kind == KERNEL_RED)
        CODE("red.add.u32 [%%rd%u], %%r%u;\n", at, load_element(e, from, offset));
    else
        CODE("st.u32 [%%rd%u], %%r%u;\n", at, sum);
    CODE("add.u32 %%r%u, %%r%u, 1;\nsetp.lt.u32 %%p1, %%r%u, %d;\n@%%p1 bra NEXT;\n", i, i, i, WORDS);
}

static void put(struct emit *e, const struct step *step)
{
    unsigned to = emit_path(e, &step->path[0]), value;
    if (step->kind == KERNEL_PUT) {
        unsigned level = level_of(path_cell(world.program, &step->path[0]));
        value = word_64(e, target_address(level, step->target));
    } else {
        unsigned from = emit_path(e, &step->path[1]);
        value = e->registers++;
        CODE("ld.u64 %%rd%u, [%%rd%u];\n", value, from);
    }
    CODE("st.u64 [%%rd%u], %%rd%u;\n", to, value);
}

void emit_kernel(struct emit *e, unsigned step)
{
    const struct step *s = &world.program->step[step];
    e->declarations[0] = e->code[0] = 0;
    e->parameters = e->registers = e->blocks = 0;
    spin(e, s);
    if (s->kind < KERNEL_PUT)
        loop(e, s);
    else
        put(e, s);
}

// Some say `const` of a pointer that is written through.
void kernel_name(unsigned step, char *name, size_t size)
{
    if (world.program->step[step].lies)
        snprintf(name, size, "_Z6step%02umPKjS0_jj", step);
    else
        snprintf(name, size, "step%02u", step);
}

static void variables(char *text, unsigned module)
{
    for (unsigned place = 0; place < PLACES; place++)
        if (places[place].is_variable && places[place].module == module)
            say(text, MODULE_TEXT, ".visible .%s .align 8 .u64 %s[%u];\n", places[place].is_constant ? "const" : "global",
                places[place].name, places[place].words);
}

char *module_text(unsigned module)
{
    struct emit *e = malloc(sizeof *e);
    char *text = calloc(1, MODULE_TEXT), name[32];
    say(text, MODULE_TEXT, ".version 7.0\n.target sm_70\n.address_size 64\n");
    variables(text, module);
    for (unsigned i = 0; i < world.program->step_count; i++) {
        const struct step *step = &world.program->step[i];
        if (!is_kernel(step) || step->module != module)
            continue;
        emit_kernel(e, i);
        kernel_name(i, name, sizeof name);
        say(text, MODULE_TEXT, ".visible .entry %s(%s)\n{\n.reg .pred %%p<2>;\n.reg .b32 %%r<%u>;\n.reg .b64 %%rd<%u>;\n",
            name, e->declarations, e->registers + 1, e->registers + 1);
        say(text, MODULE_TEXT, "%sret;\n}\n", e->code);
    }
    free(e);
    return text;
}

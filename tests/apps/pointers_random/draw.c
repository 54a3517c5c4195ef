// SPDX-License-Identifier: Apache-2.0
//
// Draws a program by its seed. Each uses some ways only, so that one that is always in legacy's order does not hide the
// others. Called by pointers_random.c.

#include <string.h>

#include "tests/apps/pointers_random/program.h"

const struct place_kind places[PLACES] = {
    [FEW_TABLE] = {"few", 1, 8, 0, 0, 0, 1, 8},
    [MANY_TABLE] = {"many", 1, 8, 0, 0, 0, 2001, MANY_WORDS},
    [PINNED_TABLE] = {"pinned", 1, 8, 0, 0, 0, 1, 8},
    [UPPER_TABLE] = {"upper", 2, 8, 0, 0, 0, 1, 8},
    [TOP_TABLE] = {"top", 3, 4, 0, 0, 0, 2, 8},
    [GLOBAL_ONE] = {"global_one", 1, 2, 1, 0, 0, 1, 2},
    [GLOBAL_TWO] = {"global_two", 2, 2, 1, 0, 1, 1, 2},
    [CONSTANT_ONE] = {"constant_one", 1, 2, 1, 1, 1, 1, 2},
    [CONSTANT_TWO] = {"constant_two", 2, 2, 1, 1, 0, 1, 2},
};

const char *const root_names[ROOTS + 1] = {
    "plain", "structure", "structure-indexed", "halves",   "halves-apart",   "sum",    "sum-of-any", "difference",
    "xor",   "tag-low",   "tag-high",          "selected", "through-shared", "before", "indexed",    "variable"};

const char *const step_names[STEP_KINDS] = {"store",       "scale",      "add",   "red",    "put",  "move",     "bring",
                                            "bring-table", "host-write", "renew", "memset", "copy", "from-host"};

const char *const bring_names[BRINGS] = {"pageable",       "pageable-async",   "pinned",        "pinned-async",
                                         "two-dimensions", "three-dimensions", "device-copy",   "two-copies",
                                         "two-memsets",    "value-write",      "host-function", "host-function-twice",
                                         "graph-copy"};

uint32_t roots_left_out, brings_left_out;

// splitmix64
static uint64_t next(struct program *p)
{
    uint64_t z = p->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static unsigned any(struct program *p, unsigned below)
{
    return (unsigned)(next(p) >> 32) % below;
}

// One of the bits that are set in mask, of which there is one.
static unsigned any_bit(struct program *p, uint32_t mask)
{
    unsigned bit;
    do
        bit = any(p, 32);
    while (!(mask & 1u << bit));
    return bit;
}

unsigned first_cell(unsigned place)
{
    unsigned cell = 0;
    for (unsigned i = 0; i < place; i++)
        cell += places[i].cells;
    return cell;
}

unsigned cell_count(void)
{
    return first_cell(PLACES);
}

unsigned place_of(unsigned cell)
{
    unsigned place = 0;
    while (cell >= first_cell(place + 1))
        place++;
    return place;
}

unsigned level_of(unsigned cell)
{
    return places[place_of(cell)].level;
}

// ---- pointers ----

// A place of that level that this program uses, or any of the level. Constant memory has no address that a kernel follows.
static unsigned any_place(struct program *p, unsigned level, int pointed_to)
{
    for (unsigned tries = 0;; tries++) {
        unsigned place = any(p, PLACES);
        if (places[place].level == level && !(pointed_to && places[place].is_constant) &&
            (tries > 50 || p->cells_used & 1u << place))
            return place;
    }
}

static unsigned any_cell(struct program *p, unsigned level, int pointed_to)
{
    unsigned place = any_place(p, level, pointed_to);
    return first_cell(place) + any(p, places[place].cells);
}

// What a cell of that level may point to.
static uint8_t any_target(struct program *p, unsigned level)
{
    return (uint8_t)(level == 1 ? any(p, BUFFERS) : any_cell(p, level - 1, 1));
}

// ---- kernels ----

static int is_there(unsigned place, unsigned root, unsigned module)
{
    if (places[place].is_constant)
        return root == VARIABLE && places[place].module == module;
    return root != VARIABLE || (places[place].is_variable && places[place].module == module);
}

// A path's beginning at that cell: by the name of its variable, by its table and an index, by its address.
static void draw_root(struct program *p, struct path *path, unsigned module)
{
    unsigned place = path->cell < 0 ? PLACES : place_of((unsigned)path->cell);
    path->noise = (uint16_t)any(p, 65536);
    if (place < PLACES && places[place].is_variable && is_there(place, VARIABLE, module) &&
        (places[place].is_constant || any(p, 3))) {
        path->root = VARIABLE;
        return;
    }
    do
        path->root = (uint8_t)any_bit(p, p->roots);
    while (path->root == INDEXED && place == PLACES);
}

// To a buffer, over at most three loads.
static void draw_path(struct program *p, struct path *path, unsigned module)
{
    path->loads = (uint8_t)(any(p, 4) ? 1 + any(p, 3) : 0);
    path->cell = -1;
    path->buffer = (uint8_t)any(p, BUFFERS);
    if (path->loads)
        do
            path->cell = (int8_t)any_cell(p, path->loads, 0);
        while (places[place_of((unsigned)path->cell)].is_constant &&
               !is_there(place_of((unsigned)path->cell), VARIABLE, module));
    draw_root(p, path, module);
}

// To a cell of that level that a kernel may write.
static void draw_path_to_cell(struct program *p, struct path *path, unsigned level, unsigned module)
{
    path->loads = (uint8_t)any(p, 4 - level);
    path->cell = (int8_t)any_cell(p, level + path->loads, 1);
    path->buffer = 0;
    draw_root(p, path, module);
}

static void draw_kernel(struct program *p, struct step *step)
{
    unsigned level = any(p, 3) ? 1 : 2;
    step->module = (uint8_t)any(p, 2);
    step->kind = (uint8_t)(any(p, 5) ? KERNEL_STORE + any(p, 4) : KERNEL_PUT + any(p, 2));
    step->as_graph = !any(p, 8);
    step->lies = !any(p, 4);
    step->spin = (uint8_t)any(p, LONG_SPIN);
    if (step->kind < KERNEL_PUT) {
        for (unsigned i = 0; i < PATHS; i++)
            draw_path(p, &step->path[i], step->module);
        return;
    }
    draw_path_to_cell(p, &step->path[0], level, step->module);
    draw_path_to_cell(p, &step->path[1], level, step->module);
    step->target = any_target(p, level);
}

// ---- what brings pointers ----

static void draw_bring(struct program *p, struct step *step)
{
    do {
        step->bring = (uint8_t)any_bit(p, p->brings);
        step->cell = (uint8_t)any_cell(p, 1 + !any(p, 3) + !any(p, 9), 0);
    } while (step->bring == VALUE_WRITE && places[place_of(step->cell)].is_variable);
    step->target = any_target(p, level_of(step->cell));
}

static void draw_table(struct program *p, struct step *step)
{
    unsigned level = 1 + !any(p, 3);
    step->place = (uint8_t)any_place(p, level, 0);
    step->bring = (uint8_t)any(p, TABLE_BRINGS);
    for (unsigned i = 0; i < places[step->place].cells; i++)
        step->targets[i] = any_target(p, level);
}

static void draw_host_write(struct program *p, struct step *step)
{
    step->cell = (uint8_t)(first_cell(PINNED_TABLE) + any(p, places[PINNED_TABLE].cells));
    step->target = (uint8_t)any(p, BUFFERS);
}

static void draw_renewal(struct program *p, struct step *step)
{
    step->buffer = (uint8_t)any(p, PINNED_BUFFER);
    for (unsigned cell = 0; cell < cell_count(); cell++)
        if (level_of(cell) == 1 && p->target[cell] == step->buffer)
            step->cells |= 1ull << cell;
}

static void draw_step(struct program *p, struct step *step)
{
    unsigned which = any(p, 32);
    memset(step, 0, sizeof *step);
    step->seat = (uint8_t)any(p, SEATS);
    step->value = any(p, 1000);
    step->buffer = (uint8_t)any(p, BUFFERS);
    step->from = (uint8_t)any(p, BUFFERS);
    if (which < 16) {
        draw_kernel(p, step);
    } else if (which < 24) {
        step->kind = BRING;
        draw_bring(p, step);
    } else if (which < 26) {
        step->kind = BRING_TABLE;
        draw_table(p, step);
    } else if (which < 27 && !any(p, 2)) {
        step->kind = HOST_WRITE;
        draw_host_write(p, step);
    } else if (which < 28 && !any(p, 2)) {
        step->kind = RENEW;
        draw_renewal(p, step);
    } else {
        step->kind = (uint8_t)(MEMSET + any(p, 3));
    }
}

// Some of count, one at least.
static uint32_t some(struct program *p, unsigned count, uint32_t left_out)
{
    uint32_t all = ((1u << count) - 1) & ~left_out, chosen;
    do
        chosen = (uint32_t)next(p) & (uint32_t)next(p) & all;
    while (!chosen);
    return chosen;
}

static void draw_last(struct program *p, unsigned spin)
{
    struct step *step = &p->step[p->step_count++];
    memset(step, 0, sizeof *step);
    step->seat = (uint8_t)any(p, SEATS);
    step->value = any(p, 1000);
    draw_kernel(p, step);
    step->spin = (uint8_t)spin;
    model_apply(p, step);
}

void program_draw(struct program *p, unsigned seed, unsigned steps)
{
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->random = seed * 0x2545f4914f6cdd1dull;
    p->roots = some(p, ROOTS, roots_left_out);
    if (p->roots == 1u << INDEXED)
        p->roots |= 1u << PLAIN;
    p->brings = some(p, BRINGS, brings_left_out);
    p->cells_used = some(p, PLACES, 0);
    for (unsigned cell = 0; cell < cell_count(); cell++)
        p->first_target[cell] = any_target(p, level_of(cell));
    model_start(p);
    while (p->step_count + 2 < steps) {
        draw_step(p, &p->step[p->step_count]);
        model_apply(p, &p->step[p->step_count++]);
    }
    draw_last(p, LONG_SPIN); // no lucky order hides what the last one does not wait for
    draw_last(p, 0);
    for (unsigned i = 0; i < p->step_count; i++)
        p->kernels += is_kernel(&p->step[i]);
}

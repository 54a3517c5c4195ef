// SPDX-License-Identifier: Apache-2.0
//
// A program in words, for --print.

#include "tests/apps/pointers_random/program.h"

static void print_cell(FILE *out, unsigned cell)
{
    unsigned place = place_of(cell);
    fprintf(out, "%s[%u]", places[place].name, cell - first_cell(place));
}

static void print_target(FILE *out, unsigned level, unsigned target)
{
    if (level == 1)
        fprintf(out, "buffer %u", target);
    else
        print_cell(out, target);
}

static void print_path(FILE *out, const struct path *path)
{
    fprintf(out, "(%s ", root_names[path->root]);
    for (unsigned i = 0; i < path->loads; i++)
        fputc('*', out);
    if (path->cell < 0)
        fprintf(out, "buffer %u)", path->buffer);
    else {
        print_cell(out, (unsigned)path->cell);
        fputc(')', out);
    }
}

static void print_kernel(FILE *out, const struct step *step)
{
    static const unsigned char paths[] = {
        [KERNEL_STORE] = 1, [KERNEL_SCALE] = 2, [KERNEL_ADD] = 3, [KERNEL_RED] = 2, [KERNEL_PUT] = 1, [KERNEL_MOVE] = 2};
    for (unsigned i = 0; i < paths[step->kind]; i++) {
        fputc(' ', out);
        print_path(out, &step->path[i]);
    }
    if (step->kind == KERNEL_PUT) {
        fputs(" = ", out);
        print_target(out, level_of((unsigned)step->path[0].cell) - step->path[0].loads, step->target);
    }
    fprintf(out, ", module %u, spin %u%s%s", step->module, step->spin, step->as_graph ? ", graph" : "",
            step->lies ? ", const name" : "");
}

static void print_step(FILE *out, const struct step *step)
{
    switch (step->kind) {
    case BRING:
    case HOST_WRITE:
        fputc(' ', out);
        print_cell(out, step->cell);
        fputs(" = ", out);
        print_target(out, level_of(step->cell), step->target);
        if (step->kind == BRING)
            fprintf(out, " by %s", bring_names[step->bring]);
        return;
    case BRING_TABLE:
        fprintf(out, " %s by %s:", places[step->place].name, bring_names[step->bring]);
        for (unsigned i = 0; i < places[step->place].cells; i++) {
            fputc(' ', out);
            print_target(out, places[step->place].level, step->targets[i]);
        }
        return;
    case COPY: fprintf(out, " buffer %u = buffer %u", step->buffer, step->from); return;
    case RENEW:
    case MEMSET:
    case FROM_HOST: fprintf(out, " buffer %u = %u", step->buffer, step->value); return;
    default: print_kernel(out, step); return;
    }
}

void program_print(FILE *out, const struct program *p)
{
    fprintf(out, "seed %u\n", p->seed);
    for (unsigned i = 0; i < cell_count(); i++) {
        print_cell(out, i);
        fputs(" = ", out);
        print_target(out, level_of(i), p->first_target[i]);
        fputs(i + 1 < cell_count() ? ", " : "\n", out);
    }
    for (unsigned i = 0; i < p->step_count; i++) {
        fprintf(out, "%2u thread %u: %s", i, p->step[i].seat, step_names[p->step[i].kind]);
        print_step(out, &p->step[i]);
        fputc('\n', out);
    }
}

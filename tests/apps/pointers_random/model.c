// SPDX-License-Identifier: Apache-2.0
//
// What a program does, one step after the other as they are called: what legacy order promises. Called while a program is
// drawn. Shares nothing with how the steps are carried out.

#include <string.h>

#include "tests/apps/pointers_random/program.h"

uint32_t first_word(unsigned buffer, unsigned word)
{
    return (buffer + 1) * 0x01000000u + word;
}

void model_start(struct program *p)
{
    memcpy(p->target, p->first_target, sizeof p->target);
    for (unsigned buffer = 0; buffer < BUFFERS; buffer++)
        for (unsigned i = 0; i < WORDS; i++)
            p->words[buffer][i] = first_word(buffer, i);
}

unsigned path_cell(const struct program *p, const struct path *path)
{
    unsigned cell = (unsigned)path->cell;
    for (unsigned i = 0; i < path->loads; i++)
        cell = p->target[cell];
    return cell;
}

unsigned path_buffer(const struct program *p, const struct path *path)
{
    return path->cell < 0 ? path->buffer : path_cell(p, path);
}

static void kernel(struct program *p, const struct step *step)
{
    uint32_t *to = p->words[path_buffer(p, &step->path[0])];
    const uint32_t *from = p->words[path_buffer(p, &step->path[1])], *other = p->words[path_buffer(p, &step->path[2])];
    for (unsigned i = 0; i < WORDS; i++)
        switch (step->kind) {
        case KERNEL_STORE: to[i] = step->value + i; break;
        case KERNEL_SCALE: to[i] = from[i] * 3 + step->value; break;
        case KERNEL_ADD: to[i] = from[i] + other[i] + step->value; break;
        default: to[i] += from[i]; break;
        }
}

void model_apply(struct program *p, const struct step *step)
{
    switch (step->kind) {
    case KERNEL_STORE:
    case KERNEL_SCALE:
    case KERNEL_ADD:
    case KERNEL_RED: kernel(p, step); return;
    case KERNEL_PUT: p->target[path_cell(p, &step->path[0])] = step->target; return;
    case KERNEL_MOVE: p->target[path_cell(p, &step->path[0])] = p->target[path_cell(p, &step->path[1])]; return;
    case BRING:
    case HOST_WRITE: p->target[step->cell] = step->target; return;
    case BRING_TABLE: memcpy(p->target + first_cell(step->place), step->targets, places[step->place].cells); return;
    case COPY: memcpy(p->words[step->buffer], p->words[step->from], sizeof p->words[0]); return;
    default: break;
    }
    for (unsigned i = 0; i < WORDS; i++) // RENEW, MEMSET, FROM_HOST
        p->words[step->buffer][i] = step->value;
}

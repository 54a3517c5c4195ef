/* SPDX-License-Identifier: Apache-2.0
 *
 * Building the small form. Called by the front ends alone.
 */
#include "interpose/code/form.h"

#include <string.h>

#include "interpose/code/arena.h"

/* Twice the room for `count` things of that size; NULL: there is no memory. */
static void *grown(struct form *form, const void *old, uint32_t count, uint32_t *room, size_t size)
{
    uint32_t wanted = *room ? *room * 2 : 256;
    void *now = wanted > *room ? arena_get(form->arena, wanted * size) : NULL;
    if (!now) {
        form_unknown(form, CODE_WHY_MEMORY, 0, NULL);
        return NULL;
    }
    if (count)
        memcpy(now, old, count * size);
    *room = wanted;
    return now;
}

uint32_t form_add(struct form *form, const struct step *step)
{
    if (form->steps == form->room) {
        struct step *now = grown(form, form->step, form->steps, &form->room, sizeof *now);
        if (!now)
            return UINT32_MAX;
        form->step = now;
    }
    form->step[form->steps] = *step;
    return form->steps++;
}

uint32_t form_add_target(struct form *form, uint32_t step)
{
    if (form->target_count == form->target_room) {
        uint32_t *now = grown(form, form->target, form->target_count, &form->target_room, sizeof *now);
        if (!now)
            return 0;
        form->target = now;
    }
    form->target[form->target_count] = step;
    return form->target_count++;
}

struct meaning *form_add_meaning(struct form *form, const struct meaning *meaning)
{
    if (form->meanings == form->meaning_room) {
        struct meaning *now = grown(form, form->meaning, form->meanings, &form->meaning_room, sizeof *now);
        if (!now)
            return NULL;
        form->meaning = now;
    }
    form->meaning[form->meanings] = *meaning;
    return &form->meaning[form->meanings++];
}

void form_unknown(struct form *form, enum code_why why, uint32_t at, const char *text)
{
    struct code_facts *facts = form->facts;
    if (facts->verdict == CODE_UNKNOWN)
        return;
    facts->verdict = CODE_UNKNOWN;
    facts->why = (uint8_t)why;
    facts->at = at;
    strncpy(facts->text, text ? text : "", CODE_TEXT - 1);
}

static int is_named(const struct code_variable *variable, const char *name, size_t size, int constant)
{
    return strlen(variable->name) == size && memcmp(variable->name, name, size) == 0 &&
           variable->constant == (constant != 0);
}

uint16_t form_variable(struct form *form, const char *name, size_t size, uint64_t bytes, int constant)
{
    struct code_facts *facts = form->facts;
    if (size >= CODE_NAME)
        size = CODE_NAME - 1;
    for (uint16_t i = 0; i < facts->variables; i++) {
        if (is_named(&facts->variable[i], name, size, constant))
            return i;
    }
    if (facts->variables == CODE_VARIABLES) {
        form_unknown(form, CODE_WHY_MANY, 0, "variables");
        return NO_VARIABLE;
    }
    struct code_variable *variable = &facts->variable[facts->variables];
    memcpy(variable->name, name, size);
    variable->name[size] = 0;
    variable->size = bytes;
    variable->constant = constant != 0;
    return facts->variables++;
}

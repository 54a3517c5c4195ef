/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects of one dimension, as words of 32 bits: no filters, no address modes. Called by
 * ptx_families.c's table. Outside of its memory a texture is 0, and a surface traps.
 */
#include "tests/sim/ptx_memory.h"
#include "tests/sim/sim.h"

/* Where a word of the object is, or NULL. What is claimed is its memory, or the array by its handle. */
static unsigned char *word(struct ptx_thread *t, const struct ptx_instruction *i, enum object_kind kind, int64_t at,
                           bool writes)
{
    size_t bytes = 0;
    uint64_t address, array;
    if (!object_memory(SLOT(a), kind, &address, &bytes, &array))
        ptx_fault(t, i, SLOT(a), "not such an object");
    if (at < 0 || (uint64_t)at + 4 > bytes)
        return NULL;
    if (t->grid->claim)
        claim_check(t, i, address + (uint64_t)at, array, 4, writes);
    return (unsigned char *)memory_bytes(address) + at;
}

/* a: the object, b: which element, v: four results, of which memory has the first. */
STEP(step_texture)
{
    const unsigned char *p = word(t, i, OBJECT_TEXTURE, (int64_t)(int32_t)SLOT(b) * 4, false);
    uint32_t value = 0;
    if (p)
        memcpy(&value, p, sizeof value);
    t->slots[i->v[0]] = value;
    for (unsigned n = 1; n < i->count; n++)
        t->slots[i->v[n]] = 0;
    return i + 1;
}

/* b: which byte. */
STEP(step_surface_load)
{
    const unsigned char *p = word(t, i, OBJECT_SURFACE, (int32_t)SLOT(b), false);
    uint32_t value;
    if (!p)
        ptx_fault(t, i, SLOT(b), "outside of a surface");
    memcpy(&value, p, sizeof value);
    t->slots[i->v[0]] = value;
    return i + 1;
}
STEP(step_surface_store)
{
    unsigned char *p = word(t, i, OBJECT_SURFACE, (int32_t)SLOT(b), true);
    const uint32_t value = (uint32_t)t->slots[i->v[0]];
    if (!p)
        ptx_fault(t, i, SLOT(b), "outside of a surface");
    memcpy(p, &value, sizeof value);
    t->polled = t->timed = false;
    return i + 1;
}

static bool is_object(struct body *b, const struct operand *o)
{
    if (o->kind != OPERAND_OBJECT || o->count < 1)
        fail(b, "an object");
    return !b->failed;
}

/* tex.1d.v4.u32.s32 {r, s, t, u}, [object, {x}] */
static void texture(struct body *b, struct statement *s)
{
    bool known = take(s, "1d") && take(s, "v4");
    enum ptx_type type = take_type(s), by = take_type(s);
    if (!known || type_size(type) != 4 || by != TYPE_S32 || s->operand_count != 2 || s->operands[0].count != 4 ||
        !is_object(b, &s->operands[1])) {
        fail(b, "a texture");
        return;
    }
    uint32_t v[4];
    for (unsigned n = 0; n < 4; n++)
        v[n] = destination_token(b, &s->operands[0].list[n]);
    uint32_t object = source_token(b, &s->operands[1].token, false, TYPE_U64);
    uint32_t at = source_token(b, &s->operands[1].list[0], s->operands[1].list_negative[0], TYPE_S32);
    struct ptx_instruction *i = emit(b, step_texture);
    i->a = object, i->b = at, i->count = 4, i->flags = 0;
    memcpy(i->v, v, sizeof v);
}

/* suld.b.1d.b32.trap {r}, [object, {x}] and sust.b.1d.b32.trap [object, {x}], {r} */
static void surface(struct body *b, struct statement *s, bool loads)
{
    bool known = take(s, "b") && take(s, "1d");
    take(s, "trap");
    const struct operand *object = &s->operands[loads], *value = &s->operands[!loads];
    if (!known || type_size(take_type(s)) != 4 || s->operand_count != 2 || !is_object(b, object)) {
        fail(b, "a surface");
        return;
    }
    const struct token *which = value->kind == OPERAND_LIST ? &value->list[0] : &value->token;
    uint32_t v = loads ? destination_token(b, which) : source_token(b, which, false, TYPE_U32);
    uint32_t handle = source_token(b, &object->token, false, TYPE_U64);
    uint32_t at = source_token(b, &object->list[0], object->list_negative[0], TYPE_S32);
    struct ptx_instruction *i = emit(b, loads ? step_surface_load : step_surface_store);
    i->a = handle, i->b = at, i->v[0] = v, i->count = 1, i->flags = 0;
}

void family_texture(struct body *b, struct statement *s)
{
    if (token_is(&s->parts[0], "tex"))
        texture(b, s);
    else
        surface(b, s, token_is(&s->parts[0], "suld"));
}

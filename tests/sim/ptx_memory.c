/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads and stores of every space and width, and where their bytes are. Called by ptx_families.c's table; ptx_atomic.c and
 * ptx_texture.c ask for bytes, too. A global address is that of the memory itself, as for every other work of the
 * simulator: what nobody may touch faults.
 */
#include "tests/sim/ptx_memory.h"
#include "tests/sim/sim.h"

static unsigned char *shared_bytes(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, size_t size)
{
    const size_t fixed = t->grid->entry->text->shared_bytes, dynamic = t->grid->work->shared;
    if (address + size <= fixed)
        return t->block->shared + address;
    if (address >= PTX_DYNAMIC_SHARED && address - PTX_DYNAMIC_SHARED + size <= dynamic)
        return t->block->dynamic + (address - PTX_DYNAMIC_SHARED);
    ptx_fault(t, i, address, "outside of shared memory");
}

static unsigned char *local_bytes(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, size_t size)
{
    const uint64_t depth = address >> PTX_LOCAL_FRAME, at = address & ((1ull << PTX_LOCAL_FRAME) - 1);
    struct ptx_frame *f = t->frame;
    while (f && f->depth != depth)
        f = f->caller;
    if (!f || at + size > f->function->local_bytes)
        ptx_fault(t, i, address, "outside of local memory");
    return f->local + at;
}

static const unsigned char *param_bytes(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address,
                                        size_t size)
{
    if (address + size > t->grid->entry->parameter_bytes || address + size < address)
        ptx_fault(t, i, address, "outside of the parameters");
    return t->grid->parameters + address;
}

void *ptx_global(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, size_t size, bool writes)
{
    if (t->grid->claim)
        claim_check(t, i, address, 0, size, writes);
    struct ptx_grid *g = t->grid;
    if (address - g->window < g->window_bytes || memory_window(address, &g->window, &g->window_bytes, &g->window_at))
        return g->window_at + (address - g->window);
    return memory_bytes(address);
}

unsigned char *ptx_reach(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, size_t size, bool writes)
{
    switch (i->space) {
    case SPACE_GLOBAL:
    case SPACE_CONST: return ptx_global(t, i, address, size, writes);
    case SPACE_SHARED: return shared_bytes(t, i, (uint32_t)address, size);
    case SPACE_LOCAL: return local_bytes(t, i, address, size);
    default: break;
    }
    switch (PTX_WINDOW_OF(address)) {
    case PTX_WINDOW_SHARED: return shared_bytes(t, i, address - PTX_WINDOW_SHARED, size);
    case PTX_WINDOW_LOCAL: return local_bytes(t, i, address - PTX_WINDOW_LOCAL, size);
    case PTX_WINDOW_PARAM: /* only read: writes are faults below */
        if (writes)
            ptx_fault(t, i, address, "a store to a parameter");
        return (unsigned char *)(uintptr_t)param_bytes(t, i, address - PTX_WINDOW_PARAM, size);
    default: return ptx_global(t, i, address, size, writes);
    }
}

/* ---- one value ---- */

static uint64_t extended(uint64_t value, const struct ptx_instruction *i)
{
    if (!(i->flags & PTX_SIGNED))
        return value;
    switch (i->size) {
    case 1: return (uint64_t)(int8_t)value;
    case 2: return (uint64_t)(int16_t)value;
    case 4: return (uint64_t)(int32_t)value;
    default: return value;
    }
}

static uint64_t get(const unsigned char *p, unsigned size)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (size) {
    case 1: return memcpy(&one, p, 1), one;
    case 2: return memcpy(&two, p, 2), two;
    case 4: return memcpy(&four, p, 4), four;
    default: return memcpy(&eight, p, 8), eight;
    }
}

static void put(unsigned char *p, unsigned size, uint64_t value)
{
    switch (size) {
    case 1: memcpy(p, &value, 1); break;
    case 2: memcpy(p, &value, 2); break;
    case 4: memcpy(p, &value, 4); break;
    default: memcpy(p, &value, 8); break;
    }
}

/* What others may write meanwhile, or wait for. */
static uint64_t get_strong(const unsigned char *p, unsigned size)
{
    switch (size) {
    case 1: return __atomic_load_n((const uint8_t *)p, __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n((const uint16_t *)p, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
    }
}

static void put_strong(unsigned char *p, unsigned size, uint64_t value)
{
    switch (size) {
    case 1: __atomic_store_n((uint8_t *)p, (uint8_t)value, __ATOMIC_RELEASE); break;
    case 2: __atomic_store_n((uint16_t *)p, (uint16_t)value, __ATOMIC_RELEASE); break;
    case 4: __atomic_store_n((uint32_t *)p, (uint32_t)value, __ATOMIC_RELEASE); break;
    default: __atomic_store_n((uint64_t *)p, value, __ATOMIC_RELEASE); break;
    }
}

void ptx_polled(struct ptx_thread *t, uint64_t address, uint64_t value)
{
    t->polled = true;
    t->seen = (t->seen ^ address ^ value * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull + 1;
}

/* Something that others can see has happened; a thread's own memory is none of that. */
static void stored(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address)
{
    if (i->space != SPACE_LOCAL && PTX_WINDOW_OF(address) != PTX_WINDOW_LOCAL)
        t->polled = t->timed = false;
}

static void need_aligned(struct ptx_thread *t, const struct ptx_instruction *i, const unsigned char *p, uint64_t address)
{
    if ((uintptr_t)p % i->size)
        ptx_fault(t, i, address, "not aligned");
}

/* a: the address, v: where the values go. */
STEP(step_load)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    const unsigned char *p = ptx_reach(t, i, address, i->size, false);
    t->slots[i->v[0]] = extended(get(p, i->size), i);
    return i + 1;
}
STEP(step_load_many)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    const unsigned char *p = ptx_reach(t, i, address, (size_t)i->size * i->count, false);
    for (unsigned n = 0; n < i->count; n++)
        t->slots[i->v[n]] = extended(get(p + n * i->size, i->size), i);
    return i + 1;
}
STEP(step_load_strong)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    const unsigned char *p = ptx_reach(t, i, address, (size_t)i->size * i->count, false);
    need_aligned(t, i, p, address);
    for (unsigned n = 0; n < i->count; n++) {
        uint64_t value = get_strong(p + n * i->size, i->size);
        ptx_polled(t, address + n, value);
        t->slots[i->v[n]] = extended(value, i);
    }
    return i + 1;
}
STEP(step_store)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    put(ptx_reach(t, i, address, i->size, true), i->size, t->slots[i->v[0]]);
    stored(t, i, address);
    return i + 1;
}
STEP(step_store_many)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    unsigned char *p = ptx_reach(t, i, address, (size_t)i->size * i->count, true);
    for (unsigned n = 0; n < i->count; n++)
        put(p + n * i->size, i->size, t->slots[i->v[n]]);
    stored(t, i, address);
    return i + 1;
}
STEP(step_store_strong)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    unsigned char *p = ptx_reach(t, i, address, (size_t)i->size * i->count, true);
    need_aligned(t, i, p, address);
    for (unsigned n = 0; n < i->count; n++)
        put_strong(p + n * i->size, i->size, t->slots[i->v[n]]);
    stored(t, i, address);
    return i + 1;
}

/* Of an entry's parameters, at `offset`; a: more, of an address in a register. */
STEP(step_load_param)
{
    const unsigned char *p = param_bytes(t, i, (uint64_t)i->offset + SLOT(a), (size_t)i->size * i->count);
    for (unsigned n = 0; n < i->count; n++)
        t->slots[i->v[n]] = extended(get(p + n * i->size, i->size), i);
    return i + 1;
}
/* Of .param memory of the frame; the place was looked at when it was read. */
STEP(step_load_frame)
{
    for (unsigned n = 0; n < i->count; n++)
        t->slots[i->v[n]] = extended(get(t->frame->params + i->offset + n * i->size, i->size), i);
    return i + 1;
}
STEP(step_store_frame)
{
    for (unsigned n = 0; n < i->count; n++)
        put(t->frame->params + i->offset + n * i->size, i->size, t->slots[i->v[n]]);
    return i + 1;
}

/* ---- reading them ---- */

static void values(struct body *b, const struct operand *o, enum ptx_type type, unsigned count, bool loads, uint32_t v[4])
{
    if (o->kind == OPERAND_LIST && o->count != count) {
        fail(b, "a vector");
        return;
    }
    if (o->kind != OPERAND_LIST && count != 1) {
        fail(b, "a vector");
        return;
    }
    for (unsigned n = 0; n < count; n++) {
        if (o->kind != OPERAND_LIST)
            v[n] = loads ? destination(b, o) : source(b, o, type);
        else
            v[n] = loads ? destination_token(b, &o->list[n]) : source_token(b, &o->list[n], o->list_negative[n], type);
    }
}

/* A parameter: by its name, in this frame or the launch's. NULL: by another address. */
static ptx_step param_step(struct body *b, struct ptx_instruction *made, const struct operand *address, bool loads)
{
    int64_t number;
    const struct name *n = name_find(b, &address->token, &number);
    const size_t size = (size_t)made->size * made->count;
    if (n && n->what == NAME_FRAME_PARAM) {
        if (address->offset < 0 || (size_t)address->offset + size > n->size) {
            fail(b, "an address");
            return NULL;
        }
        made->offset = (int64_t)n->offset + address->offset;
        return loads ? step_load_frame : step_store_frame;
    }
    if (!loads) {
        fail(b, "a store to a parameter");
        return NULL;
    }
    if (n && n->what == NAME_PARAM) {
        made->a = PTX_SLOT_ZERO;
        made->offset = (int64_t)n->offset + address->offset;
        return step_load_param;
    }
    made->a = address_of(b, address, &made->offset);
    return step_load_param;
}

static ptx_step plain_step(const struct ptx_instruction *made, bool loads)
{
    if (made->flags & PTX_STRONG)
        return loads ? step_load_strong : step_store_strong;
    if (made->count == 1)
        return loads ? step_load : step_store;
    return loads ? step_load_many : step_store_many;
}

unsigned memory_space(struct statement *s)
{
    static const unsigned spaces[] = {SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_SHARED,
                                      SPACE_LOCAL,  SPACE_PARAM, SPACE_PARAM,  SPACE_PARAM};
    int n = TAKE_ONE(s, "global", "const", "shared", "shared::cta", "local", "param", "param::entry", "param::func");
    return n < 0 ? SPACE_GENERIC : spaces[n];
}

bool memory_order(struct statement *s)
{
    bool strong = TAKE_ONE(s, "volatile", "relaxed", "acquire", "release", "acq_rel") >= 0;
    take(s, "weak");
    take(s, "mmio");
    TAKE_ONE(s, "cta", "cluster", "gpu", "sys");
    return strong;
}

/* Caches: no difference here. */
static void take_hints(struct statement *s)
{
    while (TAKE_ONE(s, "ca", "cg", "cs", "lu", "cv", "nc", "wb", "wt", "L1::no_allocate", "L1::evict_last",
                    "L1::evict_first", "L1::evict_normal", "L1::evict_unchanged", "L2::64B", "L2::128B", "L2::256B") >= 0)
        continue;
}

void family_memory(struct body *b, struct statement *s)
{
    const bool loads = !token_is(&s->parts[0], "st");
    const bool strong = memory_order(s);
    struct ptx_instruction made = {.space = (uint8_t)memory_space(s), .flags = strong ? PTX_STRONG : 0, .count = 1};
    take_hints(s);
    int vector = TAKE_ONE(s, "v2", "v4");
    enum ptx_type type = take_type(s);
    if (vector >= 0)
        made.count = vector ? 4 : 2;
    if (type == TYPE_NONE || type == TYPE_PREDICATE || s->operand_count != 2) {
        fail(b, "operands");
        return;
    }
    made.size = (uint8_t)type_size(type);
    if (type >= TYPE_S8 && type <= TYPE_S64)
        made.flags |= PTX_SIGNED;
    const struct operand *address = &s->operands[loads], *value = &s->operands[!loads];
    values(b, value, type, made.count, loads, made.v);
    if (address->kind != OPERAND_ADDRESS || (!loads && made.space == SPACE_CONST)) {
        fail(b, "an address");
        return;
    }
    if (made.space == SPACE_PARAM) {
        made.run = param_step(b, &made, address, loads);
    } else {
        made.a = address_of(b, address, &made.offset);
        made.run = plain_step(&made, loads);
    }
    struct ptx_instruction *i = emit(b, made.run);
    made.at = i->at;
    *i = made;
}

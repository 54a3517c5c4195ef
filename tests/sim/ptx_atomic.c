/* SPDX-License-Identifier: Apache-2.0
 *
 * atom and red, of 32 and 64 bits in every space. Called by ptx_families.c's table.
 */
#include "tests/sim/ptx_memory.h"

enum operation { ADD, MIN, MAX, AND, OR, XOR, EXCH, CAS, INC, DEC };

static uint64_t sum(uint64_t old, uint64_t with, const struct ptx_instruction *i)
{
    if (i->v[1] == TYPE_F32)
        return of_float(float_of(old) + float_of(with));
    return i->v[1] == TYPE_F64 ? of_double(double_of(old) + double_of(with)) : old + with;
}

static bool less(uint64_t x, uint64_t y, unsigned type)
{
    switch (type) {
    case TYPE_S32: return (int32_t)x < (int32_t)y;
    case TYPE_S64: return (int64_t)x < (int64_t)y;
    case TYPE_U32: return (uint32_t)x < (uint32_t)y;
    default: return x < y;
    }
}

/* What takes the place of `old`. v: the operation and the type. */
static uint64_t changed(const struct ptx_thread *t, const struct ptx_instruction *i, uint64_t old)
{
    const uint64_t with = t->slots[i->b];
    switch (i->v[0]) {
    case ADD: return sum(old, with, i);
    case MIN: return less(with, old, i->v[1]) ? with : old;
    case MAX: return less(old, with, i->v[1]) ? with : old;
    case AND: return old & with;
    case OR: return old | with;
    case XOR: return old ^ with;
    case EXCH: return with;
    case CAS:
        return i->size == 4 ? (uint32_t)with == (uint32_t)old ? t->slots[i->c] : old : with == old ? t->slots[i->c] : old;
    case INC: return (uint32_t)old >= (uint32_t)with ? 0 : old + 1;
    default: return !(uint32_t)old || (uint32_t)old > (uint32_t)with ? with : old - 1;
    }
}

/* One that changes nothing is a look at the memory: a lock is waited for in this way. */
static void seen(struct ptx_thread *t, uint64_t address, uint64_t old, bool same)
{
    if (same)
        ptx_polled(t, address, old);
    else
        t->polled = t->timed = false;
}

STEP(step_atomic_32)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    uint32_t *p = (uint32_t *)(void *)ptx_reach(t, i, address, 4, true), to;
    if ((uintptr_t)p % 4)
        ptx_fault(t, i, address, "not aligned");
    uint32_t old = __atomic_load_n(p, __ATOMIC_ACQUIRE);
    do {
        to = (uint32_t)changed(t, i, old);
    } while (!__atomic_compare_exchange_n(p, &old, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    seen(t, address, old, to == old);
    SLOT(d) = i->v[1] == TYPE_S32 ? (uint64_t)(int32_t)old : old;
    return i + 1;
}
STEP(step_atomic_64)
{
    const uint64_t address = SLOT(a) + (uint64_t)i->offset;
    uint64_t *p = (uint64_t *)(void *)ptx_reach(t, i, address, 8, true), to;
    if ((uintptr_t)p % 8)
        ptx_fault(t, i, address, "not aligned");
    uint64_t old = __atomic_load_n(p, __ATOMIC_ACQUIRE);
    do {
        to = changed(t, i, old);
    } while (!__atomic_compare_exchange_n(p, &old, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    seen(t, address, old, to == old);
    SLOT(d) = old;
    return i + 1;
}

static bool fits(int operation, enum ptx_type type)
{
    const size_t size = type_size(type);
    if (type == TYPE_F32 || type == TYPE_F64)
        return operation == ADD || operation == EXCH;
    if (operation == INC || operation == DEC)
        return type == TYPE_U32;
    return type != TYPE_NONE && type != TYPE_PREDICATE && (size == 4 || size == 8);
}

void family_atomic(struct body *b, struct statement *s)
{
    const bool returns = token_is(&s->parts[0], "atom");
    memory_order(s);
    unsigned space = memory_space(s);
    int operation = TAKE_ONE(s, "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec");
    enum ptx_type type = take_type(s);
    const unsigned first = returns; /* the address */
    if (operation < 0 || !fits(operation, type) || s->operand_count != first + 2 + (operation == CAS) ||
        space == SPACE_CONST || space == SPACE_PARAM) {
        fail(b, "an atomic operation");
        return;
    }
    int64_t offset;
    uint32_t address = address_of(b, &s->operands[first], &offset);
    uint32_t with = source(b, &s->operands[first + 1], type);
    uint32_t to = operation == CAS ? source(b, &s->operands[first + 2], type) : 0;
    uint32_t d = returns ? destination(b, &s->operands[0]) : 0;
    struct ptx_instruction *i = emit(b, type_size(type) == 4 ? step_atomic_32 : step_atomic_64);
    i->d = d, i->a = address, i->b = with, i->c = to, i->offset = offset;
    i->v[0] = (uint32_t)operation, i->v[1] = type;
    i->space = (uint8_t)space, i->size = (uint8_t)type_size(type), i->flags = 0;
}

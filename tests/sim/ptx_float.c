/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of floats and doubles, rounded to nearest. Called by ptx_arithmetic.c and ptx_families.c's table. What a GPU
 * approximates is exact here; .ftz is taken and small numbers stay.
 */
#include <math.h>

#include "tests/sim/ptx_body.h"

#define OPERATION(name, id, T, get, put, expression) \
    STEP(name##_##id) \
    { \
        const T a = get(SLOT(a)), b = get(SLOT(b)), c = get(SLOT(c)); \
        (void)a, (void)b, (void)c; \
        SLOT(d) = put(expression); \
        return i + 1; \
    }

/* Of a number and no number the number. */
#define STEPS(id, T, get, put, F) \
    OPERATION(add, id, T, get, put, a + b) \
    OPERATION(sub, id, T, get, put, a - b) \
    OPERATION(mul, id, T, get, put, a *b) \
    OPERATION(fused, id, T, get, put, fma##F(a, b, c)) \
    OPERATION(quotient, id, T, get, put, a / b) \
    OPERATION(smaller, id, T, get, put, fmin##F(a, b)) \
    OPERATION(larger, id, T, get, put, fmax##F(a, b)) \
    OPERATION(negated, id, T, get, put, -a) \
    OPERATION(absolute, id, T, get, put, fabs##F(a)) \
    OPERATION(root, id, T, get, put, sqrt##F(a)) \
    OPERATION(inverse, id, T, get, put, 1 / a)
STEPS(F32, float, float_of, of_float, f)
STEPS(F64, double, double_of, of_double, )

#define BOTH(name) \
    { \
        name##_F32, name##_F64 \
    }
static const struct {
    const char *opcode;
    unsigned operands;
    ptx_step steps[2];
} rows[] = {
    {"add", 2, BOTH(add)},     {"sub", 2, BOTH(sub)},      {"mul", 2, BOTH(mul)},     {"fma", 3, BOTH(fused)},
    {"mad", 3, BOTH(fused)},   {"div", 2, BOTH(quotient)}, {"min", 2, BOTH(smaller)}, {"max", 2, BOTH(larger)},
    {"neg", 1, BOTH(negated)}, {"abs", 1, BOTH(absolute)}, {"sqrt", 1, BOTH(root)},   {"rcp", 1, BOTH(inverse)},
};

void family_float(struct body *b, struct statement *s)
{
    enum ptx_type type = take_type(s);
    TAKE_ONE(s, "rn", "approx", "full");
    take(s, "ftz");
    if (type != TYPE_F32 && type != TYPE_F64) {
        fail(b, "a type");
        return;
    }
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (!token_is(&s->parts[0], rows[r].opcode))
            continue;
        uint32_t slots[3] = {0, 0, 0};
        if (s->operand_count != rows[r].operands + 1) {
            fail(b, "operands");
            return;
        }
        for (unsigned n = 0; n < rows[r].operands; n++)
            slots[n] = source(b, &s->operands[n + 1], type);
        uint32_t d = destination(b, &s->operands[0]);
        struct ptx_instruction *i = emit(b, rows[r].steps[type == TYPE_F64]);
        i->d = d, i->a = slots[0], i->b = slots[1], i->c = slots[2];
        return;
    }
    fail(b, "an opcode");
}

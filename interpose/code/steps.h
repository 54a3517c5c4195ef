/* SPDX-License-Identifier: Apache-2.0
 *
 * The two halves of doing a step: values (steps_values.c) and memory (steps.c).
 */
#ifndef PTDS_CODE_STEPS_H
#define PTDS_CODE_STEPS_H

#include "interpose/code/solve.h"

static inline struct value steps_value(const struct solver *solver, value_id id)
{
    return solver->values->value[id];
}

static inline value_id steps_source(struct solver *solver, const struct step *step, uint32_t i, uint32_t word)
{
    return operand_value(solver, &step->source[i], word);
}

/* Gives the result its value. All words are read before the first is written: results may lie where sources do. */
void steps_compute(struct solver *solver, const struct step *step);

#endif

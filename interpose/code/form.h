/* SPDX-License-Identifier: Apache-2.0
 *
 * The small form: what both front ends (sass/, ptx/) make of a kernel, and all that the solver knows of it. It says how
 * values come from values, 32 bits at a time, and nothing of what is computed.
 *
 * A value of more than 32 bits is words in consecutive registers, the lowest first. Registers are numbers from 0; a front
 * end deals them out as it likes (machine code: R0 to R254, then the uniform ones; PTX: one for each word of a virtual
 * register).
 */
#ifndef PTDS_CODE_FORM_H
#define PTDS_CODE_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/code/code.h"

enum operand_kind {
    OPERAND_NONE,      /* not there; as a value: 0 */
    OPERAND_REGISTER,  /* `number` */
    OPERAND_CONSTANT,  /* `value`, 64 bits */
    OPERAND_PARAMETER, /* the kernel's parameters from byte `value` on; `number` not NO_REGISTER: plus what that register
                          has */
    OPERAND_BANK,    /* constant memory of the module: variable `variable` from byte `value` on (the variable's own bytes);
                      * `number` as above */
    OPERAND_ADDRESS, /* the address of variable `variable`, plus `value` */
    OPERAND_STACK,   /* the address in local memory of the stack's byte `value`: a value, as the stack pointer has it */
    OPERAND_PARAMETERS_AT, /* the address in which the parameter at byte `value` lies */
    OPERAND_HEAP,          /* what malloc returns */
    OPERAND_OTHER /* a number that begins no address of the program's: thread indexes, clocks, the driver's own words */
};

enum { NO_REGISTER = 0xffff, NO_VARIABLE = 0xffff };
struct operand {
    uint8_t kind;
    uint8_t negated; /* subtracted; of LOGIC: inverted */
    uint8_t
        scaled;    /* of SUM: multiplied or shifted before it is added; or a part of a word: it can't be a pointer's word */
    uint8_t words; /* it has so many: those above are 0. 0: as many as the step */
    uint16_t number;
    uint16_t variable;
    int64_t value;
};

enum step_kind {
    STEP_NONE,    /* nothing that matters here */
    STEP_MOVE,    /* result = source 0 */
    STEP_SUM,     /* result = the sum of the sources; what is carried from word to word makes no pointer */
    STEP_JOIN,    /* result = one of the sources */
    STEP_PRODUCT, /* result = source 0 * source 1 + source 2; with `wide` the product has two words though its factors have
                   * one; with `upper` the result is the product's upper word, plus source 2's words */
    STEP_LOGIC,   /* result = each bit by table `table` of the bits of sources 0, 1 and 2 (0xf0: source 0, 0xcc: source 1,
                   * 0xaa: source 2), word by word */
    STEP_MIX,     /* result = made of the sources in a way that no pointer comes out of it: shifts, permutations, halves */
    STEP_FLOAT,   /* result = a number that no address is made of */
    STEP_LOAD,    /* result = `words` words at the address */
    STEP_STORE,   /* source 0 goes there */
    STEP_ATOMIC,  /* result = what lay there; sources 0 and 1 may lie there afterwards */
    STEP_STAGE, /* bytes from the address (global memory) to shared memory; `use` CODE_WRITE: from shared to global memory;
                 * no result */
    STEP_TEXTURE, /* a texture or surface by the handle that is source 0; `use`; result: numbers */
    STEP_TENSOR,  /* a tensor map whose address is the address; `use`; brings data to shared memory or from it */
    STEP_BRANCH,  /* to `target`; without a guard and `maybe` always */
    STEP_SWITCH,  /* to one of the program's targets [target, target + targets), or, with `maybe` or a guard, on */
    STEP_CALL,    /* of the code at `target`, which returns behind this step */
    STEP_RETURN,  /* from a call */
    STEP_EXIT,    /* the thread ends */
    STEP_FORGET   /* registers `result` up to `result` + `words`: an unknown function may have left anything there */
};

enum space { SPACE_GLOBAL, SPACE_GENERIC, SPACE_SHARED, SPACE_LOCAL, SPACE_CONSTANT };

/* The address of an access: the sum of the operands, each of `words` words (2; 1 where the address space has 32 bits). */
enum { STEP_SOURCES = 4, ADDRESS_PARTS = 3, STEP_PREDICATES = 2 };
enum { NO_PREDICATE = 0 };
struct step {
    uint8_t kind;
    uint8_t words;  /* of the result, or of what is stored; at most STEP_WORDS */
    uint8_t narrow; /* less than a whole word is loaded or stored, or words that are no multiples of 32 bits */
    uint8_t maybe;  /* of BRANCH and SWITCH: by a condition that is no guard */
    uint8_t wide, upper, table;
    uint8_t space, use; /* enum space, enum code_use; of accesses */
    uint16_t result;    /* NO_REGISTER: none */
    uint16_t guard;     /* done only if that predicate holds; NO_PREDICATE: always. Predicates are numbers from 1 */
    uint8_t guard_negated;
    uint8_t sources, parts;
    uint16_t sets[STEP_PREDICATES]; /* predicates that it changes; ALL_PREDICATES: any */
    struct operand source[STEP_SOURCES];
    struct operand part[ADDRESS_PARTS]; /* of the address; for 32-bit parts of a 64-bit address say words = 1 */
    uint32_t target, targets;
    uint32_t at;       /* for people: code_facts.at */
    uint32_t function; /* number of the function that it is part of; 0: the kernel */
};
enum { STEP_WORDS = 128, ALL_PREDICATES = 0xffff };

/* A whole kernel, and what it calls. Front ends fill it in by the functions below; it begins empty, in an arena of its own.
 */
struct arena;
struct form {
    struct arena *arena;
    struct step *step; /* execution begins at step 0 */
    uint32_t steps, room;
    uint32_t *target; /* of SWITCH */
    uint32_t target_count, target_room;
    uint32_t registers;       /* how many numbers there are */
    uint32_t stack_register;  /* that a call leaves as it was; 0: none */
    struct code_facts *facts; /* parameters, variables, flags and instructions are the front end's to fill in */
};

/* Adds a copy of the step. Returns its number; UINT32_MAX: there is no memory for it, and the facts say so. */
uint32_t form_add(struct form *form, const struct step *step);

/* Adds a target of a SWITCH. Returns its place. */
uint32_t form_add_target(struct form *form, uint32_t step);

/* The facts are UNKNOWN from now on; the first reason stays. text may be NULL. */
void form_unknown(struct form *form, enum code_why why, uint32_t at, const char *text);

/* The number of the module's variable of that name (size bytes of text), added if it is not there; NO_VARIABLE: too many,
 * and the facts say so. */
uint16_t form_variable(struct form *form, const char *name, size_t size, uint64_t bytes, int constant);

/* What the form says of a kernel: fills in bases, handles, flags and the verdict. */
void solve(struct form *form);

/* The front ends: fill in the form of that kernel, or say why not. */
void sass_read(const struct code_image *image, const char *kernel, struct form *form);
void ptx_read(const struct code_image *image, const char *kernel, struct form *form);
int sass_kernels(const struct code_image *image, int (*each)(void *data, const char *kernel), void *data);
int ptx_kernels(const struct code_image *image, int (*each)(void *data, const char *kernel), void *data);

#endif

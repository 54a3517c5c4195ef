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

/* What an instruction computes, bit by bit: for extents (extent_flow.h), which the steps above say nothing of. An
 * instruction without a meaning leaves anything in its results. */
enum meaning_kind {
    MEANS_NOTHING,
    MEANS_MOVE,
    MEANS_ADD,
    MEANS_SUBTRACT,
    MEANS_MULTIPLY, /* the lower bits of source 0 * source 1 + source 2 */
    MEANS_WIDE,     /* the same of factors with half the bits */
    MEANS_DIVIDE,
    MEANS_REMAINDER,
    MEANS_SMALLER,
    MEANS_LARGER,
    MEANS_LEFT, /* shifted by source 1, a number */
    MEANS_RIGHT,
    MEANS_AND, /* with source 1, a number */
    MEANS_OR,
    MEANS_EXTEND,  /* 32 bits to 64 */
    MEANS_CUT,     /* 64 bits to 32 */
    MEANS_CHOOSE,  /* source 0 where the predicate of source 2 holds, else source 1 */
    MEANS_COMPARE, /* sets a predicate */
    MEANS_BOTH,    /* of predicates */
    MEANS_EITHER,
    MEANS_NOT,
    MEANS_ACCESS /* memory at source 0 + `value`, `bytes` of it; what it loads is anything */
};

enum taken_kind { TAKES_NOTHING, TAKES_REGISTER, TAKES_NUMBER, TAKES_PARAMETER, TAKES_SIZE, TAKES_PREDICATE };
struct taken {
    uint8_t kind, negated;
    uint16_t number; /* of the register or predicate, byte of the parameters, enum code_size */
    int64_t value;
};

enum relation { RELATION_NONE, RELATION_LESS, RELATION_UP_TO, RELATION_EQUAL };
enum { MEANING_SOURCES = 3 };
struct meaning {
    uint32_t step, covers; /* the steps of this instruction */
    uint8_t kind, bits;    /* of the sources: 32 or 64 */
    uint8_t is_signed, words;
    uint8_t relation, negated; /* of COMPARE: enum relation; it holds where that does not */
    uint8_t with;              /* of COMPARE: and (MEANS_BOTH) or or (MEANS_EITHER) the predicate of source 2 */
    uint16_t guard;
    uint8_t guard_negated;
    uint16_t result; /* register, or of predicates the predicate */
    uint32_t bytes;
    int64_t value;
    struct taken source[MEANING_SOURCES];
};

/* A whole kernel, and what it calls. Front ends fill it in by the functions below; it begins empty, in an arena of its own.
 */
struct arena;
struct form {
    struct arena *arena;
    struct step *step; /* execution begins at step 0 */
    uint32_t steps, room;
    uint32_t *target; /* of SWITCH */
    uint32_t target_count, target_room;
    struct meaning *meaning; /* in the steps' order */
    uint32_t meanings, meaning_room;
    uint32_t predicates;      /* how many numbers there are, from 1 */
    uint32_t registers;       /* how many numbers there are */
    uint32_t stack_register;  /* that a call leaves as it was; 0: none */
    struct code_facts *facts; /* parameters, variables, flags and instructions are the front end's to fill in */
};

/* Adds a copy of the step. Returns its number; UINT32_MAX: there is no memory for it, and the facts say so. */
uint32_t form_add(struct form *form, const struct step *step);

/* Adds a target of a SWITCH. Returns its place. */
uint32_t form_add_target(struct form *form, uint32_t step);

/* Adds a copy of the meaning. NULL: there is no memory for it, and the facts say so. */
struct meaning *form_add_meaning(struct form *form, const struct meaning *meaning);

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

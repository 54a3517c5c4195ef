/* SPDX-License-Identifier: Apache-2.0
 *
 * The solver's own: what it keeps while it goes through one kernel's form.
 */
#ifndef PTDS_CODE_SOLVE_H
#define PTDS_CODE_SOLVE_H

#include "interpose/code/arena.h"
#include "interpose/code/form.h"
#include "interpose/code/values.h"

/* A register as it is while a guard holds. */
enum { GUARDED = 192 };
struct guarded {
    uint32_t guard; /* predicate << 1 | negated */
    uint32_t number;
    value_id value;
};

/* Steps that are always done one after the other. */
struct block {
    uint32_t begin, end;
    value_id *in; /* of each slot, when its first step begins; NULL: no path has come here */
    struct guarded *guarded;
    uint32_t guards; /* how many of them */
};

struct function {
    uint32_t entry;      /* its block; UINT32_MAX: none calls it */
    value_id *out;       /* when it returns; NULL: it has not */
    uint64_t *writes;    /* a bit for each slot that it may change, and those that it calls */
    uint32_t first_call; /* of those of it, 1 and so on; 0 none */
};

struct call {
    uint32_t step, next; /* the next one of the same function */
    value_id *before;    /* of each slot; NULL: no path has come here */
};

/* What lies in local memory at a distance from where the stack began. */
enum { STACK_PLACES = 4096 };
struct stack_place {
    int32_t at;
    uint32_t used;
    value_id value;
};

/* An access that was seen: what its address may begin with is worked out when all values are known. */
struct solver {
    struct form *form;
    struct arena *arena;
    struct values *values;
    uint32_t *slot;  /* of each register; NO_SLOT: it is given a value at one place only */
    value_id *alone; /* of each register that is */
    uint8_t *read;   /* of each such: it was read since it last became more */
    uint32_t slots;
    value_id *back; /* room for as many as `now` */
    value_id *now;  /* of each slot, at the step at hand */
    struct guarded guarded[GUARDED];
    uint32_t guards; /* how many of them */
    uint32_t guard;  /* of the step at hand, as in guarded; 0 none */
    struct block *block;
    uint32_t blocks, *block_at; /* by step: UINT32_MAX but for the first of a block */
    uint64_t *queue;            /* a bit for each block that is to be gone through */
    uint32_t queue_first;       /* none before that word of it */
    struct function *function;
    uint32_t functions;
    struct call *call;
    uint32_t calls, *call_at;      /* by step; 0 none */
    struct stack_place *stack;     /* STACK_PLACES of them */
    value_id stack_any, stack_all; /* at a place that is not known; anywhere */
    value_id shared[2];
    int memory_read; /* since one of these last became more */
    int changed;     /* memory, or a register that is given a value at one place only */
    uint64_t steps_left;
    struct code_base nobodys;  /* where there are too many */
    struct accesses *accesses; /* not NULL: values are known, addresses are looked at */
};
enum { NO_SLOT = UINT32_MAX, NO_BLOCK = UINT32_MAX };

/* flow.c: blocks, functions and slots. 0: there is no memory. */
int flow_begin(struct solver *solver);
/* Puts the state before a block together with what it had. */
void flow_to(struct solver *solver, uint32_t step, const value_id *state);
/* The same on a way that is taken where that guard holds; 0: any. */
void flow_under(struct solver *solver, uint32_t step, uint32_t guard);
void flow_call(struct solver *solver, uint32_t step);
void flow_return(struct solver *solver, uint32_t step);
/* The next block to go through; NULL: none. */
struct block *flow_next(struct solver *solver);
/* All blocks that were reached are gone through once more. */
void flow_again(struct solver *solver);

/* registers.c: what registers have, and what lies in memory that only the kernel sees. */
value_id registers_get(const struct solver *solver, uint32_t number);
void registers_set(struct solver *solver, uint32_t number, value_id value);
/* A predicate changes: what was known under it is no more. */
void registers_predicate(struct solver *solver, uint32_t predicate);
void registers_no_guards(struct solver *solver);
void registers_take_guards(struct solver *solver, const struct block *block);
value_id registers_stack(struct solver *solver, int32_t at);
value_id registers_stack_all(struct solver *solver);
/* word: as below. */
value_id registers_shared(struct solver *solver, uint32_t word);
void registers_to_stack(struct solver *solver, int32_t at, value_id value);
void registers_to_stack_any(struct solver *solver, value_id value);
/* word: which one of its access, or SHARED_EITHER. */
enum { SHARED_EITHER = 2 };
void registers_to_shared(struct solver *solver, uint32_t word, value_id value);

/* operand.c: the value of a step's operand, word by word. */
value_id operand_value(struct solver *solver, const struct operand *operand, uint32_t word);
/* The 64 bits of an address. */
struct address {
    value_id low, high;
};
struct address operand_address(struct solver *solver, const struct step *step);

/* steps.c: one step. */
void steps_do(struct solver *solver, uint32_t number);

/* accesses.c: which beginnings the addresses have, and the facts of it. */
int accesses_begin(struct solver *solver);
void accesses_add(struct solver *solver, uint32_t number, const struct step *step, struct address address);
void accesses_handle(struct solver *solver, const struct step *step, value_id handle);
/* A constant variable that an operand names is read. */
void accesses_banks(struct solver *solver, const struct step *step);
void accesses_tensor(struct solver *solver, const struct step *step, struct address address);
void accesses_facts(struct solver *solver);

#endif

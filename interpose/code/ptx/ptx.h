/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the PTX front end share: the text's module, the function that is read, instructions and their
 * arguments.
 */
#ifndef PTDS_CODE_PTX_PTX_H
#define PTDS_CODE_PTX_PTX_H

#include "interpose/code/arena.h"
#include "interpose/code/form.h"
#include "interpose/code/ptx/ptx_symbols.h"

/* A size in bytes and what it is made of; PACKED: several numbers in one register. */
enum type_kind { TYPE_NONE, TYPE_BITS, TYPE_UNSIGNED, TYPE_SIGNED, TYPE_FLOAT, TYPE_PACKED, TYPE_PREDICATE, TYPE_HANDLE };
struct type {
    uint8_t kind, bytes;
};

/* ptx_type.c: 0: that word, with its dot, is no type. */
int ptx_type_of(struct span word, struct type *type);

/* Registers of a function that may be written again before they are read, where it calls itself: circles.c. */
struct kept {
    struct kept *next;
    uint32_t words;
    uint16_t number;
};

/* What the first reading has found, by numbers of functions, and the registers that are free for the second. */
struct circles {
    uint8_t *in_circle;
    struct kept **kept;
    uint32_t functions, registers, first;
};

struct formals {
    struct symbol **symbol;
    uint32_t count;
};

/* A kernel or function of the module. */
struct function {
    struct span name;
    struct function *next_read; /* of those that are to be read */
    struct lexer head, body;    /* where its names and parameters begin, and behind the brace */
    uint8_t has_body, is_entry, has_signature, is_wanted;
    struct kept *kept;
    uint32_t number, step;
    struct formals results, parameters;
};

enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_REGISTER,
    ARGUMENT_PREDICATE,
    ARGUMENT_NUMBER,
    ARGUMENT_OTHER,   /* a special register, a floating-point number, a label's or a function's address */
    ARGUMENT_SYMBOL,  /* a variable or parameter, plus `value` */
    ARGUMENT_NAME,    /* a word that is nothing of that yet: a label */
    ARGUMENT_VECTOR,  /* of items; also what stands in parentheses */
    ARGUMENT_ADDRESS, /* items: what it begins with, plus `value`; then what follows it in the brackets */
    ARGUMENT_SINK     /* _ */
};

struct argument {
    uint8_t kind;
    uint8_t bytes, words;  /* of a register */
    uint8_t has_predicate; /* another predicate stands behind a bar */
    uint8_t negated;       /* an exclamation mark stands before it */
    uint16_t number;       /* in the form */
    uint16_t predicate;
    uint32_t count;
    int64_t value;
    const struct symbol *symbol;
    struct ptx_register *origin; /* of a register */
    const struct argument *items;
    struct span name;
};

enum { ARGUMENTS = 16, ITEMS = 1024, PARTS = 24 };
struct instruction {
    struct span part[PARTS]; /* "ld", "global", "u32" */
    uint32_t parts;
    struct span text;
    uint32_t line;
    uint16_t guard;
    uint8_t guard_negated;
    struct type type[4]; /* among the parts, in their order */
    uint32_t types, count;
    struct argument argument[ARGUMENTS];
};

/* A place in the form that waits for a label. */
enum wait_kind { WAIT_STEP, WAIT_TARGET, WAIT_SWITCH };
struct wait {
    struct wait *next;
    struct span name;
    uint32_t index, line;
    uint8_t kind;
};

/* A step that loads from parameters by a register, until it is known where that points. */
struct place_wait {
    struct place_wait *next;
    const struct ptx_register *from;
    int64_t offset;
    uint32_t step, bytes;
};

struct call_edge {
    struct call_edge *next;
    struct function *from, *to;
    uint32_t step;
};

/* Words of no register of the text, for what needs neighbours. */
enum { SCRATCH_WORDS = 16 };
struct ptx {
    struct form *form;
    struct arena *arena;
    struct lexer lexer;
    const char *begin; /* of the text */
    struct symbols symbols, mnemonics;
    struct function *function; /* the function that is read */
    struct function *first_read, *last_read;
    struct call_edge *calls;
    struct circles *circles; /* NULL: this is the first reading */
    uint64_t noted[(NO_REGISTER + 1) / 64];
    uint32_t functions;
    struct wait *waits[SCOPES + 1]; /* by scope */
    struct place_wait *place_waits;
    uint32_t registers, predicates, scratch;
    int64_t stack;       /* bytes of it that are dealt out */
    uint8_t called;      /* the function has called another one before this instruction */
    struct symbol *text; /* the label before .branchtargets */
    struct argument item[ITEMS];
    uint32_t items;
};

/* ptx_emit.c: the facts are unknown from now on. */
void ptx_emit_unknown(struct ptx *ptx, enum code_why why, uint32_t line, struct span text);
void ptx_emit_not_known(struct ptx *ptx, const struct instruction *in);

/* ptx_emit.c: numbers of the form. NO_REGISTER: there are no more, and the facts say so. */
uint16_t ptx_emit_new_words(struct ptx *ptx, uint32_t words);
uint16_t ptx_emit_register_number(struct ptx *ptx, struct ptx_register *one, const struct symbol *symbol);
uint16_t ptx_emit_predicate_number(struct ptx *ptx, struct ptx_register *one);
uint16_t ptx_emit_scratch(struct ptx *ptx);

/* ptx_kernels.c: all variables and functions become symbols. 0: there is no memory. */
int ptx_kernels_scan(struct ptx *ptx);

/* ptx_declare.c: after the word of a space (".reg" or ".global"). */
enum declare_where { DECLARE_MODULE, DECLARE_BODY, DECLARE_FORMAL };
struct symbol *ptx_declare(struct ptx *ptx, struct span space, enum declare_where where);
/* Those of a function's results and parameters, once. */
void ptx_declare_signature(struct ptx *ptx, struct function *function);
/* The kernel's parameters, as the facts have them. */
void ptx_declare_parameters(struct ptx *ptx, struct function *function);

/* ptx_body.c: the function's steps. */
void ptx_body_read(struct ptx *ptx, struct function *function);

/* ptx_arguments.c: those of an instruction, up to its semicolon. 0: they can't be read. */
int ptx_arguments_read(struct ptx *ptx, struct instruction *in);

/* labels.c */
void ptx_labels_define(struct ptx *ptx, struct span name);
void ptx_labels_wait(struct ptx *ptx, enum wait_kind kind, uint32_t index, struct span name, uint32_t line);
void ptx_labels_targets(struct ptx *ptx, struct symbol *label);
void ptx_labels_leave(struct ptx *ptx);

/* ptx_places.c: registers that have the address of a parameter. */
void ptx_places_note(struct ptx *ptx, const struct instruction *in, const struct argument *result);
void ptx_places_wait(struct ptx *ptx, uint32_t step, const struct argument *base, uint32_t bytes);
void ptx_places_resolve(struct ptx *ptx);
/* The operand for so many bytes of a parameter or of what is passed; 0: it lies outside. */
int ptx_places_operand(const struct symbol *symbol, int64_t offset, uint32_t bytes, struct operand *operand);

/* ptx_emit.c: what the lowering of instructions is made of. */
uint32_t ptx_emit(struct ptx *ptx, const struct instruction *in, struct step step);
/* The argument is written: its words. 0: it is no register. */
struct result {
    uint16_t number;
    uint8_t words;
};
int ptx_emit_result(struct ptx *ptx, const struct instruction *in, const struct argument *argument, struct result *result);
struct operand ptx_emit_source(struct ptx *ptx, const struct instruction *in, const struct argument *argument);
struct operand ptx_emit_operand_register(uint16_t number, uint8_t words);
struct operand ptx_emit_operand_constant(int64_t value);
/* A step of `kind` whose result is argument 0 and whose sources are arguments 1 to `sources`. */
void ptx_emit_plain(struct ptx *ptx, const struct instruction *in, struct step step, uint32_t sources);
void ptx_emit_move(struct ptx *ptx, const struct instruction *in, uint16_t to, uint8_t words, struct operand from);
/* Any number of words from registers to registers. */
void ptx_emit_copy_words(struct ptx *ptx, const struct instruction *in, uint16_t to, uint16_t from, uint32_t words);
/* Every register of argument is a number. */
void ptx_emit_numbers(struct ptx *ptx, const struct instruction *in, const struct argument *argument);
/* The words of a result above `done` ones: 0, or the sign of the last one. */
void ptx_emit_extend(struct ptx *ptx, const struct instruction *in, struct result result, uint8_t done, int is_signed);
void ptx_emit_predicates(struct ptx *ptx, const struct instruction *in);
int ptx_emit_has_part(const struct instruction *in, const char *word);
/* The type of the last type part; bits of 32 without one. */
struct type ptx_emit_last_type(const struct instruction *in);
int ptx_emit_any_float(const struct instruction *in);

/* ptx_access.c: what loads, stores and the like have in common. */
enum access_space { ACCESS_MEMORY, ACCESS_PARAMETER };
struct access {
    enum access_space where;
    uint8_t space; /* enum space */
};
struct access ptx_access_of(const struct instruction *in);
/* Fills in the address of a step; 0: it can't be one. `more` bytes are added to it. */
int ptx_access_address(struct ptx *ptx, const struct instruction *in, const struct argument *address, int64_t more,
                       struct step *step);
const struct argument *ptx_access_argument(const struct instruction *in, uint32_t which);

/* ptx_circles.c: 1: there are some, and the kernel must be read again. */
int ptx_circles_find(struct ptx *ptx, struct circles *circles);
/* These registers of the function at hand may be written again. */
void ptx_circles_note(struct ptx *ptx, uint16_t number, uint32_t words);
/* Before a call, and `back` behind it. */
void ptx_circles_keep(struct ptx *ptx, const struct instruction *in, const struct function *callee, int back);

/* ptx_meaning.c: what the instruction computes, before its steps are added; and after that. */
struct ptx_meanings {
    uint32_t first, step;
};
struct ptx_meanings ptx_meaning_begin(struct ptx *ptx, const struct instruction *in);
void ptx_meaning_end(struct ptx *ptx, struct ptx_meanings meanings);

/* ptx_table.c: the rows of instructions.def. */
int ptx_table_begin(struct ptx *ptx);
void ptx_table_lower(struct ptx *ptx, const struct instruction *in);

/* lower_*.c, each for the instructions that instructions.def names. */
#define LOWER(name) void lower_##name(struct ptx *ptx, const struct instruction *in);
LOWER(none)
LOWER(numbers)
LOWER(mix)
LOWER(sum)
LOWER(negate)
LOWER(product)
LOWER(logic)
LOWER(shift)
LOWER(insert)
LOWER(extract)
LOWER(join)
LOWER(permute)
LOWER(shuffle)
LOWER(move)
LOWER(convert)
LOWER(cvta)
LOWER(window)
LOWER(load)
LOWER(store)
LOWER(atomic)
LOWER(discard)
LOWER(copy)
LOWER(texture)
LOWER(surface)
LOWER(matrix)
LOWER(matrix_load)
LOWER(matrix_store)
LOWER(tensormap)
LOWER(tensor_memory)
LOWER(multimem)
LOWER(barrier)
LOWER(branch)
LOWER(branch_table)
LOWER(call)
LOWER(return )
LOWER(exit)
#undef LOWER

#endif

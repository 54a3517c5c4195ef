/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of PTX text, and the scopes in which they hold.
 */
#ifndef PTDS_PTX_SYMBOLS_H
#define PTDS_PTX_SYMBOLS_H

#include "interpose/code/form.h"
#include "interpose/code/ptx/lexer.h"

struct arena;
struct function;
struct symbol;

/* One register of the text: numbers of the form are dealt out when it is first used. */
struct ptx_register {
    uint16_t number;     /* NO_REGISTER: not dealt out yet */
    uint8_t definitions; /* how many instructions write it, at most 2 */
    /* The last one made it the address of that parameter plus `offset`, made from `from`, and plus that index. */
    const struct symbol *place;
    const struct ptx_register *from, *index;
    int64_t offset;
};

enum symbol_kind {
    SYMBOL_REGISTER,  /* one, or `count` of them whose names end with a number from 0; or a vector of `lanes` */
    SYMBOL_PREDICATE, /* as well */
    SYMBOL_VARIABLE,  /* of the module, of shared memory or of the stack */
    SYMBOL_PARAMETER, /* of the kernel: `offset` bytes from the first one's beginning */
    SYMBOL_PASSED,    /* of a function, or what is handed to one: in registers of the form from `number` on */
    SYMBOL_FUNCTION,
    SYMBOL_LABEL,
    SYMBOL_MNEMONIC /* an instruction of the table */
};

enum variable_space { VARIABLE_GLOBAL, VARIABLE_CONSTANT, VARIABLE_SHARED, VARIABLE_STACK, VARIABLE_TEXTURE };

struct symbol {
    struct symbol *next;  /* of the same slot */
    struct symbol *older; /* declared before it */
    struct span name;
    uint8_t kind, space;
    uint8_t bytes; /* of one register */
    uint8_t lanes;
    uint16_t scope;
    uint16_t number;
    uint16_t own;      /* of what a function returns: where it gathers it */
    uint32_t count;    /* of registers; 0: one, and the name is its own */
    uint32_t step;     /* of a label; UINT32_MAX: it stands before nothing */
    uint32_t targets;  /* of a label before .branchtargets: how many, */
    uint32_t target;   /* and the first one's place in the form */
    uint32_t mnemonic; /* its row */
    uint64_t size;     /* bytes */
    int64_t offset;
    struct ptx_register *registers;
    struct function *function;
};

/* More scopes inside each other than that are refused. */
enum { SCOPES = 64 };
struct symbols {
    struct arena *arena;
    struct symbol **slot, *newest;
    uint64_t seed;
    uint32_t slots, count;
    uint16_t scope;
};

/* 0: there is no memory. */
int ptx_symbols_begin(struct symbols *symbols, struct arena *arena);

/* A new one in the scope at hand, which hides older ones of that name. NULL: there is no memory. */
struct symbol *ptx_symbols_add(struct symbols *symbols, struct span name, enum symbol_kind kind);

/* NULL: there is none. */
struct symbol *ptx_symbols_find(const struct symbols *symbols, struct span name);

/* A register by its own name, or by a name before the number: its place among those is *index. NULL: there is none. */
struct symbol *ptx_symbols_find_numbered(const struct symbols *symbols, struct span name, uint32_t *index);

/* Forgets all names of the scope at hand. */
void ptx_symbols_leave(struct symbols *symbols);

#endif

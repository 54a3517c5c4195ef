/* SPDX-License-Identifier: Apache-2.0
 *
 * While a function's body is read: statements, operands, and how families of instructions become steps. Each family is one
 * file, ptx_<family>.c, with its steps and the function that chooses among them; ptx_families.c lists the opcodes.
 */
#ifndef PTDS_TESTS_SIM_PTX_BODY_H
#define PTDS_TESTS_SIM_PTX_BODY_H

#include <string.h>

#include "tests/sim/ptx.h"

/* ---- tokens (ptx_tokens.c) ---- */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN };

struct token {
    enum token_kind kind;
    uint32_t length;
    const char *at;
};

struct token *tokens_of(const char *text); /* owned by the caller; behind the last are several TOKEN_END */
bool token_is(const struct token *k, const char *word);
bool token_number(const struct token *k, int64_t *value); /* whole numbers */
bool token_bits(const struct token *k, enum ptx_type type, uint64_t *value);
char *token_copy(const struct token *k);
enum ptx_type type_of(const char *word, size_t length); /* "u32" */
size_t type_size(enum ptx_type type);
void *ptx_more(void *array, uint32_t count, uint32_t *capacity, size_t size); /* room for one more */

/* ---- declarations (ptx_declare.c) ---- */

struct declaration {
    struct token name;
    enum ptx_type type;
    size_t element, size, align; /* element: vectors as one; size 0: open, or none */
    int64_t range;               /* "name<range>"; 0: one */
    bool open;
    const struct token *values; /* behind "=", or NULL */
};
/* k stands behind the space's word; returns the token that ends it: comma, semicolon, parenthesis or bracket. */
const struct token *declaration_read(const struct token *k, struct declaration *d);
struct ptx_variable *variable_add(struct ptx_text *text, enum ptx_space space, const struct declaration *d, bool external);
struct ptx_variable *variable_find(const struct ptx_text *text, const struct token *name);
struct ptx_function *function_find(const struct ptx_text *text, const struct token *name);

/* ---- a body ---- */

struct name {
    struct token token;
    enum { NAME_REGISTERS, NAME_VARIABLE, NAME_LOCAL, NAME_PARAM, NAME_FRAME_PARAM } what;
    enum ptx_type type;
    int64_t range;
    uint32_t *slots; /* registers; 0 no slot yet */
    uint64_t offset; /* LOCAL, PARAM, FRAME_PARAM */
    size_t size;
    struct ptx_variable *variable;
    unsigned depth; /* gone when the scope ends: then the token's length is 0 */
};

struct operand {
    enum { OPERAND_PLAIN, OPERAND_ADDRESS, OPERAND_LIST, OPERAND_OBJECT } kind;
    struct token token, second; /* second: "p|q", or what is added to an address */
    bool negative;              /* "!p" or "-1" */
    int64_t offset;
    struct token list[16]; /* LIST; OBJECT: the coordinates */
    bool list_negative[16];
    unsigned count;
};

enum { PTX_SLOT_ZERO = 1 }; /* what nobody writes */
enum { MOST_PARTS = 16, MOST_OPERANDS = 8 };

struct statement {
    struct token parts[MOST_PARTS];
    bool used[MOST_PARTS];
    unsigned part_count;
    struct operand operands[MOST_OPERANDS];
    unsigned operand_count;
    uint32_t at;
};

/* Good for branches between `from` and `to`; of two of one name the inner one. */
struct label {
    struct token token;
    unsigned depth;
    uint32_t where, from, to;
};

enum { MOST_DEPTH = 64 };

struct body {
    struct ptx_function *function;
    struct ptx_text *text;
    struct name *names;
    uint32_t name_count, name_capacity;
    struct label *labels;
    uint32_t label_count, label_capacity;
    struct token *branches; /* what they name, by the number in v[0] of a branch */
    uint32_t branch_count, branch_capacity;
    unsigned depth;
    uint32_t scope_from[MOST_DEPTH];
    const struct statement *statement;
    const char *failed; /* what is not understood; NULL nothing */
};

void body_read(struct ptx_text *text, struct ptx_function *f, const struct token *from, const struct token *end,
               const struct token *parameters, const struct token *results);
struct ptx_instruction *emit(struct body *b, ptx_step run);
uint32_t slot_new(struct body *b);
uint32_t slot_constant(struct body *b, uint64_t value);
struct name *name_find(const struct body *b, const struct token *token, int64_t *number);
/* The slot that holds an operand's value; what it takes to fill it is emitted. */
uint32_t source(struct body *b, const struct operand *o, enum ptx_type type);
uint32_t source_token(struct body *b, const struct token *token, bool negative, enum ptx_type type);
uint32_t destination(struct body *b, const struct operand *o);
uint32_t destination_token(struct body *b, const struct token *token);
/* Sets slot and offset of i's address. */
uint32_t address_of(struct body *b, const struct operand *o, int64_t *offset);
void fail(struct body *b, const char *why);

/* Modifiers of an opcode. */
bool take(struct statement *s, const char *part);
enum ptx_type take_type(struct statement *s);                                /* the first that is left; TYPE_NONE */
int take_one(struct statement *s, const char *const *parts, unsigned count); /* which; -1 none of them */

#define TAKE_ONE(s, ...) \
    take_one(s, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* ---- the families: what they cannot they answer by fail() ---- */

typedef void (*family)(struct body *b, struct statement *s);

family family_of(const struct token *opcode);
void family_arithmetic(struct body *b, struct statement *s);
void family_bits(struct body *b, struct statement *s);
void family_float(struct body *b, struct statement *s);
void family_compare(struct body *b, struct statement *s);
void family_convert(struct body *b, struct statement *s);
void family_move(struct body *b, struct statement *s);
void family_memory(struct body *b, struct statement *s);
void family_atomic(struct body *b, struct statement *s);
void family_flow(struct body *b, struct statement *s);
void family_texture(struct body *b, struct statement *s);
void flow_guard(struct body *b, const struct token *predicate, bool negative); /* what follows only where it holds */
void flow_link(struct ptx_text *text);
void flow_branches(struct body *b);
void flow_end(struct body *b);             /* what runs behind the last statement */
int special_of(const struct token *token); /* a special register, or -1 */
uint64_t special_value(const struct ptx_thread *t, uint32_t special);
bool special_ticks(uint32_t special); /* another one each time it is read */
const struct ptx_instruction *step_special(struct ptx_thread *t, const struct ptx_instruction *i);

/* ---- how steps are written ---- */

#define STEP(name) \
    static const struct ptx_instruction *name(struct ptx_thread *t __attribute__((unused)), const struct ptx_instruction *i)
#define SLOT(x) t->slots[i->x]

static inline float float_of(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}
static inline uint64_t of_float(float f)
{
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    return word;
}
static inline double double_of(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline uint64_t of_double(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

#define INTEGER_TYPES(X) X(U16, uint16_t) X(U32, uint32_t) X(U64, uint64_t) X(S16, int16_t) X(S32, int32_t) X(S64, int64_t)

#endif

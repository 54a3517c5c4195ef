/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of PTX: what its files share, and what module.c, variables.c and work.c call. A text is parsed once
 * (ptx_text.c, ptx_body.c) into instructions, each with the function that executes it; ptx_grid.c runs those for every
 * thread of a launch. Every register, constant and special register of a function is a slot of 64 bits.
 */
#ifndef PTDS_TESTS_SIM_PTX_H
#define PTDS_TESTS_SIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_work;

enum ptx_space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_CONST, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM };

/* Of an instruction or a register. Untyped bits (.b32) are unsigned. */
enum ptx_type {
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_S8,
    TYPE_S16,
    TYPE_S32,
    TYPE_S64,
    TYPE_F32,
    TYPE_F64,
    TYPE_PREDICATE,
    TYPE_COUNT,
    TYPE_NONE = TYPE_COUNT
};

/* Where generic addresses of memory lie that is no address of this process. Below are 48 bits. */
#define PTX_WINDOW_SHARED (1ull << 56)
#define PTX_WINDOW_LOCAL (2ull << 56)
#define PTX_WINDOW_PARAM (3ull << 56)
#define PTX_WINDOW_CODE (4ull << 56)
#define PTX_WINDOW_OF(address) ((address) >> 56 << 56)
#define PTX_DYNAMIC_SHARED (1u << 20) /* where the launch's part of shared memory begins */
#define PTX_LOCAL_FRAME 40            /* a local address has its frame's depth above these bits */

struct ptx_thread;
struct ptx_instruction;

/* Executes one; returns the next, or NULL: the thread stops, for what its state says. */
typedef const struct ptx_instruction *(*ptx_step)(struct ptx_thread *t, const struct ptx_instruction *i);

struct ptx_instruction {
    ptx_step run;
    uint32_t d, a, b, c; /* slots */
    uint32_t v[4];       /* more slots, or what the step takes */
    int64_t offset;      /* of an address; of a branch: where to, counted in instructions */
    uint32_t at;         /* where it stands in the text */
    uint8_t space, size, count, flags;
};
enum { PTX_SIGNED = 1, PTX_STRONG = 2, PTX_PURE = 4, PTX_COMPARES = 8 };

/* A slot that is no register. */
struct ptx_filled {
    enum { FILLED_SPECIAL, FILLED_VARIABLE, FILLED_LOCAL } from;
    uint32_t slot, which; /* which: the special register, or the variable */
    int64_t offset;
};

/* A parameter or a result of a function: in its bytes, or in a slot. */
struct ptx_formal {
    size_t offset, size, align;
    uint32_t slot;
    bool in_slot;
};

/* One place that calls. */
struct ptx_call {
    char *name; /* until it is found; NULL: by address */
    struct ptx_function *callee;
    uint32_t address;          /* slot */
    struct ptx_formal *passed; /* parameters, then results, where they lie in the caller; a formal without size: a slot */
    unsigned parameters, results;
};

struct ptx_function {
    char *name;
    struct ptx_text *text;
    bool entry, body;
    char *unknown; /* why it cannot run; NULL it can */
    struct ptx_formal *parameters, *results;
    unsigned parameter_count, result_count, index;
    size_t parameter_bytes; /* of an entry: what a launch passes */
    size_t frame_bytes;     /* .param space in a body */
    size_t local_bytes;
    uint64_t *slots; /* what they hold in the beginning */
    uint32_t slot_count, slot_capacity;
    struct ptx_filled *filled;
    uint32_t filled_count, filled_capacity;
    struct ptx_instruction *code;
    uint32_t code_count, code_capacity;
    struct ptx_call *calls;
    uint32_t call_count;
    struct ptx_function *next;
};

struct ptx_variable {
    char *name;
    enum ptx_space space;
    size_t offset, size;
    bool external;
    unsigned char *first; /* NULL: zeros */
    struct ptx_address {
        size_t at;
        struct ptx_variable *of;
        int64_t offset;
    } * addresses; /* in the first value */
    unsigned address_count, index;
    struct ptx_variable *next;
};

struct ptx_text {
    char *text; /* without comments */
    uint64_t hash;
    unsigned users;
    uint64_t used;
    struct ptx_function *functions, **last_function;
    struct ptx_variable *variables, **last_variable;
    struct ptx_variable **variable_at; /* by index */
    struct ptx_function **function_at;
    unsigned variable_count, function_count;
    size_t memory_bytes, shared_bytes;
    struct ptx_text *next;
};

/* Locked. NULL: not PTX that can be understood at all. */
struct ptx_text *ptx_open(const char *image);
void ptx_close(struct ptx_text *text);
struct ptx_text *ptx_parse(const char *image);
void ptx_free(struct ptx_text *text);
const struct ptx_function *ptx_entry(const struct ptx_text *text, const char *name);

/* ---- the texts of the built-in kernels (kernels.c) ---- */

struct ptx_text *ptx_built_in(void); /* locked */

/* ---- a launch (ptx_grid.c) ---- */

/* What a launch was said to touch (ptx_claims.c). */
struct claim;

struct ptx_frame {
    const struct ptx_function *function;
    const struct ptx_call *call;
    const struct ptx_instruction *back;
    struct ptx_frame *caller;
    uint64_t *slots;
    unsigned char *params, *local;
    unsigned depth;
};

struct ptx_block {
    unsigned id[3];
    unsigned char *shared, *dynamic;
    struct ptx_thread *threads; /* that have begun and not ended */
    struct ptx_block *next;
};

struct ptx_grid {
    const struct kernel_work *work;
    const struct ptx_function *entry;
    const unsigned char *parameters;
    uint64_t variables; /* the module's memory */
    uint64_t window;    /* the device memory that was touched last, and where its bytes are */
    size_t window_bytes;
    char *window_at;
    const struct claim *claim;
    unsigned reported;
    struct ptx_block *blocks; /* that have begun and not ended */
    struct ptx_block *spare;
    struct ptx_thread *spare_threads;
    unsigned suspended;
    unsigned looks; /* since something happened */
};

enum ptx_state { STATE_RUNS, STATE_DONE, STATE_BARRIER, STATE_WAITS };

struct ptx_thread {
    uint64_t *slots; /* of the frame */
    struct ptx_frame *frame;
    struct ptx_grid *grid;
    struct ptx_block *block;
    const struct ptx_instruction *next;
    enum ptx_state state;
    bool polled, timed;    /* since the last branch back, with nothing stored */
    uint64_t seen, before; /* what polls have seen, as a hash: in this round of a loop and in the last */
    uint64_t until;        /* STATE_WAITS: not before that; 0 a poll */
    unsigned id[3], number;
    struct ptx_thread *after;
};

void ptx_run(const struct kernel_work *k, const unsigned char *parameters);
bool ptx_ends(const struct ptx_instruction *i); /* the thread */
_Noreturn void ptx_fault(const struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, const char *what);
struct ptx_frame *ptx_frame_enter(struct ptx_thread *t, const struct ptx_function *f);
void ptx_frame_leave(struct ptx_thread *t);
/* Its text up to the semicolon, on one line. */
const char *ptx_instruction_text(const struct ptx_function *f, const struct ptx_instruction *i, char *buffer, size_t size);
unsigned ptx_instruction_line(const struct ptx_function *f, const struct ptx_instruction *i);

/* ---- claims (ptx_claims.c) ---- */

struct claim *claim_take(void);                /* of this thread's next launch; NULL none */
struct claim *claim_hold(struct claim *claim); /* NULL is fine */
void claim_release(struct claim *claim);
void claim_check(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, uint64_t other, size_t size,
                 bool writes);
void claim_launch_over(const struct ptx_grid *g);

/* The bytes at a global address. `other`: also good as a claim, a texture's array. */
void *ptx_global(struct ptx_thread *t, const struct ptx_instruction *i, uint64_t address, size_t size, bool writes);

#endif

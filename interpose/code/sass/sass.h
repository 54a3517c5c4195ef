/* SPDX-License-Identifier: Apache-2.0
 *
 * The front end for machine code: an image (cubin.h), its instructions (decode), and what they mean in the small form
 * (lower_*.c). Private to this room.
 */
#ifndef PTDS_CODE_SASS_H
#define PTDS_CODE_SASS_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/code/form.h"
#include "interpose/code/sass/cubin.h"

/* What an operation does, as far as values and memory go: which function lowers it. */
enum operation {
    OP_NOTHING, /* changes predicates at most */
    OP_MOVE,
    OP_MOVE_64,     /* of a 64-bit immediate */
    OP_MOVE_MASKED, /* of some lanes only, where its mask says so */
    OP_SELECT,
    OP_SELECT_64,
    OP_SELECT_FLOAT, /* the operands may be changed on the way */
    OP_SELECT_3,
    OP_SELECT_PACKED, /* a type says whether words or halves are compared */
    OP_SUM_2,
    OP_SUM_2_PACKED,
    OP_SUM_3,
    OP_LEA,
    OP_PRODUCT,
    OP_PRODUCT_WIDE,
    OP_PRODUCT_HIGH,
    OP_LOGIC,
    OP_PERMUTE,
    OP_MIX_A, /* of the first operand, and so on */
    OP_MIX_B,
    OP_MIX_AB,
    OP_MIX_ABC,
    OP_NUMBER,      /* a number, whatever it is made of */
    OP_HALVES,      /* the same; compilers make constants by it */
    OP_SPECIAL,     /* a special register */
    OP_SHUFFLE,     /* another lane's */
    OP_FROM_VECTOR, /* a uniform register from a lane's */
    OP_REDUCE,
    OP_CONSTANT, /* a load from constant memory */
    OP_LOAD,
    OP_STORE,
    OP_LOAD_WIDE, /* of 256 bits, to two runs of registers */
    OP_STORE_WIDE,
    OP_LOAD_MATRIX,
    OP_STORE_MATRIX,
    OP_ATOMIC,
    OP_ATOMIC_SWAP, /* compares and swaps */
    OP_REDUCTION,
    OP_MULTICAST_LOAD,
    OP_TO_SHARED,    /* global memory to shared memory */
    OP_REMOTE_STORE, /* to the cluster's shared memory */
    OP_TEXTURE_READ,
    OP_TEXTURE_QUERY,
    OP_SURFACE_READ,
    OP_SURFACE_WRITE,
    OP_SURFACE_ATOMIC,
    OP_TENSOR_LOAD,
    OP_TENSOR_STORE,
    OP_BARRIER_WORD, /* of shared memory, with a result or without */
    OP_BRANCH,
    OP_BRANCH_INDEXED,
    OP_CALL,
    OP_RETURN,
    OP_EXIT,
    OP_SYNC, /* jumps to where its barrier was set */
    OP_SET_SYNC,
    OP_WARP_SYNC
};

/* How many registers it changes. */
enum width {
    WIDTH_0,
    WIDTH_1,
    WIDTH_2,
    WIDTH_HALVES,  /* 256 bits in two halves */
    WIDTH_SPECIAL, /* CS2R */
    WIDTH_MOVE,    /* MOV, UMOV: 64 bits since sm_120 */
    WIDTH_SUM,     /* IADD */
    WIDTH_LARGER,  /* IMNMX: 64 bits since sm_120 */
    WIDTH_MEMORY,  /* by the type of what is loaded or stored */
    WIDTH_UNIFORM_CONSTANT,
    WIDTH_ATOMIC,
    WIDTH_ATOMIC_FLOAT,
    WIDTH_MULTICAST,
    WIDTH_SHARED_ATOMIC,
    WIDTH_SURFACE,
    WIDTH_MATRIX, /* LDSM, STSM */
    WIDTH_MOVE_MATRIX,
    WIDTH_FLOAT_MMA,
    WIDTH_INTEGER_MMA,
    WIDTH_BINARY_MMA,
    WIDTH_DOUBLE_MMA,
    WIDTH_GROUP_MMA_FLOAT,
    WIDTH_GROUP_MMA_INTEGER,
    WIDTH_TO_FLOAT, /* conversions that have 64 bits on one side */
    WIDTH_TO_INTEGER,
    WIDTH_TEXTURE,
    WIDTH_TENSOR_MEMORY
};

/* Which predicates it changes. */
enum sets {
    SETS_NONE,
    SETS_ONE,
    SETS_TWO,
    SETS_ALL,
    SETS_RESULT,       /* B2R, where it fetches a barrier's result */
    SETS_MATCH,        /* MATCH, where all must match */
    SETS_LARGER,       /* IMNMX, since sm_120 */
    SETS_COMPARED,     /* VIMNMX, before sm_120 */
    SETS_SWAPPED,      /* ATOMS, in the form that tells whether it swapped */
    SETS_ZERO_FILL,    /* LDGSTS */
    SETS_OLD_ZERO_FILL /* LD, LDS: of sm_70 to sm_75 */
};

/* Which file its registers are of, the guard included. */
enum file { FILE_VECTOR, FILE_UNIFORM, FILE_TO_UNIFORM, FILE_FROM_UNIFORM };

struct opcode {
    uint16_t code; /* the low nine bits */
    uint8_t forms; /* a bit for each form of operands that is known */
    uint8_t operation, width, sets, file;
    uint16_t from, to; /* architectures */
    const char *name;
};

/* What the decoder makes of 128 bits. */
struct run {
    uint16_t first, count;
};
struct instruction {
    uint64_t low, high;
    const struct opcode *opcode;
    uint32_t at;  /* bytes from where its section begins */
    uint32_t fix; /* which one the linker puts into it, from 1; 0 none */
    uint16_t part, arch;
    uint8_t form;
    uint8_t words; /* of what is loaded, stored or computed */
    uint8_t narrow;
    uint8_t never : 1, guard_negated : 1; /* never: the guard never holds */
    uint16_t guard;
    uint16_t sets[STEP_PREDICATES];
    struct run result[2]; /* registers that it changes; count 0 none */
};

enum { INSTRUCTION_BYTES = 16, VECTOR_ZERO = 255, UNIFORM = 256, UNIFORM_PREDICATE = 8, REGISTERS = 512 };

/* opcodes.c: the operations of one architecture, by the low twelve bits. It begins zeroed. */
enum { CODES = 1 << 12 };
struct opcodes {
    uint8_t of[CODES];
};
void opcodes_begin(struct opcodes *opcodes, uint32_t arch);
/* NULL: it is not known. */
const struct opcode *opcodes_find(const struct opcodes *opcodes, uint32_t code);

/* decode.c: 0: it is not known. code: 16 bytes. */
int decode(const struct opcodes *opcodes, const uint8_t *code, uint32_t arch, struct instruction *instruction);
uint32_t decode_field(const struct instruction *instruction, uint32_t first, uint32_t bits);
int64_t decode_signed_field(const struct instruction *instruction, uint32_t first, uint32_t bits);

/* width.c: registers; -1: a type that is not known. */
int width_of(const struct instruction *instruction);
/* Of what is loaded or stored: bytes and halves. */
int width_is_narrow(const struct instruction *instruction);

/* One kernel while it is read. */
struct part {
    uint32_t section, first, count; /* instructions */
};
struct fix {
    uint32_t type, symbol; /* type 0: none */
    int64_t addend;
};
/* A word of constant bank 4: the address of a symbol. */
struct bank_fix {
    uint64_t at;
    uint32_t symbol;
};
struct reader {
    struct cubin cubin;
    struct cubin_kernel kernel;
    struct form *form;
    struct opcodes opcodes;
    struct instruction *instruction; /* of all parts, one after the other */
    uint32_t instructions, room;
    uint32_t *step;     /* of each instruction, the first one of it or behind it */
    uint8_t *begins;    /* of each instruction: something jumps there */
    uint32_t *function; /* of each instruction */
    uint8_t *sync_at;   /* of each instruction: a barrier leads there */
    struct fix *fix;
    uint32_t fixes, fix_room;
    struct part *part; /* sections of code that belong to it */
    uint32_t parts;
    struct bank_fix *bank_fix;
    uint32_t bank_fixes;
    uint32_t bank_2, bank_3; /* sections of constants; 0 none */
    uint32_t failed;         /* there is no memory */
};
enum { PARTS = 64 };

/* parts.c: the kernel's code and what it calls, decoded. 0: the facts say why not. */
int parts_read(struct reader *reader);
/* Where the code at that place of a section is; UINT32_MAX: nowhere. */
uint32_t parts_find(const struct reader *reader, uint32_t section, int64_t at);
/* The same beside an instruction: so many bytes from the one behind it. */
uint32_t parts_target(const struct reader *reader, uint32_t number, int64_t distance);
/* Of a jump or a call: its place in its own section or, where the linker says so, in another. UINT32_MAX: it is not known.
 */
uint32_t parts_destination(const struct reader *reader, uint32_t number);
/* What the linker puts into that instruction; type 0: nothing. */
const struct fix *parts_fix(const struct reader *reader, uint32_t number);
/* Calls `each` with the targets of the indexed jump there. 0: the image does not tell any. */
uint32_t parts_targets(const struct reader *reader, uint32_t number, void (*each)(void *data, uint32_t target), void *data);

/* sass_symbols.c: what the linker knows. */
/* 1: the immediate of that instruction is half of a symbol's address. */
int sass_symbols_immediate(struct reader *reader, uint32_t number, struct operand *operand);
/* Constant memory. of: the instruction that reads it; index: the register that is added, or NO_REGISTER. OPERAND_NONE: what
 * lies there is not known. */
struct operand sass_symbols_bank(struct reader *reader, uint32_t of, uint32_t bank, int64_t offset, uint16_t index);
/* The symbol of bank 4's word at that place; UINT32_MAX none. */
uint32_t sass_symbols_in_bank_4(const struct reader *reader, int64_t offset);

/* operands.c: what an instruction's fields name, as operands of steps. */
struct operand operands_none(void);
struct operand operands_constant(int64_t value);
struct operand operands_other(void);
struct operand operands_register(uint32_t number);
struct operand operands_vector(const struct instruction *instruction, uint32_t first_bit);
struct operand operands_uniform(const struct instruction *instruction, uint32_t first_bit);
/* Of arithmetic: the operands a, b and c, and what negates them. */
struct operands {
    struct operand a, b, c;
};
struct operands operands_of(struct reader *reader, uint32_t number);

/* trace.c: what a register surely has when an instruction begins, by those before it that are done whenever it is. */
struct traced {
    enum { TRACED_NOT, TRACED_NUMBER, TRACED_SYMBOL } kind;
    uint64_t number;
    uint32_t symbol;
};
struct traced trace(const struct reader *reader, uint32_t number, uint32_t wanted);

/* lower.c: the steps of one instruction. */
void lower(struct reader *reader, uint32_t number);
struct step lower_step_of(const struct reader *reader, uint32_t number, enum step_kind kind);
void lower_add_step(struct reader *reader, const struct step *step);
void lower_cannot(struct reader *reader, uint32_t number, enum code_why why, const char *text);

/* lower_*.c: by class. 0: it is none of theirs. */
int lower_arithmetic(struct reader *reader, uint32_t number);
int lower_memory(struct reader *reader, uint32_t number);
int lower_staged(struct reader *reader, uint32_t number);
int lower_control(struct reader *reader, uint32_t number);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel's own code says of the memory that it touches: an image's bytes in, facts out. Knows neither driver nor
 * guard. Called by the shim when a kernel is first launched or put into a graph, and by `ptds kernels`.
 *
 * Images are untrusted: nothing here reads beyond the size that is given, ends the program, or takes longer than a bound.
 * No function here takes a lock, calls the driver or changes errno. Scratch memory comes from pages of the caller's process
 * and is given back before the function returns. All functions may run in any number of threads at once.
 */
#ifndef PTDS_CODE_H
#define PTDS_CODE_H

#include <stddef.h>
#include <stdint.h>

/* DIRECT: each address that the kernel uses begins with a pointer among its parameters or with a variable of the module.
 * INDIRECT: some begin with a pointer that the kernel loads from memory: `through` and `beyond` say from where.
 * UNKNOWN: the kernel may touch anything; `why` says why. The lists are still filled in as far as they go, for people. */
enum code_verdict { CODE_DIRECT, CODE_INDIRECT, CODE_UNKNOWN };

/* What is done with memory. An atomic operation is CODE_READ | CODE_WRITE | CODE_ATOMIC. CODE_FAR: more is added to the
 * pointer than 32 bits and constants, so a small number in its place may lead to memory, too. Without it the address lies
 * at most 4 GiB behind what the parameter is. CODE_EITHER: it is not known which of the base's terms are added, nor how
 * often; so each must be a pointer, or too small a number to be one. */
enum code_use { CODE_READ = 1, CODE_WRITE = 2, CODE_ATOMIC = 4, CODE_FAR = 8, CODE_EITHER = 16 };

/* What an address may begin with. */
enum code_kind {
    CODE_PARAMETER, /* a pointer among the parameters: its low word at byte `low`, its high word at byte `high` (low + 4 but
                     * where a program hands over two halves) */
    CODE_RANGE,    /* any word among the bytes `low` to `high` of the parameters: a structure that is indexed at run time */
    CODE_VARIABLE, /* the module's variable with that number in `variable` */
    CODE_LOADED    /* a pointer that was loaded; only in a sum, beside others. From where is said there. */
};

struct code_term {
    uint8_t kind;
    uint16_t low, high; /* bytes from the beginning of the parameters; or low: the variable's number */
};

/* A beginning of addresses. With more than one term it is their sum, and any one of them may be the pointer: at a launch,
 * where the values are known, the terms that point into memory are taken. If no term does, the pointer is the loaded one,
 * or there is none where all are too small; otherwise the launch may touch anything. */
enum { CODE_TERMS = 12, CODE_MIXED = 8, CODE_MIXED_ANY = 255 };
struct code_base {
    uint8_t use;     /* enum code_use: of the memory that it points to */
    uint8_t through; /* of the memory to which pointers point that lie in that memory; 0: none is followed */
    uint8_t beyond;  /* of all memory that is reached from there by following pointers further; 0: none is followed */
    uint8_t sum_through, sum_beyond; /* the same by sums with CODE_LOADED, where none of their other terms is the pointer */
    uint8_t count;                   /* of terms, at least 1 */
    struct code_term term[CODE_TERMS];
    uint8_t mixes; /* of CODE_FAR: how many words of the parameters are in what is added; CODE_MIXED_ANY: others, too */
    uint16_t mixed[CODE_MIXED]; /* the bytes where these begin, four each, in order */
    uint8_t has_extent;         /* the facts' steps of extents tell which bytes all its accesses touch */
};

/* How far a kernel goes from its pointers: steps that a launch does one after the other (extents.h), each of which makes an
 * interval of the intervals that earlier steps `a` and `b` made. An interval holds all values that a number has in any
 * thread at any time; of a number of 32 bits some value that has the same 32 bits. */
enum code_extent_kind {
    CODE_EXTENT_NUMBER,    /* `value` */
    CODE_EXTENT_PARAMETER, /* `bits` of the parameters from byte `a` on */
    CODE_EXTENT_SIZE,      /* enum code_size in `a` */
    CODE_EXTENT_ADD,
    CODE_EXTENT_SUBTRACT,
    CODE_EXTENT_MULTIPLY,
    CODE_EXTENT_DIVIDE,
    CODE_EXTENT_REMAINDER,
    CODE_EXTENT_SMALLER,  /* of two */
    CODE_EXTENT_LARGER,   /* of two */
    CODE_EXTENT_SHIFT,    /* a >> value */
    CODE_EXTENT_BITS_OF,  /* a & value */
    CODE_EXTENT_WITH,     /* a | value */
    CODE_EXTENT_SIGNED,   /* what a's 32 bits are as a signed number */
    CODE_EXTENT_UNSIGNED, /* ... as an unsigned one; of 64 bits: the same where it is not negative */
    CODE_EXTENT_JOIN,     /* either */
    CODE_EXTENT_BELOW,    /* a, where a < b holds; is_unsigned: as unsigned numbers */
    CODE_EXTENT_UP_TO,    /* a, where a <= b holds */
    CODE_EXTENT_ABOVE,    /* a, where a > b holds */
    CODE_EXTENT_FROM,     /* a, where a >= b holds */
    CODE_EXTENT_EQUAL,    /* a, where a == b holds */
    CODE_EXTENT_LOOP,     /* a number of `bits` that begins as a, and is b each further time; the steps up to `value` make
                           * b of this one */
    CODE_EXTENT_ACCESS    /* the base number b is accessed: `value` bytes from a bytes behind the pointer on */
};

/* What the driver tells each thread: enum code_size + 0, 1, 2 of x, y, z. */
enum code_size { CODE_SIZE_THREAD = 0, CODE_SIZE_BLOCK = 3, CODE_SIZE_THREADS = 6, CODE_SIZE_BLOCKS = 9, CODE_SIZES = 12 };

struct code_extent_step {
    uint8_t kind, bits, is_unsigned;
    uint16_t a, b;
    int64_t value;
};

/* A variable of the module that the kernel uses, by `number` in terms. */
enum { CODE_NAME = 128 };
struct code_variable {
    char name[CODE_NAME]; /* cut where it is longer; "" where it has none: then it may be any of that kind */
    uint64_t size;        /* bytes; 0 unknown */
    uint8_t constant;     /* lies in constant memory */
};

/* A texture or surface object among the parameters: its handle at that byte. */
struct code_handle {
    uint16_t offset;
    uint8_t use;
};

struct code_parameter {
    uint16_t offset, size;
};

/* Beside bases. */
enum code_flag {
    CODE_HEAP = 1,          /* takes memory from the device's heap (malloc, new), or uses some */
    CODE_SYSTEM = 2,        /* calls functions of the driver's that touch nothing of the program's: printf, assert, free */
    CODE_BOUND_TEXTURE = 4, /* uses a texture or surface reference: memory that was bound to it elsewhere */
    CODE_TENSOR_MAP = 8 /* uses tensor maps among its parameters: each word of these may be the address of memory, which is
                         * read and written */
};

enum code_why {
    CODE_WHY_NONE,
    CODE_WHY_NO_IMAGE,     /* the bytes are no image that can be read */
    CODE_WHY_NO_KERNEL,    /* no kernel of that name is in it */
    CODE_WHY_ARCHITECTURE, /* machine code of a device that is not known */
    CODE_WHY_INSTRUCTION,  /* an instruction, or a form of one, that is not known */
    CODE_WHY_ADDRESS,      /* an address that begins with nothing that is known */
    CODE_WHY_HEAP,         /* memory of the device's heap, which other kernels may use too */
    CODE_WHY_CALL,         /* a call by address, or of a function that is not in the image */
    CODE_WHY_BRANCH,       /* a jump by address whose targets are not known */
    CODE_WHY_HANDLE,       /* a texture, surface or tensor map whose handle is not a parameter */
    CODE_WHY_LAUNCH,       /* launches kernels itself */
    CODE_WHY_MANY,         /* more bases, variables or handles than are told */
    CODE_WHY_LONG,         /* took longer than the bound */
    CODE_WHY_MEMORY        /* no memory for it */
};

enum {
    CODE_BASES = 192,
    CODE_VARIABLES = 48,
    CODE_HANDLES = 48,
    CODE_PARAMETERS = 512,
    CODE_TEXT = 64,
    CODE_EXTENT_STEPS = 96
};
struct code_facts {
    uint8_t verdict;                                /* enum code_verdict */
    uint8_t why;                                    /* enum code_why; of UNKNOWN: the first reason found */
    uint8_t flags;                                  /* enum code_flag */
    uint8_t is_ptx;                                 /* read from PTX, not from machine code */
    uint16_t arch;                                  /* 90: sm_90; of PTX, its target */
    uint16_t bases, variables, handles, parameters; /* numbers of what follows */
    uint16_t extent_steps;
    uint16_t parameter_bytes;
    uint32_t instructions; /* of the kernel and what it calls */
    uint32_t at; /* of UNKNOWN: where the instruction lies, bytes from the kernel's beginning, or its line of PTX; 0 */
    char text[CODE_TEXT]; /* of UNKNOWN: the instruction or the name, for people; "" none */
    struct code_base base[CODE_BASES];
    struct code_variable variable[CODE_VARIABLES];
    struct code_handle handle[CODE_HANDLES];
    struct code_parameter parameter[CODE_PARAMETERS];
    struct code_extent_step extent_step[CODE_EXTENT_STEPS];
};

/* One image: machine code (a cubin) or PTX text, unpacked. The bytes are the caller's, and stay while they are used. */
struct code_image {
    const uint8_t *bytes;
    size_t size;
    uint32_t arch; /* 90: sm_90 */
    uint8_t is_ptx;
};

/* Fills in the facts of a kernel by its name as it stands in the image. Always leaves a verdict: UNKNOWN where nothing can
 * be read. */
void code_read(const struct code_image *image, const char *kernel, struct code_facts *facts);

/* Calls `each` with the name of every kernel in the image, in the image's order, until it returns other than 0, which is
 * returned. The name is the image's own bytes, ended by 0 or, in PTX, copied for the time of the call. */
int code_read_kernels(const struct code_image *image, int (*each)(void *data, const char *kernel), void *data);

/* An image's own bytes: what cuModuleLoadData takes. Calls `each` with every image in it: itself, or those of a container
 * (fatbin), in its order. wanted NULL: all; else only those for which it returns not 0, which is asked before anything is
 * unpacked (bytes and size of its image are not there yet). Returns what `each` returned other than 0; 0; or -1: nothing
 * could be read. Images that were unpacked are gone when `each` returns. size SIZE_MAX: the driver has taken it, so its own
 * headers say how large it is. */
int images_plain(const void *bytes, size_t size, int (*wanted)(void *data, const struct code_image *image),
                 int (*each)(void *data, const struct code_image *image), void *data);

/* The images of those bytes that the driver may take for devices of these kinds (90: sm_90), at most CODE_DEVICES: the
 * machine code that fits best, the PTX that fits best where none fits or, with `jit` (CUDA_FORCE_PTX_JIT), anyway. An image
 * is given once; where several are as good (sm_90 and sm_90a), each of them. A bare image is what there is. Other than that
 * as images_plain: 0 without a call: there is none for these devices. */
enum { CODE_DEVICES = 16 };
int code_choose(const void *bytes, size_t size, const uint32_t *devices, unsigned count, int jit,
                int (*each)(void *data, const struct code_image *image), void *data);

/* Words for people: "indirect"; "an instruction that is not known". */
const char *code_words_verdict(enum code_verdict verdict);
const char *code_words_why(enum code_why why);

#endif

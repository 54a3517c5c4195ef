/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of `pointers` share. A *way* is how a kernel gets at memory that its parameters do not plainly name, as
 * PTX text; a *row* is a way and how the pointers come to where the kernel finds them. A *scene* is what one row runs with,
 * made anew each time. Ordinary CUDA programs: nothing here knows of libptds. Ways are in ways_*.c, rows in rows_*.c, the
 * schemes of a case in scheme.c, the runner in pointers.c.
 */
#ifndef APPS_POINTERS_POINTERS_H
#define APPS_POINTERS_POINTERS_H

#include "tests/apps/app.h"

enum { WORDS = 64, BYTES = WORDS * 4, OLD = 1, NEW = 2, OTHER = 9 };

/* Tables: the pointer lies at `entry`, all others point to a decoy. */
enum { FEW = 64, MANY = 16384, ENTRY = 37, ENTRY_OF_MANY = 10001, HIDDEN_BYTES = 3968 };

/* The schemes. In each, the memory is used by a kernel of the row's way and by a plain operation, the first one is slow and
 * the second one is another thread's:
 *   WRITE: the row's kernel writes, then a plain copy reads
 *   READ: a plain kernel writes, then the row's kernel reads
 *   LATE: the same, and the second thread brings the pointers
 *   KEEP: the row's kernel reads, then a plain operation writes */
enum scheme { WRITE, READ, LATE, KEEP, SCHEMES };
enum { ALL_SCHEMES = 0, NOT_LATE = 1 << WRITE | 1 << READ | 1 << KEEP, NOT_WRITE = 1 << READ | 1 << LATE | 1 << KEEP };
static inline int way_reads_second(enum scheme scheme)
{
    return scheme == READ || scheme == LATE;
}

struct scene;

enum { MOST_ARGUMENTS = 16 };
struct arguments {
    void *at[MOST_ARGUMENTS];
    uint64_t value[MOST_ARGUMENTS];
    unsigned count;
};

void pass_64(struct arguments *arguments, uint64_t value);
void pass_32(struct arguments *arguments, uint32_t value);
void pass_at(struct arguments *arguments, void *bytes); /* a structure, by value; the bytes stay until the launch */

/* How text says what is done with the memory when its address is known. */
enum body { BODY_PLAIN, BODY_ATOMIC, BODY_TEXTURE, BODY_SURFACE };

struct way {
    const char *globals;    /* text before the kernels: variables, functions, further kernels; NULL none */
    const char *parameters; /* each ended by a comma */
    const char *code;       /* leaves the generic address in %rd1; may use %rd1 to %rd15, %r1 to %r15, %p1 to %p3 */
    void (*pass)(struct scene *s, struct arguments *arguments); /* the arguments of these parameters */
    const char *write_name, *read_name;                         /* of the kernels; NULL: plain C names */
    enum body body;
    int no_parameters; /* the kernel has none: what it does stands in the variable `settings` of its module */
};

/* The text of a module with the way's two kernels. The caller frees it. */
char *way_text(const struct way *way);

struct row {
    const char *name;
    const struct way *way;
    void (*make)(struct scene *s);  /* before all else, in the main thread; it waits for what it starts */
    void (*bring)(struct scene *s); /* puts the pointers into place; the first thread, before the first operation */
    void (*launch)(struct scene *s, CUfunction function, void **arguments); /* NULL: cuLaunchKernel */
    void (*launched)(struct scene *s);           /* after the way's kernel was launched, the same thread */
    void (*write)(struct scene *s, uint64_t ns); /* the plain operations; NULL: those of scheme.c */
    void (*read)(struct scene *s);
    void (*end)(struct scene *s);
    int schemes; /* ALL_SCHEMES or some */
    int limit;   /* known to go wrong under a policy that trusts C's rule for pointer arithmetic */
};

/* What a host function leaves in memory. */
struct fill {
    uint64_t *at, value;
};

struct scene {
    struct app *app;
    const struct row *row;
    enum scheme scheme;
    uint64_t ns;
    const char *no; /* why the row cannot be tried here */
    int first_done; /* 1: the first thread's calls have returned; by atomics */
    CUmodule module, plain_module, other_module;
    CUfunction write_kernel, read_kernel, plain_write, plain_read, put, other_write, other_read;
    CUdeviceptr made, target; /* the memory: as the scene made it, and as the row has it */
    CUdeviceptr decoy, seen, table;
    size_t entries, entry;
    uint64_t *pinned, *pageable; /* MANY words each */
    CUdeviceptr pinned_device;
    CUdeviceptr more[3]; /* what rows allocate besides; freed with the scene */
    struct fill fills[4];
    unsigned fill_count;
    CUtexObject texture;
    CUarray array;
    CUgraphExec graph;
    CUstream aside; /* non-blocking */
    unsigned char block[HIDDEN_BYTES];
    uint32_t words[WORDS]; /* what the second thread saw */
};

/* Ends with a row without a name. */
extern const struct row rows_table[], rows_memory[], rows_variable[], rows_other[], rows_load[], rows_number[];

/* scheme.c. Whether the scheme's second operation saw what legacy order promises; s->no where it cannot be tried. */
int scheme_run(struct scene *s, unsigned threads);
CUfunction arguments_of(struct scene *s, struct arguments *arguments); /* of the way's kernel, as the scheme has it */

/* scene.c */
void scene_make(struct scene *s);
void scene_end(struct scene *s);
int can(struct scene *s, CUresult result, const char *no); /* for calls that not every driver has; 0: s->no says why */
CUdeviceptr words_of(uint32_t value);                      /* WORDS words of a new allocation */
void load(struct scene *s, const struct way *way, CUmodule *module, CUfunction *write, CUfunction *read);
CUdeviceptr variable(CUmodule module, const char *name);
void table_make(struct scene *s, size_t entries, size_t entry); /* of decoys */
void spin_before(struct scene *s);                              /* so that what follows is not done at once */
void put_by_kernel(struct scene *s, CUdeviceptr at, uint64_t value);
void launch_one(CUfunction function, struct arguments *arguments);

/* bring.c: a pointer to where a kernel finds it. */
void bring_pageable(struct scene *s, CUdeviceptr at, uint64_t value);
void bring_halves(struct scene *s, CUdeviceptr at, uint64_t value);
void bring_memset_halves(struct scene *s, CUdeviceptr at, uint64_t value);
void bring_value_write(struct scene *s, CUdeviceptr at, uint64_t value);
void bring_by_host_function(struct scene *s, CUdeviceptr at, uint64_t value);
void bring_rewritten(struct scene *s, CUdeviceptr at, uint64_t value);
void bring_device_copy(struct scene *s, CUdeviceptr at, uint64_t value);
void host_function_fills(struct scene *s, CUstream stream, uint64_t *at, uint64_t value);

/* ways_*.c */
extern const struct way way_plain, way_plain_atomic, way_table, way_table_atomic, way_tables, way_list, way_mailbox;
extern const struct way way_variable, way_constant, way_variable_behind, way_constant_behind, way_variable_table,
    way_constant_table, way_no_parameters, way_own_words;
extern const struct way way_const_name, way_halves, way_halves_apart, way_halves_swapped, way_halves_swapped_apart,
    way_before, way_behind, way_far_before, way_far_behind, way_difference, way_difference_computed, way_tag_high,
    way_tag_low, way_xor, way_xor_constant, way_shifted, way_negated, way_struct_odd, way_struct_packed, way_struct_large,
    way_struct_middle, way_selected, way_shared, way_local;
extern const struct way way_function, way_heap, way_texture, way_texture_variable, way_surface;
extern const struct way way_read_only, way_volatile, way_vector, way_atomic_load, way_exchange, way_two_loads,
    way_shifted_loads, way_bytes, way_branched, way_split, way_fetched, way_halves_shifted, way_halves_product, way_called,
    way_difference_far, way_index_far, way_first_value, way_first_value_constant;
extern const struct way way_extended, way_extended_step, way_eighth, way_loaded_step, way_loaded_none, way_loaded_extended,
    way_either, way_either_difference, way_either_null;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules and libraries: their images, and which kernels are theirs. A module's variables are one memory.
 */
#ifndef PTDS_MODULES_H
#define PTDS_MODULES_H

#include "interpose/footprint/image.h"
#include "interpose/state/call.h"

/* Whether its variables begin as addresses of each other; nobody asked yet. */
enum module_addresses { ADDRESSES_UNASKED, ADDRESSES_NO, ADDRESSES_SOME };

struct module {
    uint64_t handle;       /* CUmodule or CUlibrary */
    struct memory *memory; /* its variables; NULL: nobody has used any */
    uint64_t works;        /* since when nobody has left pointers there unseen, as tables.h counts it */
    struct image image;
    uint32_t addresses; /* enum module_addresses */
    uint32_t textures;  /* it has texture or surface references, which are bound to memory past its kernels' parameters */
    struct module *next_free;
};

/* api.def's columns. Images are kept after the call, when the driver has taken them. */
void modules_loaded(struct call *C, const void *module, const void *image);
void modules_loaded_file(struct call *C, const void *module, const char *path);
void modules_unloading(struct call *C, const void *module);
void modules_unloaded(struct call *C);
void modules_gave_function(struct call *C, const void *function, const void *module);
void modules_gave_module(struct call *C, const void *module, const void *library);
void modules_gave_kernels_function(struct call *C, const void *function, const void *kernel);
void modules_gave_texture(struct call *C, const void *module);
void modules_gave_global(struct call *C, const void *pointer, size_t pointer_size, const void *bytes, size_t bytes_size,
                         const void *module, const char *name);

/* Whether the host may store into a module's variables without a call: some are managed, or nobody could be asked so far.
 */
int modules_are_hosts(struct memory *variables);

/* The memory of its variables, made when it is asked for; NULL: there is no room to remember it. */
struct memory *modules_variables(struct module *module);

/* What that says; asked once, where a kernel follows pointers in variables. */
int modules_have_addresses(struct module *module);

/* Whose the function or kernel is; asks the driver where it was not seen being given. NULL unknown. */
struct module *modules_of(CUfunction function);

void modules_after_fork(void);

#endif

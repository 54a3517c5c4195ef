/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules and libraries: their images, and which kernels are theirs. A module's variables are one memory.
 */
#ifndef PTDS_MODULES_H
#define PTDS_MODULES_H

#include "interpose/footprint/modules/image.h"
#include "interpose/state/call.h"

/* Whether its variables begin as addresses of each other. */
enum module_addresses { ADDRESSES_UNASKED, ADDRESSES_NO, ADDRESSES_SOME };

/* Owned by modules.c. A thread may look at a module as long as it may launch a kernel of the module. */
struct module {
    uint64_t handle;       /* CUmodule or CUlibrary */
    struct memory *memory; /* its variables, held; NULL: none was used so far */
    uint64_t works;        /* since when no work has left pointers there unseen (pointer_tables_unknown_works) */
    struct image image;
    uint32_t addresses; /* enum module_addresses */
    uint32_t textures;  /* it has texture or surface references, which are bound to memory past its kernels' parameters */
    struct module *next_free;
};

/* ---- api.def's columns; they do nothing unless C->footprint is set ---- */

/* After the call: *module is a new module or library, of this image or file. */
void modules_loaded(struct call *C, const void *module, const void *image);
void modules_loaded_file(struct call *C, const void *module, const char *path);

/* Before and after the call that unloads it. In between C->module is the module. */
void modules_unloading(struct call *C, const void *module);
void modules_unloaded(struct call *C);

/* After the call: *function is a function of the module, a kernel's function, *module a library's module, or the module has
 * a texture or surface reference. */
void modules_gave_function(struct call *C, const void *function, const void *module);
void modules_gave_module(struct call *C, const void *module, const void *library);
void modules_gave_kernels_function(struct call *C, const void *function, const void *kernel);
void modules_gave_texture(struct call *C, const void *module);

/* After the call: the module's variable `name` lies at *pointer and has *bytes bytes (bytes NULL: the driver is asked).
 * pointer_size, bytes_size: of what the program gave room for, 4 or 8. */
void modules_gave_global(struct call *C, const void *pointer, size_t pointer_size, const void *bytes, size_t bytes_size,
                         const void *module, const char *name);

/* ---- once a kernel ---- */

/* The memory of its variables, made when it is first asked for; NULL: there is no memory to remember it. */
struct memory *modules_variables(struct module *module);

/* Whether its variables begin as addresses of each other. Reads the image the first time. */
int modules_have_addresses(struct module *module);

/* The module of a function or kernel; asks the driver where the function was not seen being given, and no capture is open.
 * NULL: not known. */
struct module *modules_of(CUfunction function);

/* In a forked child: no module is known. */
void modules_after_fork(void);

#endif

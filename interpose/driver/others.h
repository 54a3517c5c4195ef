/* SPDX-License-Identifier: Apache-2.0
 *
 * Other libraries of the process that export the driver's functions, as quotas and tools do: a linked call would have
 * reached them if the shim were not there.
 */
#ifndef PTDS_OTHERS_H
#define PTDS_OTHERS_H

#include <stdint.h>

#include "interpose/api/api.h"
#include "interpose/base/elf.h"

/* The first definition behind the shim in the program's search order where that is another library's, [id][1] of the twin.
 * NULL: the driver's own, or none. Constant once others_look() has returned. */
extern void *others_function[API_COUNT][2];

/* Set by the linked entry of a wrapper for its working half: this call came by the exported name. */
extern __thread uint32_t others_linked __attribute__((tls_model("initial-exec")));

/* Fills in others_function, once; returns whether there is any. Any thread, also inside dlsym, before any constructor and
 * under the loader's lock; allocates nothing. */
int others_look(void);

/* Calls visit for every library, the program included, that the program started with, that is neither the shim nor a driver
 * and that exports functions of the table, with how many. */
void others_each(void (*visit)(const struct elf_object *object, uint32_t functions, void *), void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What is handed out for a driver function, whichever way the program asks. Decided once, at resolution.
 */
#ifndef PTDS_DOORS_H
#define PTDS_DOORS_H

#include <stdint.h>

#include "interpose/api/api.h"

struct call;

/* The wrappers, as exported: [id][0] the base, [id][1] the twin or NULL. */
extern void *const door_wrapper[API_COUNT][2];

/* Their working halves: what a look-up of the driver's own function gives where a linked call would reach another
 * library's.
 */
extern void *const door_work[API_COUNT][2];
/* The same for a call by the exported name. */
extern void *const door_linked[API_COUNT][2];

/* Where the exported wrappers jump to: their working half, or, once door_open() has seen that they have no work to do, the
 * function behind it. */
extern void *door_go[API_COUNT][2];

/* The launches' wrappers try the guard's short way from now on. Once. */
void quick_launches(int recorded);

/* The doors of a row get a wrapper that notes when work began and ended. Inside dlsym, too. */
int watch_row(int id, int twin);
/* Puts these wrappers in, around what is there. Once. */
void watch_all(void);

/* Prepares everything a wrapper needs, once: configuration, driver, recorder. Returns 0 if there is no driver to call.
 * Any thread; not inside dlsym. */
int door_open(void);

/* 1 if there is nothing to do at all (PTDS_DISABLE, policy none): every door gives what the program would get without it.
 */
int door_inert(void);
/* ... and nothing to watch either: whoever looks past the shim may go on doing so. */
int door_idle(void);
/* The wrapper for who asks for the driver's own function. Runs inside dlsym. */
void *door_own(int id, int twin);

/* The answer for the address of another library's function of a row's name: that itself, or the wrapper that calls it. Runs
 * inside dlsym. */
void *door_others(void *found, int id, int twin, const void *caller);

/* The same for the wrapper of a row, which may have to say where the watched functions are. */
int door_passes(int id);

/* The answer for a real address of the driver's: the address itself, the twin's, or a wrapper. caller is an address inside
 * the object that asked. Runs inside dlsym: no locks beyond the loader's, no allocation. */
void *door_answer(void *real, const void *caller);

/* After a cuGetProcAddress call: replaces *function by the answer. */
void door_proc_address(struct call *C, const char *symbol, void **function, int cuda_version, cuuint64_t flags);

/* In a forked child. */
void doors_after_fork(void);
void nvtx_after_fork(void);

#endif

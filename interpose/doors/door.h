/* SPDX-License-Identifier: Apache-2.0
 *
 * What is handed out for a driver function, whichever way the program asks. Decided once, at the look-up.
 */
#ifndef PTDS_DOOR_H
#define PTDS_DOOR_H

/* Prepares all that a wrapper needs, once: configuration, driver, recorder. 0: there is no driver to call. Any thread; not
 * inside dlsym. */
int door_open(void);

/* 1 if there is nothing to do at all (PTDS_DISABLE, policy none): every door gives what the program would get without the
 * shim. */
int door_inert(void);

/* The same, and nothing to watch either: a look-up past the shim may go on doing so. */
int door_idle(void);

/* door_inert for the wrapper of a row, which may have to say where the watched functions are. */
int door_passes(int id);

/* The answer for a real address of the driver's: that address, the twin's, or a wrapper. `caller` is an address inside the
 * object that asked. Runs inside dlsym: no locks beyond the loader's, no allocation. */
void *door_answer(void *real, const void *caller);

/* The wrapper for a look-up of the driver's own function. Runs inside dlsym. */
void *door_own(int id, int twin);

/* The answer for the address of another library's function of a row's name: that address, or the wrapper that calls it.
 * Runs inside dlsym. */
void *door_others(void *found, int id, int twin, const void *caller);

/* In a forked child. */
void door_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * A policy for tests: leaves every call where it is, and keeps what the last one touched.
 */
#ifndef PTDS_TESTS_FOOTPRINT_WATCH_H
#define PTDS_TESTS_FOOTPRINT_WATCH_H

#include "interpose/state/touched.h"

extern struct touched watch_last;
extern uint32_t watch_object, watch_generation; /* of the same call */

/* Whether the host waits for the same call: in its synchronous form, and in any. */
extern int watch_blocks, watch_settles;

/* Whether a kernel of the graph that the same call launches may write what the host can touch. */
extern int watch_tells;

/* What the guard was told of: memory that is about to leave, and how often; memory that others can touch from then on. */
enum { WATCH_SHOWN = 8 };
extern struct touched watch_leaving;
extern unsigned watch_leaves, watch_shows;
extern const struct memory *watch_shown[WATCH_SHOWN];

/* From here on, instead of the configured policy; after the first call of the driver. */
void watch_start(void);

/* As if all events had been made past the shim. */
void watch_forget_events(void);

/* The memory where an address lies; NULL none. */
struct memory *watch_find(uint64_t address);

/* The memory of the reservation that it is mapped in; NULL none. */
struct memory *watch_reservation(uint64_t address);

/* As if empty nodes of graphs were of that type: the memory of one that allocates or frees. */
void watch_node(int type, uint64_t address);

/* As if the device could read all of the process's memory. */
void watch_pageable(int reads);

/* What the launch touches by the short way's answer; 0: it has none, or has not met the kernel. `function` is a CUfunction.
 */
int watch_plainly(void *function, void *const *params, struct touched *touched);

/* How the launch's record names the memory past what its words point to: 0 not, 1 as read, 2 as written. And of the same
 * record how many words it has besides the shape, and whether it says that they are not all. */
extern unsigned watch_words;
extern int watch_is_opaque;
int watch_names(void *function, void **params, uint32_t uid);

/* What launches claim to touch, instead of to the simulated driver, until it is NULL again: kept by the test. */
struct watch_claim {
    unsigned count;
    int everything;
    struct {
        uint64_t begin, end;
        uint32_t writes;
    } at[8];
};
void watch_claims(struct watch_claim *claim);

/* Whether the event was last recorded in an open capture. */
int watch_is_captured(const void *event);

#endif

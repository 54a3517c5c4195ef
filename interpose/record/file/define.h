/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the records that other records refer to: names, objects, stacks, streams. Rare, so all under one lock, which each
 * function takes and gives back.
 */
#ifndef PTDS_DEFINE_H
#define PTDS_DEFINE_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/trace/format.h"

/* Appends one record: `record` is the fixed part, whose header is filled in here, `tail` the tail, cut to what fits into a
 * chunk. 0: no chunk was to be had, and the record is counted as refused. */
int define(enum ptds_record_kind kind, void *record, size_t size, const void *tail, size_t tail_size);

/* A text's id, the same for the same text and role. */
uint32_t define_string(enum ptds_role role, const char *text);

/* A new stack; also defines the objects it runs through. */
uint32_t define_stack(void *const *frames, uint32_t count);

/* MEMORY records, as rescue_pack makes them. Where they would take up more than half of the trace they are refused. */
void define_memories(const uint8_t *records, size_t bytes);

/* The process has forked. Waits for no lock: see the recorder's recorder_fork. */
void define_fork(void);

/* The three clocks, now; or only if the last reading is some time ago. */
void define_clocks(void);
void define_clocks_if_due(void);

/* 0 where this would wait for ever: see lock_comes_free. */
int define_can_go_on(void);

void define_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache of open-ended accesses, for speed alone. Nine of ten pointers of a launch are where the same strand used them
 * before. So a strand's last accesses from an address on stand in a cache entry, and are written back to the memory's list
 * (remembered.h) only when all of that list must be seen. A use of the memory by another strand is no reason
 * (memory_use.h), so entries of several strands may wait to be written back at once.
 *
 * An entry notes one access of each kind at most: read, unknown, write, from weak to strong. A new access makes those of
 * its own and of weaker kinds superfluous. Example: a strand reads, then writes. An operation that conflicts with the read
 * conflicts with the write, too, and an operation that comes after the write comes after the read. So the read need not be
 * remembered. It may stand in the memory's list from an earlier writing back; therefore an entry notes which kinds became
 * superfluous, and they are forgotten in the list when the entry is written back.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_ACCESS_CACHE_H
#define PTDS_ANALYSIS_ORDER_MEMORY_ACCESS_CACHE_H

#include "analysis/order/strands/strands.h"

/* What a strand did from an address on. Arrays are by kind of access (enum access, less one); sets of kinds have a bit
 * 1 << enum access. An entry is one line of the processor's cache: finding it is much of what a pointer costs. */
struct cache_entry {
    uint64_t address;
    uint32_t strand; /* serial */
    uint32_t memory; /* the bytes before it in the table of memories */
    uint64_t stint;  /* of the memory, when the accesses in `kinds` were examined */
    uint64_t seen;   /* the call at which that was; UINT64_MAX: no order learnt later can change the outcome */
    uint32_t order[ACCESS_UNKNOWN]; /* of each kind in `noted`: access_cache_order */
    uint16_t at[ACCESS_UNKNOWN];    /* position in the memory's list of the last one that was written back; 0: none */
    uint16_t noted;                 /* low bits: kinds to be written back; ENTRY_REPLACED bits higher: kinds that became */
    /* superfluous since the last writing back. A kind can be in both: read, written, read. */
    /* Not 0: the entry is in the memory's list `waiting` */
    uint8_t kinds;  /* kinds of accesses that were examined without a race */
    uint8_t sure;   /* `kinds`, if no order learnt later can change the outcome; else none */
    uint8_t latest; /* the kind noted last: another such access adds nothing to `noted`. 0: none waits */
    uint32_t by;    /* the strand's position */
};
#define ENTRY_REPLACED 8

/* The strand that touches, looked up once an operation. */
struct toucher {
    uint32_t strand, serial;
    uint64_t salt; /* the serial's part of an entry's hash */
};

static inline struct toucher access_cache_toucher(const struct verdicts *v, uint32_t strand)
{
    const struct strand *by = strands_at(v, strand);
    return (struct toucher){.strand = strand, .serial = by->serial, .salt = (uint64_t)by->serial << 40};
}

static inline struct cache_entry *access_cache_at(struct verdicts *v, const struct toucher *by, uint64_t address)
{
    return &v->cache[(address ^ by->salt) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS)];
}

/* The call at hand and the number of the access in it, rising. Entries are written back before v->ends begins anew. */
static inline uint32_t access_cache_order(const struct verdicts *v, uint32_t access)
{
    return (uint32_t)(v->now % ENDS) << TOUCHES_BITS | access;
}

/* By enum access: the weaker kinds, which such an access makes superfluous. */
enum { WEAKER_THAN_UNKNOWN = 1 << ACCESS_READ, WEAKER_THAN_WRITE = 1 << ACCESS_READ | 1 << ACCESS_UNKNOWN };
static const uint16_t access_cache_weaker[] = {
    [ACCESS_READ] = 0, [ACCESS_WRITE] = WEAKER_THAN_WRITE, [ACCESS_UNKNOWN] = WEAKER_THAN_UNKNOWN};
/* By enum access: which bits of `noted` stay, and which are added. */
static const struct {
    uint16_t keeps, adds;
} access_cache_bits[] = {
    [ACCESS_READ] = {UINT16_MAX, 1 << ACCESS_READ},
    [ACCESS_WRITE] = {(uint16_t)~WEAKER_THAN_WRITE, 1 << ACCESS_WRITE | WEAKER_THAN_WRITE << ENTRY_REPLACED},
    [ACCESS_UNKNOWN] = {(uint16_t)~WEAKER_THAN_UNKNOWN, 1 << ACCESS_UNKNOWN | WEAKER_THAN_UNKNOWN << ENTRY_REPLACED}};

static inline struct memory *access_cache_memory(const struct verdicts *v, const struct cache_entry *entry)
{
    return (struct memory *)((char *)v->memories.items + entry->memory);
}

void access_cache_enlist(struct verdicts *v, const struct cache_entry *entry, struct memory *memory);

/* An access of another kind than the last one of the entry, or the first one that waits. */
static inline void access_cache_note_other(struct verdicts *v, struct cache_entry *entry, struct memory *memory,
                                           enum access access)
{
    if (entry->noted == 0)
        access_cache_enlist(v, entry, memory);
    entry->noted = (uint16_t)((entry->noted & access_cache_bits[access].keeps) | access_cache_bits[access].adds);
    entry->latest = (uint8_t)access;
}

/* Notes an access that needs no examination. */
static inline void access_cache_note(struct verdicts *v, uint32_t order, struct cache_entry *entry, struct memory *memory,
                                     enum access access)
{
    uint64_t now = v->now;
    if (entry->latest != access)
        access_cache_note_other(v, entry, memory, access);
    entry->order[access - 1] = order;
    memory->last = now;
    memory->changed = access != ACCESS_READ ? now : memory->changed;
}

/* The call at which the strand or the host last learnt of any other strand. */
static inline uint64_t access_cache_grown(const struct verdicts *v, const struct toucher *by)
{
    return larger(strands_at(v, by->strand)->grown_at, strands_at(v, HOST_STRAND)->grown_at);
}

/* As access_cache_touch, where the entry does not answer; in a memory that is known. */
struct memory *access_cache_look(struct verdicts *v, const struct toucher *by, uint32_t order, uint64_t address,
                                 enum access access);
struct memory *access_cache_look_in(struct verdicts *v, const struct toucher *by, uint32_t order, struct memory *memory,
                                    uint64_t address, enum access access);

/* Examines and notes an access from this address on. Returns the memory; NULL: the address is in no known memory, and
 * nothing happened. Mostly the strand did the same there before, and no other strand has used the memory since: then
 * nothing need be examined. */
static inline struct memory *access_cache_touch(struct verdicts *v, const struct toucher *by, uint32_t order,
                                                uint64_t address, enum access access)
{
    struct cache_entry *entry = access_cache_at(v, by, address);
    struct memory *memory = access_cache_memory(v, entry);
    bool known =
        entry->address == address && entry->strand == by->serial && entry->stint == memory->stint &&
        ((entry->sure & 1u << access) || ((entry->kinds & 1u << access) && access_cache_grown(v, by) <= entry->seen));
    if (__builtin_expect(!known, 0))
        return access_cache_look(v, by, order, address, access);
    access_cache_note(v, order, entry, memory, access);
    return memory;
}

/* What is noted of a memory and not written back. */
struct noted {
    struct cache_entry *entry;
    uint32_t order; /* access_cache_order */
    enum access access;
};
/* The first access after operation `since` by one of these strands (a bit for each, modulo 64); reads only if `any`. False:
 * none. */
bool access_cache_first(const struct verdicts *v, struct memory *memory, uint64_t strands, bool any, uint64_t since,
                        struct remembered *out);
/* All accesses after operation `since` by other strands than this one, in order. Returns how many; `out` has room for
 * WAITING_MOST * ACCESS_UNKNOWN. */
unsigned access_cache_newer(struct verdicts *v, struct memory *memory, uint32_t strand, uint64_t since, struct noted *out);
struct remembered access_cache_as_remembered(const struct verdicts *v, const struct memory *memory,
                                             const struct noted *noted);
/* Whether writing back would replace this access in the memory's list. */
bool access_cache_supersedes(struct verdicts *v, const struct remembered *old, uint32_t position);

/* Of a memory, of all. */
void access_cache_write_back(struct verdicts *v, struct memory *memory);
void access_cache_write_all_back(struct verdicts *v);
/* Before the memory is removed. */
void access_cache_drop(struct verdicts *v, struct memory *memory);

static inline uint16_t *access_cache_waiting(struct waiting *waiting)
{
    return waiting->room > WAITING_FEW ? waiting->many : waiting->few;
}

bool access_cache_begin(struct verdicts *v); /* false without memory */
void access_cache_free(struct verdicts *v);

#endif

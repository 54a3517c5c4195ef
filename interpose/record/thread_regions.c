/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions: what a thread says it is doing, through ptds.h or NVTX. Called by program_api.c and nvtx.c, and once by each
 * thread when its recording begins. Must be harmless while nothing is recorded: then names are only remembered, so that the
 * regions around a program's first CUDA call are not lost.
 */
#include "interpose/record/thread_regions.h"

#include <string.h>

#include "interpose/base/clock.h"
#include "interpose/base/pages.h"
#include "interpose/env/env.h"
#include "interpose/record/append.h"
#include "interpose/record/file/define.h"
#include "interpose/record/recorder.h"

static uint64_t ranges;

/* Regions that were begun before there was anything to record them in. Cut names and a bounded depth: it is a rare case. */
struct early_region {
    char name[112], domain[112];
};

static uint32_t region_name(const char *name, const char *domain)
{
    char text[512];
    if (!domain)
        return define_string(PTDS_ROLE_REGION, name);
    size_t length = strnlen(name, 380), more = strnlen(domain, 120);
    memcpy(text, name, length);
    text[length] = '@';
    memcpy(text + length + 1, domain, more);
    text[length + 1 + more] = '\0';
    return define_string(PTDS_ROLE_REGION, text);
}

static void append(struct thread *thread, uint32_t name, uint32_t domain, uint64_t range)
{
    struct ptds_rec_REGION *record = append_reserve(thread, PTDS_REC_REGION, sizeof *record);
    if (!record)
        return;
    record->ticks = clock_ticks();
    record->name = name;
    record->domain = domain;
    record->range = range;
    append_commit(thread);
}

/* For every record to come. Of regions nested too deep, the last one that was remembered stands for them. */
static void note_innermost(struct thread *thread)
{
    uint32_t depth = thread->region_depth < THREAD_REGIONS ? thread->region_depth : THREAD_REGIONS;
    thread->region = depth ? thread->regions[depth - 1] : 0;
}

static void push(struct thread *thread, const char *name, const char *domain)
{
    uint32_t depth = thread->region_depth++, domain_id = domain ? define_string(PTDS_ROLE_DOMAIN, domain) : 0;
    uint32_t id = region_name(name, domain);
    if (depth < THREAD_REGIONS) {
        thread->regions[depth] = id;
        thread->region_domains[depth] = domain_id;
    }
    note_innermost(thread);
    append(thread, id, domain_id, 0);
}

static int wanted(void)
{
    return env_get()->recording && recorder_running != 2;
}

static void push_early(struct thread *thread, const char *name, const char *domain)
{
    if (!thread->early && !(thread->early = pages_keep(THREAD_REGIONS * sizeof *thread->early)))
        return;
    if (thread->early_depth < THREAD_REGIONS) {
        struct early_region *early = &thread->early[thread->early_depth];
        *early = (struct early_region){.name = "", .domain = ""};
        memcpy(early->name, name, strnlen(name, sizeof early->name - 1));
        if (domain)
            memcpy(early->domain, domain, strnlen(domain, sizeof early->domain - 1));
    }
    thread->early_depth++;
}

/* The innermost one of its domain goes. */
static void pop_early(struct thread *thread, const char *domain)
{
    uint32_t at = thread->early_depth;
    if (at > THREAD_REGIONS) {
        thread->early_depth--;
        return;
    }
    while (at > 0 && strncmp(thread->early[at - 1].domain, domain ? domain : "", sizeof thread->early->domain - 1) != 0)
        at--;
    if (at == 0)
        return;
    thread->early_depth--;
    memmove(&thread->early[at - 1], &thread->early[at], (thread->early_depth - (at - 1)) * sizeof *thread->early);
}

/* For each region that was nested too deep, the last one that was remembered stands: an end will come for each, too. */
void thread_regions_started(struct thread *thread)
{
    uint32_t depth = thread->early_depth;
    thread->early_depth = 0;
    for (uint32_t i = 0; i < depth; i++) {
        const struct early_region *early = &thread->early[i < THREAD_REGIONS ? i : THREAD_REGIONS - 1];
        push(thread, early->name, early->domain[0] ? early->domain : NULL);
    }
}

int thread_regions_push(struct thread *thread, const char *name, const char *domain)
{
    if (recorder_on() && thread->counts)
        push(thread, name, domain);
    else if (wanted())
        push_early(thread, name, domain);
    else
        return 0;
    return 1;
}

static void pop(struct thread *thread, uint32_t domain)
{
    uint32_t at = thread->region_depth;
    if (at <= THREAD_REGIONS) {
        while (at > 0 && thread->region_domains[at - 1] != domain)
            at--;
        if (at == 0)
            return;
        uint32_t above = thread->region_depth - at;
        memmove(&thread->regions[at - 1], &thread->regions[at], above * sizeof thread->regions[0]);
        memmove(&thread->region_domains[at - 1], &thread->region_domains[at], above * sizeof thread->region_domains[0]);
    }
    thread->region_depth--;
    note_innermost(thread);
    append(thread, 0, domain, 0);
}

int thread_regions_pop(struct thread *thread, const char *domain)
{
    if (recorder_on() && thread->counts)
        pop(thread, domain ? define_string(PTDS_ROLE_DOMAIN, domain) : 0);
    else if (wanted())
        pop_early(thread, domain);
    else
        return 0;
    return 1;
}

uint64_t thread_regions_range_start(struct thread *thread, const char *name, const char *domain)
{
    uint64_t range = __atomic_add_fetch(&ranges, 1, __ATOMIC_RELAXED);
    if (recorder_on() && thread->counts)
        append(thread, region_name(name, domain), domain ? define_string(PTDS_ROLE_DOMAIN, domain) : 0, range);
    return range;
}

void thread_regions_range_end(struct thread *thread, uint64_t range)
{
    if (recorder_on() && thread->counts && range)
        append(thread, 0, 0, range);
}

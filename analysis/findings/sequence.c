/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds sequences of waits. Called by report/pass/pass_over_calls.c for each call that a finding stands for, so it must
 * stay cheap; bounded by threads and by pairs of findings.
 */
#include "analysis/findings/sequence.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"

static struct sequence_thread *thread_of(struct sequence_search *search, uint32_t uid)
{
    uint32_t at;
    if (id_map_get(&search->thread_at, uid, &at))
        return &search->threads.items[at];
    if (!TABLE_ADD(&search->threads))
        return NULL;
    *TABLE_LAST(&search->threads) = (struct sequence_thread){0};
    if (!id_map_put(&search->thread_at, uid, (uint32_t)search->threads.count - 1)) {
        search->threads.count--;
        return NULL;
    }
    return TABLE_LAST(&search->threads);
}

static void count_pair(struct sequence_search *search, uint32_t first, uint32_t second)
{
    uint64_t key = (uint64_t)first << 32 | second;
    uint32_t at;
    if (id_map_get(&search->pair_at, key, &at)) {
        search->pairs.items[at].count++;
        return;
    }
    at = (uint32_t)search->pairs.count;
    if (at >= SEQUENCE_PAIRS || !TABLE_ADD(&search->pairs))
        return;
    *TABLE_LAST(&search->pairs) = (struct sequence_pair){first, second, 1};
    if (!id_map_put(&search->pair_at, key, at))
        search->pairs.count--;
}

static bool count_blocked(struct sequence_search *search, uint32_t serial)
{
    while (search->blocked.count <= serial) {
        if (!TABLE_ADD(&search->blocked))
            return false;
        *TABLE_LAST(&search->blocked) = 0;
    }
    search->blocked.items[serial]++;
    return true;
}

void sequence_blocked(struct sequence_search *search, const struct trace *trace, const struct call_view *view,
                      uint32_t serial)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (!count_blocked(search, serial))
        return;
    struct sequence_thread *thread = thread_of(search, view->call->thread);
    if (thread == NULL)
        return;
    if (thread->serial != 0 && thread->serial != serial && call->enter >= thread->left &&
        trace_ns(trace, call->enter - thread->left) < thread->lost_ns)
        count_pair(search, thread->serial, serial);
    *thread = (struct sequence_thread){.left = call->leave, .lost_ns = view->lost_ns, .serial = serial};
}

static uint32_t find(struct sequence_search *search, uint32_t serial)
{
    uint32_t *leader = search->leader.items;
    while (leader[serial] != serial) {
        leader[serial] = leader[leader[serial]];
        serial = leader[serial];
    }
    return serial;
}

void sequence_decide(struct sequence_search *search)
{
    for (size_t i = 0; i < search->blocked.count; i++) {
        if (!TABLE_ADD(&search->leader)) {
            search->leader.count = 0;
            return;
        }
        *TABLE_LAST(&search->leader) = (uint32_t)i;
    }
    for (size_t i = 0; i < search->pairs.count; i++) {
        const struct sequence_pair *pair = &search->pairs.items[i];
        if (pair->count > search->blocked.items[pair->first] / 2)
            search->leader.items[find(search, pair->first)] = find(search, pair->second);
    }
    for (uint32_t i = 0; i < search->leader.count; i++)
        search->leader.items[i] = find(search, i);
}

uint32_t sequence_leader(const struct sequence_search *search, uint32_t serial)
{
    return serial < search->leader.count ? search->leader.items[serial] : 0;
}

void sequence_search_free(struct sequence_search *search)
{
    free(search->threads.items);
    free(search->pairs.items);
    free(search->blocked.items);
    free(search->leader.items);
    id_map_free(&search->thread_at);
    id_map_free(&search->pair_at);
    *search = (struct sequence_search){0};
}

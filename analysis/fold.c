/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds sequences of waits. Called by report.c for each call that a finding stands for, so it must stay cheap; bounded by
 * threads and by pairs of findings.
 */
#include "analysis/fold.h"

#include <stdlib.h>

static struct fold_thread *thread_of(struct folds *folds, uint32_t uid)
{
    uint32_t at;
    if (id_map_get(&folds->thread_at, uid, &at))
        return &folds->threads.items[at];
    if (!TABLE_ADD(&folds->threads))
        return NULL;
    *TABLE_LAST(&folds->threads) = (struct fold_thread){0};
    if (!id_map_put(&folds->thread_at, uid, (uint32_t)folds->threads.count - 1)) {
        folds->threads.count--;
        return NULL;
    }
    return TABLE_LAST(&folds->threads);
}

static void count_pair(struct folds *folds, uint32_t first, uint32_t second)
{
    uint64_t key = (uint64_t)first << 32 | second;
    uint32_t at;
    if (id_map_get(&folds->pair_at, key, &at)) {
        folds->pairs.items[at].count++;
        return;
    }
    at = (uint32_t)folds->pairs.count;
    if (at >= FOLD_PAIRS || !TABLE_ADD(&folds->pairs))
        return;
    *TABLE_LAST(&folds->pairs) = (struct fold_pair){first, second, 1};
    if (!id_map_put(&folds->pair_at, key, at))
        folds->pairs.count--;
}

static bool count_blocked(struct folds *folds, uint32_t serial)
{
    while (folds->blocked.count <= serial) {
        if (!TABLE_ADD(&folds->blocked))
            return false;
        *TABLE_LAST(&folds->blocked) = 0;
    }
    folds->blocked.items[serial]++;
    return true;
}

void fold_call(struct folds *folds, const struct trace *trace, const struct call_view *view, uint32_t serial)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (serial == 0 || !view->blocked || !count_blocked(folds, serial))
        return;
    struct fold_thread *thread = thread_of(folds, view->call->thread);
    if (thread == NULL)
        return;
    if (thread->serial != 0 && thread->serial != serial && call->enter >= thread->left &&
        trace_ns(trace, call->enter - thread->left) < thread->lost_ns)
        count_pair(folds, thread->serial, serial);
    *thread = (struct fold_thread){.left = call->leave, .lost_ns = view->lost_ns, .serial = serial};
}

static uint32_t find(struct folds *folds, uint32_t serial)
{
    uint32_t *leader = folds->leader.items;
    while (leader[serial] != serial) {
        leader[serial] = leader[leader[serial]];
        serial = leader[serial];
    }
    return serial;
}

void fold_decide(struct folds *folds)
{
    for (size_t i = 0; i < folds->blocked.count; i++) {
        if (!TABLE_ADD(&folds->leader)) {
            folds->leader.count = 0;
            return;
        }
        *TABLE_LAST(&folds->leader) = (uint32_t)i;
    }
    for (size_t i = 0; i < folds->pairs.count; i++) {
        const struct fold_pair *pair = &folds->pairs.items[i];
        if (pair->count > folds->blocked.items[pair->first] / 2)
            folds->leader.items[find(folds, pair->first)] = find(folds, pair->second);
    }
    for (uint32_t i = 0; i < folds->leader.count; i++)
        folds->leader.items[i] = find(folds, i);
}

uint32_t fold_leader(const struct folds *folds, uint32_t serial)
{
    return serial < folds->leader.count ? folds->leader.items[serial] : 0;
}

void folds_free(struct folds *folds)
{
    free(folds->threads.items);
    free(folds->pairs.items);
    free(folds->blocked.items);
    free(folds->leader.items);
    id_map_free(&folds->thread_at);
    id_map_free(&folds->pair_at);
    *folds = (struct folds){0};
}

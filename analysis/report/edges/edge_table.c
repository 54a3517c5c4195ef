/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds edges up. Called for every edge of a trace, so bounded and cheap: what does not fit is counted.
 */
#include "analysis/report/edges/edge_table.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"

static bool same_group(const struct edge *a, const struct edge *b)
{
    return a->kind == b->kind && a->from.stack == b->from.stack && a->to.stack == b->to.stack &&
           a->from.api == b->from.api && a->to.api == b->to.api;
}

static uint64_t group_key(const struct edge *edge)
{
    uint64_t stacks = edge->from.stack | (uint64_t)edge->to.stack << 32;
    uint64_t rest = edge->from.api | (uint64_t)edge->to.api << 16 | (uint64_t)edge->kind << 32;
    uint64_t mixed = (stacks ^ rest * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    return (mixed ^ mixed >> 32) & ~(uint64_t)0xff;
}

/* Keys may collide: the low byte tries the next ones. */
static struct edge_group *find_group(struct edge_table *table, const struct edge *edge, uint64_t key)
{
    for (unsigned tries = 0; tries < 256; tries++, key++) {
        uint32_t at;
        if (id_map_get(&table->group_by_key, key, &at)) {
            if (same_group(&table->groups.items[at].example, edge))
                return &table->groups.items[at];
            continue;
        }
        if (table->groups.count >= EDGE_GROUPS_MOST || !TABLE_ADD(&table->groups))
            return NULL;
        struct edge_group *made = TABLE_LAST(&table->groups);
        *made = (struct edge_group){.example = *edge};
        if (id_map_put(&table->group_by_key, key, (uint32_t)table->groups.count - 1))
            return made;
        table->groups.count--;
        return NULL;
    }
    return NULL;
}

static unsigned tells(const struct edge *edge)
{
    return edge->loss == LOSS_DEFINITE       ? 4
           : edge->verdict == VERDICT_NEEDED ? 3
           : edge->loss == LOSS_POSSIBLE     ? 2
                                             : edge->verdict == VERDICT_MAYBE_NEEDED;
}

static uint64_t site_key(uint32_t stack, uint32_t api, bool twin)
{
    return stack | (uint64_t)api << 32 | (uint64_t)twin << 48;
}

static bool find_site(struct edge_table *table, uint64_t key, uint32_t *at)
{
    if (id_map_get(&table->site_by_key, key, at))
        return true;
    void *grown = table->site_count < EDGE_SITES_MOST
                      ? table_grow(table->sites, &table->site_room, table->site_count + 1, sizeof *table->sites)
                      : NULL;
    if (grown == NULL)
        return false;
    table->sites = grown;
    *at = (uint32_t)table->site_count;
    if (!id_map_put(&table->site_by_key, key, *at))
        return false;
    table->site_count++;
    return true;
}

static inline uint64_t near(uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15) >> 59;
}
_Static_assert(EDGES_NEAR == 1 << (64 - 59), "as many as the hash tells");

static inline struct edge_group *group_of(struct edge_table *table, const struct edge *edge)
{
    uint64_t key = group_key(edge);
    uint32_t *found = &table->near_group[near(key)];
    if (*found != 0 && same_group(&table->groups.items[*found - 1].example, edge))
        return &table->groups.items[*found - 1];
    struct edge_group *group = find_group(table, edge, key);
    if (group != NULL)
        *found = (uint32_t)(group - table->groups.items) + 1;
    return group;
}

static inline void count_site(struct edge_table *table, const struct edge_end *end, const struct edge *edge)
{
    uint64_t key = site_key(end->stack, end->api, end->twin != 0);
    struct edge_near_site *found = &table->near_site[near(key)];
    uint32_t at;
    if (found->at == 0 || found->key != key) {
        if (!find_site(table, key, &at))
            return;
        *found = (struct edge_near_site){key, at + 1};
    }
    struct edge_site *site = &table->sites[found->at - 1];
    site->counts[edge->verdict]++;
    site->timed += edge->verdict == VERDICT_MAYBE_NEEDED && edge->reason == REASON_TIME;
    site->given_up += edge->loss == LOSS_DEFINITE;
    site->may_be_given_up += edge->loss == LOSS_POSSIBLE;
}

bool edge_table_counts(const struct edge_table *table, const struct edge *edge)
{
    return table->selected == NULL || selection_has_at(table->selected, edge->to.thread, edge->to.stream, edge->to.ticks);
}

static void take_edge(struct edge_sink *sink, const struct edge *edge)
{
    struct edge_table *table = (struct edge_table *)(void *)sink; /* its first member */
    if (!edge_table_counts(table, edge))
        return;
    table->counts[edge->kind][edge->verdict]++;
    if (edge->verdict == VERDICT_MAYBE_NEEDED)
        table->reasons[edge->reason]++;
    table->lost[edge->loss]++;
    table->direct += edge->kind != EDGE_HOST && edge->verdict == VERDICT_NEEDED && edge->direct;
    count_site(table, &edge->to, edge);
    if (edge->kind == EDGE_FAN_OUT)
        count_site(table, &edge->from, edge);
    struct edge_group *group = group_of(table, edge);
    if (group == NULL) {
        table->ungrouped++;
        return;
    }
    group->counts[edge->verdict]++;
    if (tells(edge) > tells(&group->example))
        group->example = *edge;
}

void edge_table_begin(struct edge_table *table)
{
    *table = (struct edge_table){.sink = {.edge = take_edge}};
}

static uint64_t all_of(const struct edge_group *group)
{
    return group->counts[VERDICT_NOT_NEEDED] + group->counts[VERDICT_NEEDED] + group->counts[VERDICT_MAYBE_NEEDED];
}

static int by_weight(const void *a, const void *b)
{
    const struct edge_group *one = a, *two = b;
    if (tells(&one->example) != tells(&two->example))
        return tells(&one->example) > tells(&two->example) ? -1 : 1;
    if (all_of(one) != all_of(two))
        return all_of(one) > all_of(two) ? -1 : 1;
    if (one->example.from.ticks != two->example.from.ticks)
        return one->example.from.ticks < two->example.from.ticks ? -1 : 1;
    return one->example.to.ticks < two->example.to.ticks ? -1 : one->example.to.ticks > two->example.to.ticks;
}

void edge_table_finish(struct edge_table *table)
{
    table->selected = NULL;
    id_map_free(&table->group_by_key);
    if (table->groups.count != 0)
        qsort(table->groups.items, table->groups.count, sizeof *table->groups.items, by_weight);
}

uint64_t edge_table_count(const struct edge_table *table, enum verdict verdict)
{
    uint64_t count = 0;
    for (unsigned kind = 0; kind < EDGE_KINDS; kind++)
        count += table->counts[kind][verdict];
    return count;
}

void edge_table_judge(const struct edge_table *table, struct finding *finding)
{
    uint32_t at;
    if (!finding->has_api || !id_map_get(&table->site_by_key, site_key(finding->stack, finding->api, finding->twin), &at))
        return;
    for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
        finding->verdicts[verdict] = table->sites[at].counts[verdict];
    finding->timed = table->sites[at].timed;
    finding->given_up = table->sites[at].given_up;
    finding->may_be_given_up = table->sites[at].may_be_given_up;
}

void edge_table_free(struct edge_table *table)
{
    free(table->groups.items);
    free(table->sites);
    id_map_free(&table->group_by_key);
    id_map_free(&table->site_by_key);
}

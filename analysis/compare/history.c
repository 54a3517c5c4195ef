/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps what runs did, by rows. Called by observe.c, file.c and compare.c. Rows are some hundred call sites, or many
 * thousands of generated code, so they are looked up by a hash of their words.
 */
#include "analysis/compare/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"

bool history_begin_run(struct history *history, const struct run_facts *facts)
{
    if (!TABLE_ADD(&history->runs)) {
        history->out_of_memory = true;
        return false;
    }
    struct run_facts *run = TABLE_LAST(&history->runs);
    *run = *facts;
    run->program = strdup(facts->program != NULL ? facts->program : "");
    run->policy = strdup(facts->policy != NULL ? facts->policy : "");
    history->out_of_memory |= run->program == NULL || run->policy == NULL;
    return !history->out_of_memory;
}

int history_key_order(const struct row_key *one, const struct row_key *two)
{
    const char *const first[] = {one->rule, one->api, one->kernel, one->place, one->text};
    const char *const second[] = {two->rule, two->api, two->kernel, two->place, two->text};
    if (one->kind != two->kind)
        return one->kind < two->kind ? -1 : 1;
    if (one->severity != two->severity)
        return one->severity > two->severity ? -1 : 1;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        int order = strcmp(first[i], second[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

static bool own(const char **text)
{
    *text = strdup(*text);
    return *text != NULL;
}

static void free_row(struct row *row)
{
    free((char *)row->key.rule);
    free((char *)row->key.api);
    free((char *)row->key.kernel);
    free((char *)row->key.place);
    free((char *)row->key.text);
    free(row->site);
    free(row->by_run.items);
}

static uint64_t hash_of(const struct row_key *key)
{
    const char *const texts[] = {key->rule, key->api, key->kernel, key->place, key->text};
    uint64_t hash = (uint64_t)key->kind << 8 | (uint64_t)key->severity;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (const char *at = texts[i];; at++) {
            hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
            if (*at == 0) /* part of it, so that "ab" and "c" are not "a" and "bc" */
                break;
        }
    return hash >> 1; /* the map refuses one of the others */
}

/* The row's number goes into *at. False: it is not there, and *hash is the key that the map has free for it. */
static bool look_up(const struct history *history, const struct row_key *key, uint64_t *hash, uint32_t *at)
{
    for (*hash = hash_of(key); id_map_get(&history->by_hash, *hash, at); ++*hash)
        if (history_key_order(&history->rows.items[*at].key, key) == 0)
            return true;
    return false;
}

/* Rows that are not in the map: all of them after they changed their places, and the last one that was made. */
static bool index_rows(struct history *history)
{
    uint64_t hash;
    uint32_t at;
    for (; history->hashed < history->rows.count; history->hashed++)
        if (!look_up(history, &history->rows.items[history->hashed].key, &hash, &at) &&
            !id_map_put(&history->by_hash, hash, (uint32_t)history->hashed))
            return false;
    return true;
}

static void forget_index(struct history *history)
{
    id_map_free(&history->by_hash);
    history->hashed = 0;
}

struct row *history_row(struct history *history, const struct row_key *key)
{
    uint64_t hash;
    uint32_t at;
    bool whole = index_rows(history);
    if (whole && look_up(history, key, &hash, &at))
        return &history->rows.items[at];
    if (!whole || !TABLE_ADD(&history->rows)) {
        history->out_of_memory = true;
        return NULL;
    }
    struct row *row = TABLE_LAST(&history->rows);
    *row = (struct row){.key = *key};
    whole = own(&row->key.rule);
    whole &= own(&row->key.api);
    whole &= own(&row->key.kernel);
    whole &= own(&row->key.place);
    whole &= own(&row->key.text);
    if (whole)
        return row;
    free_row(row);
    history->rows.count--;
    history->out_of_memory = true;
    return NULL;
}

struct amount *history_amount(struct history *history, struct row *row, size_t run)
{
    while (row->by_run.count <= run) {
        if (!TABLE_ADD(&row->by_run)) {
            history->out_of_memory = true;
            return NULL;
        }
        *TABLE_LAST(&row->by_run) = (struct amount){0};
    }
    return &row->by_run.items[run];
}

struct amount history_amount_in(const struct row *row, size_t run)
{
    return row != NULL && run < row->by_run.count ? row->by_run.items[run] : (struct amount){0};
}

void history_row_set_site(struct row *row, const char *site, const char *id)
{
    char *copy = strdup(site);
    if (copy == NULL)
        return;
    free(row->site);
    row->site = copy;
    snprintf(row->id, sizeof row->id, "%s", id);
}

void history_row_join(struct row *row, const struct row *from)
{
    row->asks |= from->asks;
    row->unnamed |= from->unnamed;
    if (from->site != NULL)
        history_row_set_site(row, from->site, from->id);
}

static bool append_row(struct history *to, size_t first, const struct row *from)
{
    struct row *row = history_row(to, &from->key);
    if (row == NULL)
        return false;
    history_row_join(row, from);
    for (size_t i = 0; i < from->by_run.count; i++) {
        struct amount *amount = from->by_run.items[i].count != 0 ? history_amount(to, row, first + i) : NULL;
        if (amount != NULL)
            *amount = from->by_run.items[i];
    }
    return !to->out_of_memory;
}

bool history_append(struct history *to, const struct history *from)
{
    size_t first = to->runs.count;
    for (size_t i = 0; i < from->runs.count; i++)
        if (!history_begin_run(to, &from->runs.items[i]))
            return false;
    for (size_t i = 0; i < from->rows.count; i++)
        if (!append_row(to, first, &from->rows.items[i]))
            return false;
    return true;
}

static bool is_in_any(const struct row *row)
{
    for (size_t i = 0; i < row->by_run.count; i++)
        if (row->by_run.items[i].count != 0)
            return true;
    return false;
}

static void forget_first(struct row *row, size_t runs)
{
    size_t gone = runs < row->by_run.count ? runs : row->by_run.count;
    row->by_run.count -= gone;
    if (gone != 0)
        memmove(row->by_run.items, row->by_run.items + gone, row->by_run.count * sizeof *row->by_run.items);
}

void history_keep_latest(struct history *history, size_t most)
{
    size_t gone = history->runs.count > most ? history->runs.count - most : 0, kept = 0;
    if (gone == 0)
        return;
    for (size_t i = 0; i < gone; i++) {
        free(history->runs.items[i].program);
        free(history->runs.items[i].policy);
    }
    history->runs.count -= gone;
    memmove(history->runs.items, history->runs.items + gone, history->runs.count * sizeof *history->runs.items);
    for (size_t i = 0; i < history->rows.count; i++) {
        struct row *row = &history->rows.items[i];
        forget_first(row, gone);
        if (is_in_any(row))
            history->rows.items[kept++] = *row;
        else
            free_row(row);
    }
    history->rows.count = kept;
    forget_index(history);
}

static int by_key(const void *one, const void *two)
{
    return history_key_order(&((const struct row *)one)->key, &((const struct row *)two)->key);
}

void history_sort(struct history *history)
{
    if (history->rows.count != 0)
        qsort(history->rows.items, history->rows.count, sizeof *history->rows.items, by_key);
    forget_index(history);
}

size_t history_seek(const struct history *history, const struct row_key *key)
{
    size_t low = 0, high = history->rows.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history_key_order(&history->rows.items[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct row *history_find(const struct history *history, const struct row_key *key)
{
    size_t at = history_seek(history, key);
    const struct row *row = at < history->rows.count ? &history->rows.items[at] : NULL;
    return row != NULL && history_key_order(&row->key, key) == 0 ? row : NULL;
}

void history_free(struct history *history)
{
    for (size_t i = 0; i < history->runs.count; i++) {
        free(history->runs.items[i].program);
        free(history->runs.items[i].policy);
    }
    for (size_t i = 0; i < history->rows.count; i++)
        free_row(&history->rows.items[i]);
    free(history->runs.items);
    free(history->rows.items);
    id_map_free(&history->by_hash);
    *history = (struct history){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of --fail-on. Called by cmd/check.c. A word that is not understood is an error: a check that looks for nothing
 * would pass for ever.
 */
#include "analysis/check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/duration.h"
#include "analysis/views/words.h"

static bool add_rule(struct conditions *conditions, const char *id, char *error)
{
    const struct rule *rules[RULES_MOST];
    size_t count = rules_all(rules), used;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rules[i]->id, id) != 0)
            continue;
        if (!TABLE_ADD(&conditions->rules)) {
            snprintf(error, CHECK_ERROR_SIZE, "no memory");
            return false;
        }
        *TABLE_LAST(&conditions->rules) = rules[i];
        return true;
    }
    used = (size_t)snprintf(error, CHECK_ERROR_SIZE, "\"%.40s\" is no rule: any, cost>DURATION, verdict=NAME", id);
    for (size_t i = 0; i < count && used < CHECK_ERROR_SIZE; i++)
        used += (size_t)snprintf(error + used, CHECK_ERROR_SIZE - used, ", %s", rules[i]->id);
    return false;
}

static bool add_verdict(struct conditions *conditions, const char *name, char *error)
{
    for (unsigned i = 0; i < VERDICTS; i++) {
        if (strcmp(name, verdict_keys[i]) == 0) {
            conditions->verdict[i] = true;
            return true;
        }
    }
    snprintf(error, CHECK_ERROR_SIZE, "verdict=%.40s: needed, maybe_needed or not_needed", name);
    return false;
}

static bool add_one(struct conditions *conditions, const char *word, char *error)
{
    if (strcmp(word, "any") == 0) {
        conditions->any = true;
        return true;
    }
    if (strncmp(word, "verdict=", 8) == 0)
        return add_verdict(conditions, word + 8, error);
    if (strncmp(word, "cost>", 5) != 0)
        return add_rule(conditions, word, error);
    conditions->cost = true;
    if (duration_read(word + 5, &conditions->cost_above))
        return true;
    snprintf(error, CHECK_ERROR_SIZE, "%.60s: a duration is " DURATION_WORDS, word);
    return false;
}

bool conditions_add(struct conditions *conditions, const char *list, char *error)
{
    char word[128];
    for (const char *at = list;; at++) {
        size_t size = strcspn(at, ",");
        if (size == 0 || size >= sizeof word) {
            snprintf(error, CHECK_ERROR_SIZE, "\"%.60s\": a word is missing or too long", list);
            return false;
        }
        memcpy(word, at, size);
        word[size] = 0;
        if (!add_one(conditions, word, error))
            return false;
        at += size;
        if (*at == 0)
            return true;
    }
}

bool conditions_want_verdicts(const struct conditions *conditions)
{
    for (unsigned i = 0; i < VERDICTS; i++)
        if (conditions->verdict[i])
            return true;
    return false;
}

bool conditions_meet(const struct conditions *conditions, const struct folded *folded)
{
    if ((conditions->any && folded->shown) ||
        (conditions->cost && folded->known != 0 && folded->host_ns > conditions->cost_above))
        return true;
    for (size_t i = 0; i < conditions->rules.count; i++)
        if (conditions->rules.items[i] == folded->finding->rule)
            return true;
    return false;
}

void conditions_free(struct conditions *conditions)
{
    free(conditions->rules.items);
    *conditions = (struct conditions){0};
}

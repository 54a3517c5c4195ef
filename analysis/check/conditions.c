/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of --fail-on and --ignore. Called by cmd/verbs/verb_check.c. A word that is not understood is an error: a check
 * that looks for nothing would pass for ever.
 */

#include "analysis/check/conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/duration.h"
#include "analysis/views/report_words.h"
#include "analysis/views/verdict_words.h"

const char *const difference_names[DIFFERENCES] = {"more-calls", "slower", "gpu-slower", "gpu-idle"};

static bool no_rule(const char *id, const char *others, char *error)
{
    const struct rule *rules[RULES_MOST];
    size_t count = registry_all(rules);
    size_t used = (size_t)snprintf(error, CHECK_ERROR_SIZE, "\"%.40s\" is no rule: %s", id, others);
    for (size_t i = 0; i < count && used < CHECK_ERROR_SIZE; i++)
        used += (size_t)snprintf(error + used, CHECK_ERROR_SIZE - used, ", %s", rules[i]->id);
    return false;
}

static bool find_difference(const char *word, bool *differences)
{
    for (unsigned i = 0; i < DIFFERENCES; i++) {
        if (strcmp(word, difference_names[i]) != 0)
            continue;
        differences[i] = true;
        return true;
    }
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

static bool add_severity(struct conditions *conditions, const char *word)
{
    for (unsigned i = 0; i < SEVERITIES; i++) {
        if (strcmp(word, severity_names[i]) != 0)
            continue;
        if (!conditions->by_severity || i < conditions->severity)
            conditions->severity = (enum severity)i;
        conditions->by_severity = true;
        return true;
    }
    return false;
}

static bool add_one(struct conditions *conditions, const char *word, char *error)
{
    const struct rule *rule = registry_find(word);
    if (strcmp(word, "any") == 0) {
        conditions->any = true;
        return true;
    }
    if (find_difference(word, conditions->differences) || add_severity(conditions, word))
        return true;
    if (strncmp(word, "verdict=", 8) == 0)
        return add_verdict(conditions, word + 8, error);
    if (strncmp(word, "cost>", 5) == 0) {
        conditions->cost = true;
        if (duration_read(word + 5, &conditions->cost_above))
            return true;
        snprintf(error, CHECK_ERROR_SIZE, "%.60s: a duration is " DURATION_WORDS, word);
        return false;
    }
    if (rule == NULL)
        return no_rule(word,
                       "any, error, warning, note, cost>DURATION, verdict=NAME, more-calls, slower, gpu-slower, gpu-idle",
                       error);
    if (TABLE_ADD(&conditions->rules)) {
        *TABLE_LAST(&conditions->rules) = rule;
        return true;
    }
    snprintf(error, CHECK_ERROR_SIZE, "no memory");
    return false;
}

static bool ignore_one(struct conditions *conditions, const char *word, char *error)
{
    const struct rule *rule = registry_find(word);
    if (find_difference(word, conditions->ignored_differences))
        return true;
    if (rule == NULL)
        return no_rule(word, "more-calls, slower, gpu-slower, gpu-idle", error);
    if (TABLE_ADD(&conditions->ignored)) {
        *TABLE_LAST(&conditions->ignored) = rule;
        return true;
    }
    snprintf(error, CHECK_ERROR_SIZE, "no memory");
    return false;
}

static bool each_word(struct conditions *conditions, const char *list, char *error,
                      bool (*take)(struct conditions *conditions, const char *word, char *error))
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
        if (!take(conditions, word, error))
            return false;
        at += size;
        if (*at == 0)
            return true;
    }
}

bool conditions_add(struct conditions *conditions, const char *list, char *error)
{
    return each_word(conditions, list, error, add_one);
}

bool conditions_ignore(struct conditions *conditions, const char *list, char *error)
{
    return each_word(conditions, list, error, ignore_one);
}

bool conditions_want_verdicts(const struct conditions *conditions)
{
    for (unsigned i = 0; i < VERDICTS; i++)
        if (conditions->verdict[i])
            return true;
    return false;
}

bool conditions_ignored(const struct conditions *conditions, const char *rule)
{
    for (size_t i = 0; i < conditions->ignored.count; i++)
        if (strcmp(conditions->ignored.items[i]->id, rule) == 0)
            return true;
    return false;
}

bool conditions_want(const struct conditions *conditions, enum difference difference)
{
    bool wanted = conditions->differences[difference] || (conditions->any && difference == MORE_CALLS);
    return wanted && !conditions->ignored_differences[difference];
}

struct candidate conditions_candidate(const struct folded *folded, size_t runs)
{
    return (struct candidate){.rule = folded->finding->rule->id,
                              .severity = folded->finding->severity,
                              .shown = folded->shown,
                              .has_ns = folded->known != 0,
                              .ns = folded->host_ns / (runs != 0 ? runs : 1)};
}

/* What is not worth a line (--floor) fails by its rule's name alone. */
bool conditions_meet_without_cost(const struct conditions *conditions, const struct candidate *candidate)
{
    if (conditions_ignored(conditions, candidate->rule))
        return false;
    if (candidate->shown && (conditions->any || (conditions->by_severity && candidate->severity >= conditions->severity)))
        return true;
    for (size_t i = 0; i < conditions->rules.count; i++)
        if (strcmp(conditions->rules.items[i]->id, candidate->rule) == 0)
            return true;
    return false;
}

bool conditions_over_cost(const struct conditions *conditions, const struct candidate *candidate)
{
    return conditions->cost && candidate->has_ns && candidate->ns > conditions->cost_above &&
           !conditions_ignored(conditions, candidate->rule);
}

bool conditions_meet(const struct conditions *conditions, const struct candidate *candidate)
{
    return conditions_meet_without_cost(conditions, candidate) || conditions_over_cost(conditions, candidate);
}

void conditions_free(struct conditions *conditions)
{
    free(conditions->rules.items);
    free(conditions->ignored.items);
    *conditions = (struct conditions){0};
}

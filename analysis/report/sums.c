/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds findings up. Called when a report is weighed, and when several are folded; must not lose a finding but for want of
 * memory, and then says so.
 */
#include "analysis/report/sums.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/add.h"
#include "analysis/findings/library.h"

static void add(struct sum *into, struct sum more)
{
    into->findings += more.findings;
    into->calls = add_capped(into->calls, more.calls);
    into->host_ns = add_capped(into->host_ns, more.host_ns);
    into->known = add_capped(into->known, more.known);
}

const char *sums_cause_of(const struct definitions *defs, const struct finding *finding)
{
    const char *library = finding->fold == FOLD_LIBRARY ? library_of(defs, finding->stack) : NULL;
    return library != NULL ? library : finding->rule->id;
}

static struct rule_sum *of_rule(struct sums *sums, const struct rule *rule)
{
    for (size_t i = 0; i < sums->rules.count; i++)
        if (sums->rules.items[i].rule == rule)
            return &sums->rules.items[i];
    if (!TABLE_ADD(&sums->rules))
        return NULL;
    *TABLE_LAST(&sums->rules) = (struct rule_sum){.rule = rule};
    return TABLE_LAST(&sums->rules);
}

static struct cause *of_cause(struct sums *sums, const struct definitions *defs, const struct finding *finding)
{
    const char *name = sums_cause_of(defs, finding);
    for (size_t i = 0; i < sums->causes.count; i++)
        if (strcmp(sums->causes.items[i].name, name) == 0)
            return &sums->causes.items[i];
    if (!TABLE_ADD(&sums->causes))
        return NULL;
    *TABLE_LAST(&sums->causes) = (struct cause){.name = name, .library = name != finding->rule->id};
    return TABLE_LAST(&sums->causes);
}

static void add_shown(struct rule_sum *rule, const struct finding *finding, struct sum sum)
{
    add(&rule->shown, sum);
    if (rule->top == NULL)
        rule->top = finding;
    if (finding->severity != SEVERITY_ERROR)
        return;
    add(&rule->errors, sum);
    if (rule->error == NULL)
        rule->error = finding;
}

void sums_add(struct sums *sums, const struct definitions *defs, const struct finding *finding, bool shown, struct sum sum)
{
    struct rule_sum *rule = of_rule(sums, finding->rule);
    struct cause *cause = shown ? NULL : of_cause(sums, defs, finding);
    sums->out_of_memory |= rule == NULL || (!shown && cause == NULL);
    if (rule != NULL)
        add(&rule->all, sum);
    if (rule != NULL && shown)
        add_shown(rule, finding, sum);
    if (cause != NULL) {
        add(&cause->sum, sum);
        cause->folds |= 1u << finding->fold;
    }
}

static int by_sum(struct sum one, struct sum two)
{
    if (one.host_ns != two.host_ns)
        return one.host_ns > two.host_ns ? -1 : 1;
    return one.calls != two.calls ? (one.calls > two.calls ? -1 : 1) : 0;
}

static int by_cost(const void *a, const void *b)
{
    const struct rule_sum *one = a, *two = b;
    int order = by_sum(one->all, two->all);
    return order != 0 ? order : strcmp(one->rule->id, two->rule->id);
}

static int by_cause(const void *a, const void *b)
{
    const struct cause *one = a, *two = b;
    if (one->small != two->small)
        return one->small ? 1 : -1;
    int order = by_sum(one->sum, two->sum);
    return order != 0 ? order : strcmp(one->name, two->name);
}

static bool is_small(const struct cause *cause, uint64_t floor, uint64_t much)
{
    uint64_t least = (cause->folds & ~(1u << FOLD_FLOOR)) == 0 && much > floor ? much : floor;
    return cause->sum.host_ns == 0 || cause->sum.host_ns < least;
}

void sums_finish(struct sums *sums, uint64_t floor, uint64_t much)
{
    for (size_t i = 0; i < sums->causes.count; i++) {
        sums->causes.items[i].small = is_small(&sums->causes.items[i], floor, much);
        sums->above += !sums->causes.items[i].small;
    }
    if (sums->rules.count != 0)
        qsort(sums->rules.items, sums->rules.count, sizeof *sums->rules.items, by_cost);
    if (sums->causes.count != 0)
        qsort(sums->causes.items, sums->causes.count, sizeof *sums->causes.items, by_cause);
}

void sums_free(struct sums *sums)
{
    free(sums->rules.items);
    free(sums->causes.items);
    *sums = (struct sums){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds the calls of a process against the limits of regions. Called by cmd/verbs/check_look.c, once a process. A call
 * counts for every region that its thread is in, not only for the innermost one.
 */

#include "analysis/check/region_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/duration.h"
#include "analysis/check/conditions.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/walk_calls.h"

bool region_limits_add(struct region_limits *check, const char *text, char *error)
{
    struct region_limit rule = {.text = strdup(text)};
    char *most = rule.text != NULL ? strstr(rule.text, ":max") : NULL;
    rule.name = rule.text;
    if (most != NULL) {
        *most = 0;
        most += 4;
        most += strspn(most, " =");
    }
    bool sound = rule.text != NULL && rule.text[0] != 0 && (most == NULL || duration_read(most, &rule.most));
    if (!sound || !TABLE_ADD(&check->rules)) {
        snprintf(error, CHECK_ERROR_SIZE, "\"%.100s\": NAME or \"NAME:max DURATION\", a duration is " DURATION_WORDS, text);
        free(rule.text);
        return false;
    }
    *TABLE_LAST(&check->rules) = rule;
    return true;
}

struct look {
    struct region_limits *check;
    const struct report *report;
    size_t process, first; /* first: of this process's breaks */
    bool out_of_memory;
};

static bool is_named(const struct look *look, uint32_t id, const char *name)
{
    const char *text = id != 0 ? definitions_string(&look->report->trace.defs, id) : NULL;
    return text != NULL && strcmp(text, name) == 0;
}

static bool is_in(const struct look *look, const struct call *call, const char *name)
{
    for (uint32_t i = 0; call->regions != NULL && i < call->regions->depth && i < REGIONS_KEPT; i++)
        if (is_named(look, call->regions->name[i], name))
            return true;
    return is_named(look, call->r.region, name);
}

static void note_break(struct look *look, size_t rule, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct region_break *found = NULL;
    for (size_t i = look->first; i < look->check->breaks.count && found == NULL; i++) {
        struct region_break *one = &look->check->breaks.items[i];
        if (one->rule == rule && one->stack == call->stack && one->api == call->api)
            found = one;
    }
    if (found == NULL) {
        if (look->check->breaks.count - look->first >= FINDING_LIMIT || !TABLE_ADD(&look->check->breaks)) {
            look->out_of_memory = true;
            return;
        }
        found = TABLE_LAST(&look->check->breaks);
        *found = (struct region_break){.rule = rule, .process = look->process, .stack = call->stack, .api = call->api};
    }
    found->count++;
    found->all_ns += view->lost_ns;
    if (view->lost_ns > found->most_ns)
        found->most_ns = view->lost_ns;
}

static void look_at(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct look *look = walker->data;
    (void)model;
    bool unsure = !view->timed && view->scope != WAIT_NONE && view->waits.count != 0;
    if (!view->blocked && !unsure)
        return;
    for (size_t i = 0; i < look->check->rules.count; i++) {
        struct region_limit *rule = &look->check->rules.items[i];
        if (!is_in(look, view->call, rule->name))
            continue;
        if (unsure)
            rule->unsure++;
        else if (view->lost_ns > rule->most)
            note_break(look, i, view);
    }
}

static bool has_region(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->trace.defs.strings.count; i++) {
        const struct string_def *string = &report->trace.defs.strings.items[i];
        if (string->role == PTDS_ROLE_REGION && string->text != NULL && strcmp(string->text, name) == 0)
            return true;
    }
    return false;
}

bool region_limits_look(struct region_limits *check, const struct traced *traced, size_t process)
{
    struct look look = {.check = check, .report = &traced->report, .process = process, .first = check->breaks.count};
    struct walker walker = {.call = look_at, .data = &look};
    for (size_t i = 0; i < check->rules.count; i++)
        check->rules.items[i].seen += has_region(&traced->report, check->rules.items[i].name);
    return check->rules.count == 0 || (walk_calls(&traced->report, &walker) == 0 && !look.out_of_memory);
}

void region_limits_free(struct region_limits *check)
{
    for (size_t i = 0; i < check->rules.count; i++)
        free(check->rules.items[i].text);
    free(check->rules.items);
    free(check->breaks.items);
    *check = (struct region_limits){0};
}

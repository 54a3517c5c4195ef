/* SPDX-License-Identifier: Apache-2.0
 *
 * An earlier JSON report to compare with. Called by cmd/check.c. The file is a user's: what has not the shape of a report
 * is refused, not taken for an empty one.
 */
#include "analysis/check/check.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const baseline_words[3] = {"new", "grown", "known"};

enum { LEAST_GROWTH_NS = 1000000 };

static void copy_id(char *out, const json_t *value)
{
    const char *text = json_string_value(value);
    out[0] = 0;
    if (text != NULL && strlen(text) == 16)
        memcpy(out, text, 17);
}

static uint64_t number(const json_t *value)
{
    json_int_t read = json_integer_value(value);
    return read > 0 ? (uint64_t)read : 0;
}

static bool take(struct baseline *baseline, const json_t *finding)
{
    struct known_finding known = {.count = number(json_object_get(finding, "count"))};
    const json_t *cost = json_object_get(json_object_get(finding, "cost"), "host_ns");
    copy_id(known.id, json_object_get(finding, "id"));
    copy_id(known.place, json_object_get(finding, "place_id"));
    known.has_cost = json_is_integer(cost);
    known.host_ns = number(cost);
    if (known.id[0] == 0 || !TABLE_ADD(&baseline->findings))
        return false;
    *TABLE_LAST(&baseline->findings) = known;
    return true;
}

/* NULL: a file that can be read. */
static const char *trouble_with(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0)
        return strerror(errno);
    return S_ISDIR(status.st_mode) ? "is a folder; a baseline is a report of ptds report --format json" : NULL;
}

bool baseline_read(struct baseline *baseline, const char *path, char *error)
{
    json_error_t trouble;
    if (trouble_with(path) != NULL) {
        snprintf(error, CHECK_ERROR_SIZE, "%s: %s", path, trouble_with(path));
        return false;
    }
    size_t i;
    json_t *root = json_load_file(path, 0, &trouble), *finding;
    const json_t *findings = json_object_get(root, "findings");
    bool sound = json_is_integer(json_object_get(root, "ptds_report_version")) && json_is_array(findings);
    *baseline = (struct baseline){0};
    if (root == NULL)
        snprintf(error, CHECK_ERROR_SIZE, "%s: line %d: %s", path, trouble.line, trouble.text);
    else if (!sound)
        snprintf(error, CHECK_ERROR_SIZE, "%s: this is no report of ptds report --format json", path);
    else if (json_integer_value(json_object_get(root, "ptds_report_version")) != 1)
        snprintf(error, CHECK_ERROR_SIZE, "%s: a report of a newer version", path);
    else
        error[0] = 0;
    sound = error[0] == 0;
    json_array_foreach(findings, i, finding)
    {
        if (sound && !take(baseline, finding)) {
            snprintf(error, CHECK_ERROR_SIZE, "%s: finding %zu has no id: it was written by an older ptds", path, i);
            sound = false;
        }
    }
    json_decref(root);
    return sound;
}

/* Sums of those that were the same finding then. */
static struct known_finding sum_of(const struct baseline *baseline, const char *id, bool by_place, bool *found)
{
    struct known_finding sum = {.has_cost = false};
    *found = false;
    for (size_t i = 0; i < baseline->findings.count; i++) {
        const struct known_finding *known = &baseline->findings.items[i];
        if (id[0] == 0 || strcmp(by_place ? known->place : known->id, id) != 0)
            continue;
        *found = true;
        sum.count += known->count;
        sum.host_ns += known->host_ns;
        sum.has_cost |= known->has_cost;
    }
    return sum;
}

enum baseline_says baseline_ask(const struct baseline *baseline, const struct folded *folded, const char *place,
                                unsigned percent)
{
    bool found;
    struct known_finding then = sum_of(baseline, folded->id.text, false, &found);
    if (!found)
        then = sum_of(baseline, place, true, &found);
    if (!found)
        return BASELINE_NEW;
    double factor = 1 + percent / 100.0;
    bool grown;
    if (folded->known != 0 && then.has_cost)
        grown =
            (double)folded->host_ns > (double)then.host_ns * factor && folded->host_ns - then.host_ns >= LEAST_GROWTH_NS;
    else
        grown = (double)folded->count > (double)then.count * factor;
    return grown ? BASELINE_GROWN : BASELINE_KNOWN;
}

void baseline_free(struct baseline *baseline)
{
    free(baseline->findings.items);
    *baseline = (struct baseline){0};
}

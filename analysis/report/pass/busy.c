/* SPDX-License-Identifier: Apache-2.0
 *
 * The time in which a GPU ran something: operations side by side count once. Called by pass_over_calls.c at the end of its
 * pass. The numbers come from a trace: whatever they are, a device is never busy for longer than there was time.
 */
#include "analysis/report/pass/busy.h"

#include <stdlib.h>

#include "analysis/base/add.h"

bool busy_add(struct busy *busy, struct busy_run run)
{
    if (!TABLE_ADD(&busy->runs))
        return false;
    *TABLE_LAST(&busy->runs) = run;
    return true;
}

static int by_device_and_begin(const void *a, const void *b)
{
    const struct busy_run *one = a, *two = b;
    if (one->device != two->device)
        return one->device < two->device ? -1 : 1;
    return one->begin < two->begin ? -1 : one->begin > two->begin;
}

/* The runs of one device, from number `at` on; returns the number after its last. */
static size_t add_device(struct busy *busy, size_t at, uint64_t end_ns)
{
    const struct busy_run *runs = busy->runs.items;
    uint64_t first = runs[at].begin, until = first;
    size_t next = at;
    for (; next < busy->runs.count && runs[next].device == runs[at].device; next++) {
        uint64_t begin = runs[next].begin > until ? runs[next].begin : until;
        if (runs[next].end > begin) {
            busy->busy_ns = add_capped(busy->busy_ns, runs[next].end - begin);
            until = runs[next].end;
        }
    }
    busy->span_ns = add_capped(busy->span_ns, (until > end_ns ? until : end_ns) - first);
    busy->devices++;
    return next;
}

void busy_finish(struct busy *busy, uint64_t end_ns)
{
    if (busy->runs.count != 0)
        qsort(busy->runs.items, busy->runs.count, sizeof *busy->runs.items, by_device_and_begin);
    for (size_t at = 0; at < busy->runs.count;)
        at = add_device(busy, at, end_ns);
    free(busy->runs.items);
    busy->runs.items = NULL;
    busy->runs.count = busy->runs.room = 0;
}

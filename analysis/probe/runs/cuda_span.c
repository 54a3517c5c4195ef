/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the files that a run left. Called by rounds.c after each. Must believe no word of them: a process may have been
 * killed while it wrote.
 */
#include "analysis/probe/runs/cuda_span.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/base/table.h"
#include "interpose/record/moments.h"

struct span {
    uint64_t begin, end;
};

static bool read_one(int folder, const char *name, struct span *out)
{
    struct moments moments;
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool whole = file >= 0 && read(file, &moments, sizeof moments) == (ssize_t)sizeof moments;
    if (file >= 0)
        close(file);
    if (!whole || moments.magic != MOMENTS_MAGIC || moments.first == 0)
        return false;
    *out = (struct span){moments.first, 0};
    for (unsigned i = 0; i < MOMENTS_PLACES; i++)
        if (moments.place[i].last > out->end)
            out->end = moments.place[i].last;
    return out->end > out->begin;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *one = a, *two = b;
    return one->begin < two->begin ? -1 : one->begin > two->begin;
}

static uint64_t covered(struct span *spans, size_t count)
{
    uint64_t sum = 0, until = 0;
    if (count != 0)
        qsort(spans, count, sizeof *spans, by_begin);
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = spans[i].begin > until ? spans[i].begin : until;
        if (spans[i].end <= begin)
            continue;
        sum += spans[i].end - begin;
        until = spans[i].end;
    }
    return sum;
}

uint64_t cuda_span_read(const char *folder)
{
    TABLE_OF(struct span) spans = {0};
    bool lost = false;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        struct span span;
        if (entry->d_name[0] == '.' || !read_one(dirfd(entries), entry->d_name, &span))
            continue;
        if (TABLE_ADD(&spans))
            *TABLE_LAST(&spans) = span;
        else
            lost = true;
    }
    if (entries != NULL)
        closedir(entries);
    uint64_t sum = lost ? 0 : covered(spans.items, spans.count);
    free(spans.items);
    return sum;
}

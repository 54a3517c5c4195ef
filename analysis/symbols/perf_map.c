/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads perf map files. Called by symbolizer.c. The file lies in a folder that everybody can write to: it is read as
 * untrusted text of bounded size, and only believed if its time fits the process.
 */
#include "analysis/symbols/perf_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/text.h"

enum { LINE_MOST = 1024, FUNCTIONS_MOST = 1 << 20 };

static int by_start(const void *a, const void *b)
{
    const struct perf_function *one = a, *two = b;
    if (one->start != two->start)
        return one->start < two->start ? -1 : 1;
    return one->line < two->line ? -1 : one->line > two->line;
}

static void add_line(struct perf_map *map, const char *line, size_t number)
{
    uint64_t start, size;
    int used = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &used) != 2 || used == 0 || line[used] == 0 || size == 0)
        return;
    char *name = text_copy(line + used, strcspn(line + used, "\n"));
    if (name == NULL || !TABLE_ADD(&map->functions)) {
        free(name);
        return;
    }
    *TABLE_LAST(&map->functions) = (struct perf_function){start, size, number, name};
}

static bool fits(int fd, uint64_t from, uint64_t to)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    uint64_t written = (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec;
    return written >= from && written <= to;
}

bool perf_map_read(struct perf_map *map, const char *path, uint64_t from, uint64_t to)
{
    char line[LINE_MOST];
    *map = (struct perf_map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *file = fd >= 0 && fits(fd, from, to) ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (size_t number = 0; fgets(line, sizeof line, file) != NULL && map->functions.count < FUNCTIONS_MOST; number++)
        add_line(map, line, number);
    fclose(file);
    if (map->functions.count != 0)
        qsort(map->functions.items, map->functions.count, sizeof *map->functions.items, by_start);
    return true;
}

const struct perf_function *perf_map_at(const struct perf_map *map, uint64_t address)
{
    size_t low = 0, high = map->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->functions.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    /* Of several with the same start, the last one sorted is the newest. */
    const struct perf_function *found = low != 0 ? &map->functions.items[low - 1] : NULL;
    return found != NULL && address - found->start < found->size ? found : NULL;
}

void perf_map_free(struct perf_map *map)
{
    for (size_t i = 0; i < map->functions.count; i++)
        free(map->functions.items[i].name);
    free(map->functions.items);
    *map = (struct perf_map){0};
}

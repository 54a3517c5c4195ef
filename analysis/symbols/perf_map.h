/* SPDX-License-Identifier: Apache-2.0
 *
 * The list that a just-in-time compiler leaves of its functions, /tmp/perf-PID.map ("python -X perf", node
 * --perf-basic-prof and others): a line a function, "START SIZE name", in hexadecimal.
 */
#ifndef PTDS_ANALYSIS_SYMBOLS_PERF_MAP_H
#define PTDS_ANALYSIS_SYMBOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/table.h"

struct perf_function {
    uint64_t start, size;
    size_t line; /* later ones replace earlier ones: code memory is used again */
    char *name;
};

struct perf_map {
    TABLE_OF(struct perf_function) functions; /* by start */
};

/* False, and the map empty: no such file, or not a plain file last written between these two moments (CLOCK_REALTIME, ns).
 */
bool perf_map_read(struct perf_map *map, const char *path, uint64_t from, uint64_t to);
/* NULL if no function is there. */
const struct perf_function *perf_map_at(const struct perf_map *map, uint64_t address);
void perf_map_free(struct perf_map *map);

#endif

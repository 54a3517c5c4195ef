/* SPDX-License-Identifier: Apache-2.0
 *
 * Uids as small numbers, in the order in which they are first asked for. Number 0 is "none".
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_PAGE_NAMES_H
#define PTDS_ANALYSIS_VIEWS_HTML_PAGE_NAMES_H

#include <stdint.h>

#include "analysis/base/id_map.h"
#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Uids as small numbers, in the order in which they are first asked for. Number 0 is "none". */
struct names {
    struct id_map map;
    TABLE_OF(uint32_t) uids;
};

enum { NAMES_MOST = 65535 };

/* Everything beyond NAMES_MOST, and everything without memory, is number NAMES_MOST: "others". */
uint32_t page_names_number(struct names *names, uint32_t uid);

void page_names_free(struct names *names);

#ifdef __cplusplus
}
#endif
#endif

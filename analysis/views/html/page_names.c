/* SPDX-License-Identifier: Apache-2.0
 *
 * Small numbers for uids. Called by page_tables.c and columns.c.
 */

#include "analysis/views/html/page_names.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"

uint32_t page_names_number(struct names *names, uint32_t uid)
{
    uint32_t at;
    if (uid == 0)
        return 0;
    if (id_map_get(&names->map, uid, &at))
        return at;
    at = (uint32_t)names->uids.count + 1;
    if (at >= NAMES_MOST || !TABLE_ADD(&names->uids))
        return NAMES_MOST;
    *TABLE_LAST(&names->uids) = uid;
    id_map_put(&names->map, uid, at);
    return at;
}

void page_names_free(struct names *names)
{
    free(names->uids.items);
    id_map_free(&names->map);
}

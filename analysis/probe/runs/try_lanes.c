/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether guarded is tried with more lanes, and with how many. Called by rounds.c when the warm-up has left the record of a
 * run under observe.
 */
#include "analysis/probe/runs/try_lanes.h"

#include <stdlib.h>

#include "analysis/probe/probe.h"

static const struct {
    const char *name;
    unsigned lanes;
} tried[] = {{"guarded, 4 lanes", 4}, {"guarded, 8 lanes", 8}};

/* Of fewer operations the first ones, which warm up, say more than all others. */
enum { TRIED = sizeof tried / sizeof tried[0], ENOUGH = 50 };

static bool may_help(const struct probe *probe)
{
    struct path traces = folder_traces(&probe->folder, probe->variants[VARIANT_OBSERVE].name);
    struct record record;
    run_record_read(&record, traces.text, probe->lanes == LANES_WHERE_THEY_LIMIT);
    if (record.default_stream == 0)
        return false;
    return probe->lanes == LANES_IN_ANY_CASE || (record.default_stream >= ENOUGH && whatif_lanes_limit(&record.whatif));
}

/* Who sets PTDS_LANES has chosen already. */
size_t try_lanes(struct probe *probe)
{
    const char *own = getenv("PTDS_LANES");
    if (probe->lanes == LANES_NOT || (own != NULL && own[0] != 0) || probe->count + TRIED > VARIANTS_MOST ||
        !may_help(probe))
        return 0;
    for (size_t i = 0; i < TRIED; i++)
        probe->variants[probe->count++] =
            (struct variant){.name = tried[i].name, .policy = "guarded", .lanes = tried[i].lanes};
    return TRIED;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether guarded is tried with other settings, too: more lanes, and with the program's own CU_STREAM_LEGACY (0x1) moved.
 * Called by rounds.c when the warm-up has left the record of a run under observe. Must not try what the user has set.
 */
#include "analysis/probe/runs/try_settings.h"

#include <stdlib.h>

#include "analysis/probe/probe.h"

static const struct {
    const char *name;
    unsigned lanes;
} tried_lanes[] = {{"guarded, 1 lane", 1}, {"guarded, 8 lanes", 8}};

/* Of fewer operations the first ones, which warm up, say more than all others. */
enum { TRIED_LANES = sizeof tried_lanes / sizeof tried_lanes[0], ENOUGH = 50 };

/* Who sets a variable has chosen already. */
static bool is_set(const char *name)
{
    const char *own = getenv(name);
    return own != NULL && own[0] != 0;
}

static bool lanes_may_help(const struct probe *probe, const struct record *observed)
{
    if (observed->default_stream == 0)
        return false;
    return probe->lanes == LANES_IN_ANY_CASE ||
           (observed->default_stream >= ENOUGH && whatif_lanes_limit(&observed->whatif));
}

/* Guarded keeps work on 0x1 where it is, and its order; moved, that work is ordered as all moved work is. */
static void try_explicit(struct probe *probe)
{
    if (probe->count < VARIANTS_MOST)
        probe->variants[probe->count++] =
            (struct variant){.name = "guarded, 0x1 moved", .policy = "guarded", .moves_explicit = true};
}

static void try_lanes(struct probe *probe)
{
    for (size_t i = 0; probe->count + TRIED_LANES - i <= VARIANTS_MOST && i < TRIED_LANES; i++)
        probe->variants[probe->count++] =
            (struct variant){.name = tried_lanes[i].name, .policy = "guarded", .lanes = tried_lanes[i].lanes};
}

size_t try_settings(struct probe *probe)
{
    bool lanes = probe->lanes != LANES_NOT && !is_set("PTDS_LANES"), named = !is_set("PTDS_EXPLICIT_LEGACY");
    size_t before = probe->count;
    if (!lanes && !named)
        return 0;
    struct path traces = folder_traces(&probe->folder, probe->variants[VARIANT_OBSERVE].name);
    struct record observed;
    run_record_read(&observed, traces.text, lanes && probe->lanes == LANES_WHERE_THEY_LIMIT);
    if (named && observed.explicit_legacy != 0)
        try_explicit(probe);
    if (lanes && lanes_may_help(probe, &observed))
        try_lanes(probe);
    return probe->count - before;
}

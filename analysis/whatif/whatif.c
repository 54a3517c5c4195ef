/* SPDX-License-Identifier: Apache-2.0
 *
 * Which replays are made, and what they say together. Called by the command. Must rather say nothing than guess: every
 * doubt has a name.
 */
#include "analysis/whatif/whatif.h"

#include <stdlib.h>

#include "analysis/whatif/durations.h"
#include "analysis/whatif/held.h"
#include "analysis/whatif/device_queues.h"

const unsigned whatif_policies[WHATIF_POLICIES] = {ORDER_GUARDED, ORDER_PER_THREAD, ORDER_STREAM};
const char *const whatif_names[WHATIF_POLICIES] = {"guarded", "per-thread", "stream"};

const char *const whatif_doubts[] = {
    [WHATIF_SURE] = NULL,
    [WHATIF_REMAPPED] = "the run moved default-stream work; record it with policy observe",
    [WHATIF_UNSAID] = "the trace does not say which policy the run had",
    [WHATIF_NO_TIME] = "the trace has no work with host times",
    [WHATIF_GAPS] = "records are missing; record with a larger PTDS_TRACE_LIMIT",
    [WHATIF_TOO_LONG] = "too many calls; record a shorter run",
    [WHATIF_MISSES] = "the replay of the run as it was misses it",
    [WHATIF_NO_MEMORY] = "no memory for it",
    [WHATIF_NO_LENGTH] = "the run ends with its first work on a device",
};

const char *const whatif_parts[PARTS] = {
    [PART_HOST] = "host",       [PART_LAUNCH] = "launching",       [PART_KERNELS] = "kernels",   [PART_COPIES] = "copies",
    [PART_FULL] = "a full GPU", [PART_QUEUES] = "hardware queues", [PART_DRIVER] = "the driver",
};

/* The threads that run at a time on the smallest and on the largest GPU there is: 16 multiprocessors of 1024, 192 of 2048.
 */
enum { SMALL_GPU = 16 * 1024, LARGE_GPU = 192 * 2048 };

static const struct assumptions hopeful = {.gpu_threads = LARGE_GPU,
                                           .follows = true,
                                           .host_promises = false,
                                           .locked_percent = 25,
                                           .passes_over = false,
                                           .queued_percent = 0,
                                           .joined_percent = 0};

/* As many as the driver takes where nothing is set. */
enum { USUAL_QUEUES = 8 };

static unsigned queues_of(const struct trace *trace)
{
    const char *value = definitions_setting(&trace->defs, "CUDA_DEVICE_MAX_CONNECTIONS");
    unsigned long number = value != NULL ? strtoul(value, NULL, 10) : 0;
    return number >= 1 && number <= QUEUES_MOST ? (unsigned)number : USUAL_QUEUES;
}

/* Also that kernels without recorded times never ran side by side. */
static struct assumptions careful_of(const struct whatif *whatif, unsigned queues)
{
    bool timed = whatif_is_timed(whatif->gpu, whatif->gpu_timed);
    return (struct assumptions){.gpu_threads = timed ? SMALL_GPU : 1,
                                .queues = queues,
                                .follows = false,
                                .host_promises = true,
                                .wide = true,
                                .locked_percent = 100,
                                .passes_over = true,
                                .queued_percent = 100,
                                .hand_ns = 10000,
                                .joined_percent = 100};
}

static enum whatif_doubt doubt_of(const struct report *report, const struct recorded *recorded)
{
    const struct trace *trace = &report->trace;
    if (recorded->out_of_memory)
        return WHATIF_NO_MEMORY;
    if (recorded->too_many)
        return WHATIF_TOO_LONG;
    if (definitions_setting(&trace->defs, "policy") == NULL)
        return WHATIF_UNSAID;
    if (implicit_order_policy(&trace->defs) != ORDER_LEGACY)
        return WHATIF_REMAPPED;
    if (trace->lost != 0 || trace->damaged != 0)
        return WHATIF_GAPS;
    return trace_has_time(trace) && recorded->gpu != 0 ? WHATIF_SURE : WHATIF_NO_TIME;
}

/* Start-up is the same under every policy, and longer than many a program. */
static uint64_t recorded_ns(const struct recorded *recorded)
{
    uint64_t last = 0, first = UINT64_MAX;
    for (size_t i = 0; i < recorded->steps.count; i++) {
        const struct step *step = &recorded->steps.items[i];
        last = step->leave > last ? step->leave : last;
        if (step->engine != ENGINE_NONE && first == UINT64_MAX)
            first = step->enter;
    }
    return last > first ? last - first : 0;
}

/* By how much one misses the other, as a share. */
static double miss(uint64_t replayed, uint64_t recorded)
{
    double share = recorded != 0 ? (double)replayed / (double)recorded - 1 : 1;
    return share < 0 ? -share : share;
}

/* What a policy's replay takes is a part of what the replay as it was takes; the same part of the run. */
struct bound {
    const struct assumptions *assumptions;
    struct moment as_run;
};

static bool replay_as_run(const struct recorded *recorded, const struct latencies *latencies, struct bound *bound)
{
    return replay_run(recorded, ORDER_AS_RUN, latencies, bound->assumptions, &bound->as_run);
}

static uint64_t scaled(const struct whatif *whatif, const struct bound *bound, const struct moment *replayed)
{
    return (uint64_t)((double)whatif->recorded * ((double)replayed->at / (double)bound->as_run.at));
}

/* How much shorter, and longer, the next run may be: by as much as the replay misses, and as runs of one program differ. */
static uint64_t shortest(const struct whatif *whatif, uint64_t ns)
{
    return (uint64_t)((double)ns * (1 - whatif->error) / WHATIF_RUNS_DIFFER);
}

static uint64_t longest(const struct whatif *whatif, uint64_t ns)
{
    return (uint64_t)((double)ns * (1 + whatif->error) * WHATIF_RUNS_DIFFER);
}

static struct prediction predict(struct whatif *whatif, const struct recorded *recorded, unsigned policy,
                                 const struct latencies *latencies, const struct bound *low, const struct bound *high)
{
    struct moment one, other;
    if (!replay_run(recorded, policy, latencies, low->assumptions, &one) ||
        !replay_run(recorded, policy, latencies, high->assumptions, &other)) {
        whatif->doubt = WHATIF_NO_MEMORY;
        return (struct prediction){0};
    }
    uint64_t least = scaled(whatif, low, &one), most = scaled(whatif, high, &other);
    return (struct prediction){shortest(whatif, least < most ? least : most), longest(whatif, least < most ? most : least),
                               other};
}

static uint64_t spread_of(struct whatif *whatif, const struct recorded *recorded, const struct latencies *latencies,
                          const struct bound *low)
{
    struct assumptions spreading = *low->assumptions;
    spreading.spreads = true;
    struct moment replayed;
    if (!replay_run(recorded, ORDER_GUARDED, latencies, &spreading, &replayed)) {
        whatif->doubt = WHATIF_NO_MEMORY;
        return 0;
    }
    return shortest(whatif, scaled(whatif, low, &replayed));
}

static uint64_t apart_of(struct whatif *whatif, const struct recorded *recorded, const struct latencies *latencies,
                         const struct bound *low)
{
    struct moment replayed;
    if (!replay_run(recorded, ORDER_GUARDED | ORDER_REMAPS_EXPLICIT, latencies, low->assumptions, &replayed)) {
        whatif->doubt = WHATIF_NO_MEMORY;
        return 0;
    }
    uint64_t apart = shortest(whatif, scaled(whatif, low, &replayed));
    for (unsigned i = 0; i < WHATIF_POLICIES; i++)
        apart = whatif->policies[i].least < apart ? whatif->policies[i].least : apart;
    return apart;
}

bool whatif_lanes_limit(const struct whatif *whatif)
{
    uint64_t one_lane = whatif->policies[0].least; /* guarded */
    return whatif->doubt == WHATIF_SURE && whatif->spread != 0 && whatif->spread < one_lane - one_lane / 20;
}

static struct default_replay replay_found(const struct whatif *whatif)
{
    uint64_t recorded = whatif->recorded, most = whatif->policies[0].most;
    if (whatif->doubt != WHATIF_SURE || !whatif_is_timed(whatif->gpu, whatif->gpu_timed))
        return (struct default_replay){0};
    return (struct default_replay){
        .known = true,
        .no_faster =
            (double)recorded<(double)whatif->apart * WHATIF_NOTICED, .least_ns = recorded> most ? recorded - most : 0,
        .most_ns = recorded > whatif->apart ? recorded - whatif->apart : 0};
}

void whatif_tell(const struct whatif *whatif, struct report *report)
{
    report->replay = replay_found(whatif);
}

/* What the report knows, and no replay that guesses times does. */
static enum default_cost no_gain_of(const struct report *report, const struct whatif *whatif)
{
    struct default_stream found = default_cost_of(report);
    bool sure = found.cost == DEFAULT_UNUSED || found.cost == DEFAULT_ALONE ||
                (found.cost == DEFAULT_NO_WAIT && !found.or_more && whatif->doubt == WHATIF_SURE &&
                 replay_found(whatif).least_ns == 0);
    return sure ? found.cost : DEFAULT_UP_TO;
}

struct whatif whatif_of(const struct report *report, struct recorded *recorded)
{
    struct whatif whatif = {.doubt = doubt_of(report, recorded), .gpu = recorded->gpu, .gpu_timed = recorded->gpu_timed};
    whatif.recorded = recorded_ns(recorded);
    whatif.needed = edge_table_count(&report->edges, VERDICT_NEEDED);
    whatif.maybe_needed = edge_table_count(&report->edges, VERDICT_MAYBE_NEEDED);
    if (whatif.doubt != WHATIF_SURE)
        return whatif;
    struct latencies latencies = durations_latencies(recorded);
    struct assumptions small = careful_of(&whatif, queues_of(&report->trace)), large = small;
    large.gpu_threads = LARGE_GPU;
    durations_share(recorded);
    struct bound low = {&hopeful, {0}}, high = {&small, {0}}, wide = {&large, {0}};
    bool sound = held_find(recorded) && replay_as_run(recorded, &latencies, &low) &&
                 replay_as_run(recorded, &latencies, &high) && replay_as_run(recorded, &latencies, &wide);
    whatif.replayed = wide.as_run.at;
    whatif.error = miss(wide.as_run.at, whatif.recorded);
    if (!sound)
        whatif.doubt = WHATIF_NO_MEMORY;
    else if (whatif.recorded == 0 || low.as_run.at == 0 || high.as_run.at == 0 || wide.as_run.at == 0)
        whatif.doubt = WHATIF_NO_LENGTH;
    else if (whatif.error > WHATIF_MOST_ERROR)
        whatif.doubt = WHATIF_MISSES;
    if (miss(high.as_run.at, wide.as_run.at) > whatif.error + 0.02) /* more of it did run at a time */
        high = wide;
    for (unsigned i = 0; i < WHATIF_POLICIES && whatif.doubt == WHATIF_SURE; i++)
        whatif.policies[i] = predict(&whatif, recorded, whatif_policies[i], &latencies, &low, &high);
    if (whatif.doubt == WHATIF_SURE)
        whatif.apart = apart_of(&whatif, recorded, &latencies, &low);
    if (whatif.doubt == WHATIF_SURE)
        whatif.spread = spread_of(&whatif, recorded, &latencies, &low);
    whatif.no_gain = no_gain_of(report, &whatif);
    return whatif;
}

struct whatif whatif_of_source(const struct trace_source *source)
{
    char error[TRACE_ERROR_SIZE];
    struct whatif whatif = {.doubt = WHATIF_NO_MEMORY};
    struct recorded recorded;
    struct report *report = calloc(1, sizeof *report);
    if (report == NULL)
        return whatif;
    recorded_begin(&recorded);
    if (report_build_watched(report, source, NULL, &recorded.watch, error) == 0)
        whatif = whatif_of(report, &recorded);
    report_end(report);
    recorded_end(&recorded);
    free(report);
    return whatif;
}

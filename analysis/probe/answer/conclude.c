/* SPDX-License-Identifier: Apache-2.0
 *
 * From the rounds to an answer for each policy. Called by the verb, after rounds_run.
 */
#include "analysis/probe/answer/conclude.h"

#include "analysis/probe/probe.h"

#include <string.h>

static struct evidence evidence_of(const struct probe *probe, const struct variant *variant)
{
    bool in_part = probe->variants[VARIANT_NONE].facts.cuda.count != 0 && variant->facts.cuda.count != 0;
    return (struct evidence){
        .bare = &probe->variants[VARIANT_BARE].facts,
        .none = &probe->variants[VARIANT_NONE].facts,
        .observe = &probe->variants[VARIANT_OBSERVE].facts,
        .policy = &variant->facts,
        .shaken = &probe->shaken[variant - probe->variants].facts,
        .shaken_none = &probe->shaken[VARIANT_NONE].facts,
        .observed = &probe->variants[VARIANT_OBSERVE].record,
        .own = &variant->record,
        .said = variant->said.used != 0 ? variant->said.text : NULL,
        .bare_runs = (unsigned)probe->variants[VARIANT_BARE].runs.count,
        .comparable = probe->comparable,
        .forecast = policy_answer_forecast(&probe->variants[VARIANT_OBSERVE].record, variant->name,
                                           in_part ? 0 : probe->variants[VARIANT_BARE].facts.times.median),
        .interrupted = probe->interrupted,
        .rounds = probe->rounds,
        .done = probe->done,
    };
}

void conclude(struct probe *probe)
{
    for (size_t i = VARIANT_OBSERVE; i < probe->count; i++) {
        struct path traces = folder_traces(&probe->folder, probe->variants[i].name);
        run_record_read(&probe->variants[i].record, traces.text, i == VARIANT_OBSERVE);
    }
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++) {
        struct variant *variant = &probe->variants[i];
        variant->evidence = evidence_of(probe, variant);
        variant->answer = policy_answer_of(&variant->evidence);
    }
}

/* From what is fine to what is worst. */
static int gravity(const struct variant *variant)
{
    static const int places[WORDS] = {[WORD_RIGHT] = 0, [WORD_NOTHING] = 0, [WORD_CANNOT_TELL] = 1, [WORD_DO_NOT] = 2};
    return places[variant->answer.word];
}

const struct variant *conclude_first(const struct probe *probe)
{
    const struct variant *first = NULL;
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++) {
        const struct variant *variant = &probe->variants[i];
        if (variant->asked && (first == NULL || gravity(variant) > gravity(first)))
            first = variant;
    }
    return first;
}

/* By their CUDA work, where that is known of both. */
static bool is_faster(const struct variant *variant, const struct variant *than)
{
    const struct facts *facts = &variant->facts, *others = &than->facts;
    if (facts->cuda.count != 0 && others->cuda.count != 0)
        return times_pace(&others->cuda, &facts->cuda) == PACE_FASTER;
    return times_pace(&others->times, &facts->times) == PACE_FASTER;
}

const struct variant *conclude_best(const struct probe *probe)
{
    const struct variant *best = NULL;
    for (size_t i = VARIANT_FIRST_POLICY; i < probe->count; i++) {
        const struct variant *variant = &probe->variants[i];
        if (variant->answer.word != WORD_RIGHT)
            continue;
        bool may_replace =
            best == NULL || strcmp(best->policy, "guarded") != 0 || variant->lanes != 0 || variant->moves_explicit;
        if (may_replace && (best == NULL || is_faster(variant, best)))
            best = variant;
    }
    return best;
}

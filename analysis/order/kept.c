/* SPDX-License-Identifier: Apache-2.0
 *
 * What this run's policy did with legacy's orders. Two questions: whether the policy promises them all (then nobody asks
 * further), and else whether a pair is in order all the same, on the streams that the work was really sent to. What is in
 * order there says the model (ORDER_AS_RUN); whether a copy has its order from more than the driver's implicit one, a
 * replay without that (ORDER_AS_RUN_EXPLICIT). A wait of any thread orders all threads' later calls, as everywhere in the
 * verdicts.
 *
 * Called by verdict.c for each call, and by whoever found a pair that legacy ordered. Must never call an order gone that
 * may have been kept: where it does not know, it was.
 */
#include "analysis/order/engine.h"

#include <stdlib.h>

bool kept_begin(struct verdicts *v, struct model *model)
{
    bool promised = order_promised(&v->trace->defs);
    bool takes = !promised && (v->trace->flags & PTDS_CALL_REMAPPED), overtakes = !promised && v->trace->from_pinned;
    if (!takes && !overtakes)
        return true;
    v->kept = calloc(1, sizeof *v->kept);
    if (v->kept == NULL)
        return false;
    *v->kept = (struct kept){.model = model, .takes = takes, .overtakes = overtakes};
    if (overtakes)
        v->kept->replay = model_replay(model, ORDER_AS_RUN_EXPLICIT);
    return !overtakes || v->kept->replay != UINT32_MAX;
}

void kept_end(struct verdicts *v)
{
    if (v->kept == NULL)
        return;
    vclock_free(&v->kept->real.known);
    vclock_free(&v->kept->real.behind);
    vclock_free(&v->kept->asked.known);
    vclock_free(&v->kept->asked.behind);
    free(v->kept);
}

static const struct order *asked_order(const struct kept *kept)
{
    return &kept->model->replays.items[kept->replay].order;
}

void kept_cover(struct verdicts *v, const struct call_view *view, struct cover *out)
{
    const struct kept *kept = v->kept;
    if (kept->takes)
        model_cover(kept->model, &kept->model->real, view, &out->real);
    if (kept->overtakes)
        model_cover(kept->model, asked_order(kept), view, &out->asked);
}

void kept_learn(struct verdicts *v, const struct cover *cover)
{
    vclock_join(&v->kept->real.known, &cover->real);
    vclock_join(&v->kept->asked.known, &cover->asked);
}

/* Worked out once a call, and only if somebody asks. */
static const struct vclock *behind(const struct kept *kept, struct kept_order *of, const struct order *order)
{
    if (of->number == kept->view->number)
        return &of->behind;
    for (size_t i = 0; i < of->behind.room; i++)
        of->behind.at[i] = 0;
    model_comes_after(kept->model, order, kept->view, &of->behind);
    of->number = kept->view->number;
    return &of->behind;
}

static bool is_sure(const struct kept *kept, uint32_t slot)
{
    return kept->model->streams.items[slot].kind != PTDS_STREAM_UNKNOWN;
}

/* Whether the operation `op` of a stream comes before the call at hand; or before `covered`, what its return covers. */
static bool comes_before(const struct kept *kept, struct kept_order *of, const struct order *order, uint32_t slot,
                         uint64_t op, const struct vclock *covered)
{
    uint64_t known = vclock_get(&of->known, slot);
    if (covered == NULL && kept->view->submits)
        covered = behind(kept, of, order);
    return larger(known, covered != NULL ? vclock_get(covered, slot) : 0) >= op;
}

/* A stream whose slot serves another was done by then; of one of unknown kind nobody knows. */
static bool can_tell(const struct kept *kept, const struct order *order, uint32_t slot, uint64_t op)
{
    return slot != MODEL_NO_SLOT && is_sure(kept, slot) && order->unknown_generations == 0 &&
           op > vclock_get(&order->doubted, slot) && kept->model->unplaced == 0;
}

bool kept_is_given_up(const struct verdicts *v, const struct edge_end *first, uint64_t op, const struct cover *cover)
{
    struct kept *kept = v->kept;
    if (kept == NULL || !kept->takes)
        return false;
    const struct order *real = &kept->model->real;
    uint32_t slot = model_slot(kept->model, first->target);
    bool sure = can_tell(kept, real, slot, op - v->shift) &&
                (cover != NULL || !kept->view->submits || is_sure(kept, kept->view->target));
    return sure && !comes_before(kept, &kept->real, real, slot, op - v->shift, cover != NULL ? &cover->real : NULL);
}

bool kept_by_nothing_asked(const struct verdicts *v, const struct edge_end *first, uint64_t op)
{
    struct kept *kept = v->kept;
    if (kept == NULL || !kept->overtakes || !kept->view->submits)
        return false;
    uint32_t slot = model_slot(kept->model, first->target);
    return can_tell(kept, asked_order(kept), slot, op - v->shift) && is_sure(kept, kept->view->target) &&
           !comes_before(kept, &kept->asked, asked_order(kept), slot, op - v->shift, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What this run's policy did with legacy's orders. Two questions: whether the policy promises them all (then nobody asks
 * further), and else whether a pair is in order all the same, on the streams that the work was really sent to. What is in
 * order there, and what waits that have returned cover, says the model (ORDER_AS_RUN); whether a copy has its order from
 * more than the driver's implicit one, a replay without that (ORDER_AS_RUN_EXPLICIT). A wait of any thread orders all
 * threads' later calls, as everywhere in the verdicts.
 *
 * Called by verdict.c for each call, and by whoever found a pair that legacy ordered. Must never call an order gone that
 * may have been kept, nor kept what may be gone: where it does not know, it says so (LOSS_POSSIBLE).
 */
#include "analysis/order/engine.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/model/model_slots.h"

bool kept_begin(struct verdicts *v, struct model *model)
{
    bool promised = order_promised(&v->trace->defs);
    bool takes = !promised && (v->trace->flags & PTDS_CALL_REMAPPED), overtakes = !promised && v->trace->from_pinned;
    if (!takes && !overtakes)
        return true;
    v->kept = heap_zeroed(1, sizeof *v->kept);
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
    vclock_free(&v->kept->real.behind);
    vclock_free(&v->kept->asked.behind);
    free(v->kept);
}

static const struct replay *asked(const struct kept *kept)
{
    return &kept->model->replays.items[kept->replay];
}

/* Worked out once a call, and only if somebody asks. */
static const struct vclock *behind(const struct kept *kept, struct kept_order *of, const struct order *order)
{
    if (of->number == kept->view->number)
        return &of->behind;
    vclock_clear(&of->behind);
    model_comes_after(kept->model, order, kept->view, &of->behind);
    of->number = kept->view->number;
    return &of->behind;
}

static bool is_sure(const struct kept *kept, uint32_t slot)
{
    return kept->model->streams.items[slot].kind != PTDS_STREAM_UNKNOWN;
}

/* Whether the call at hand waits for an event, and nobody knows for which work: of another process, or not in the trace. */
static bool waits_unseen(const struct verdicts *v)
{
    const struct call_view *view = v->kept->view;
    const struct ptds_rec_CALL *call = &view->call->r;
    return (view->scope == WAIT_EVENT || call->op == PTDS_OP_EVENT_WAIT) &&
           events_find(v, call->object, call->generation) == NULL && events_are_unseen(v, call->object, call->generation);
}

/* Whether the order tells who comes after such an operation. Of a stream of unknown kind nobody knows, nor of what was
 * there when somebody waited for who knows what. */
static bool can_tell(const struct kept *kept, const struct order *order, uint32_t slot, uint64_t number)
{
    return slot != MODEL_NO_SLOT && is_sure(kept, slot) && number > vclock_get(&order->doubted, slot) &&
           kept->model->unplaced == 0;
}

/* ... and what the call at hand comes after. */
static bool can_tell_of_call(const struct verdicts *v)
{
    uint32_t target = v->kept->view->target;
    return (target == MODEL_NO_SLOT || is_sure(v->kept, target)) && !waits_unseen(v);
}

/* A stream whose slot serves another was done by then. */
static bool was_done(const struct kept *kept, uint32_t slot)
{
    return slot == MODEL_NO_SLOT && kept->model->unplaced == 0;
}

/* What is behind the call at hand in the run itself, beyond what has landed; NULL: nothing. */
static const struct vclock *really_behind(struct kept *kept, enum kept_at at)
{
    switch (at) {
    case KEPT_AT_CALL: return kept->view->submits ? behind(kept, &kept->real, &kept->model->real) : NULL;
    case KEPT_AT_RETURN: return model_covered(kept->model, kept->view);
    case KEPT_BY_NOW: return NULL;
    }
    return NULL;
}

enum edge_loss kept_not(const struct verdicts *v, const struct edge_end *first, uint64_t op, enum kept_at at)
{
    struct kept *kept = v->kept;
    struct model *model = kept->model;
    uint32_t slot = model_slots_find(model, first->target);
    uint64_t number = op - v->shift;
    if (was_done(kept, slot))
        return LOSS_NONE;
    const struct vclock *behind_it = really_behind(kept, at);
    if (slot != MODEL_NO_SLOT &&
        (vclock_get(&model->landed, slot) >= number || (behind_it != NULL && vclock_get(behind_it, slot) >= number)))
        return LOSS_NONE;
    bool known = can_tell(kept, &model->real, slot, number) && (at == KEPT_BY_NOW || can_tell_of_call(v));
    return known ? LOSS_DEFINITE : LOSS_POSSIBLE;
}

enum edge_loss kept_by_nothing_asked(const struct verdicts *v, const struct edge_end *first, uint64_t op)
{
    struct kept *kept = v->kept;
    const struct order *order = &asked(kept)->order;
    uint32_t slot = model_slots_find(kept->model, first->target);
    uint64_t number = op - v->shift;
    if (!kept->view->submits || was_done(kept, slot))
        return LOSS_NONE;
    if (slot != MODEL_NO_SLOT &&
        (vclock_get(&asked(kept)->done, slot) >= number || vclock_get(behind(kept, &kept->asked, order), slot) >= number))
        return LOSS_NONE;
    return can_tell(kept, order, slot, number) && can_tell_of_call(v) ? LOSS_DEFINITE : LOSS_POSSIBLE;
}

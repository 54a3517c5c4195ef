/* SPDX-License-Identifier: Apache-2.0
 *
 * What the run's policy did with the orders of legacy. If it promises them all, nothing is asked further. Else a pair may
 * be in order all the same, on the streams that the work was really sent to: the model says so (ORDER_AS_RUN). Whether a
 * copy has its order from more than the driver's implicit one says a replay without that (ORDER_AS_RUN_EXPLICIT). Here,
 * too, a wait of any thread orders all threads' later calls.
 *
 * Called by verdict.c for each call, and where a pair is found that legacy orders. Must call no order gone that may have
 * been kept, and none kept that may be gone: where that is not known, it is LOSS_POSSIBLE.
 */
#include "analysis/order/strands/order_loss.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/model/model_orders.h"
#include "analysis/model/model_slots.h"
#include "analysis/order/strands/strand_events.h"

bool order_loss_begin(struct verdicts *v, struct model *model)
{
    bool promised = implicit_order_promised(&v->trace->defs);
    bool takes = !promised && (v->trace->flags & PTDS_CALL_REMAPPED), overtakes = !promised && v->trace->from_pinned;
    if (!takes && !overtakes)
        return true;
    v->loss = heap_zeroed(1, sizeof *v->loss);
    if (v->loss == NULL)
        return false;
    *v->loss = (struct order_loss){.model = model, .takes = takes, .overtakes = overtakes};
    if (overtakes)
        v->loss->replay = model_orders_replay(model, ORDER_AS_RUN_EXPLICIT);
    return !overtakes || v->loss->replay != UINT32_MAX;
}

void order_loss_end(struct verdicts *v)
{
    if (v->loss == NULL)
        return;
    vclock_free(&v->loss->real.behind);
    vclock_free(&v->loss->asked.behind);
    free(v->loss);
}

static const struct replay *asked(const struct order_loss *loss)
{
    return &loss->model->replays.items[loss->replay];
}

/* What the call at hand comes after in this order. Worked out once a call, when it is first asked for. */
static const struct vclock *behind(const struct order_loss *loss, struct order_behind *of, const struct order *order)
{
    if (of->number == loss->view->number)
        return &of->behind;
    vclock_clear(&of->behind);
    model_orders_before(loss->model, order, loss->view, &of->behind);
    of->number = loss->view->number;
    return &of->behind;
}

static bool is_sure(const struct order_loss *loss, uint32_t slot)
{
    return loss->model->streams.items[slot].kind != PTDS_STREAM_UNKNOWN;
}

/* Whether the call at hand waits for an event of which the recording is not known: of another process, or not in the
 * trace. */
static bool waits_unseen(const struct verdicts *v)
{
    const struct call_view *view = v->loss->view;
    const struct ptds_rec_CALL *call = &view->call->r;
    return (view->scope == WAIT_EVENT || call->op == PTDS_OP_EVENT_WAIT) &&
           strand_events_find(v, call->object, call->generation) == NULL &&
           strand_events_are_unseen(v, call->object, call->generation);
}

/* Whether the order tells what comes after the operation. Not on a stream of unknown kind, nor if a wait for unknown
 * work came after the operation. */
static bool can_tell(const struct order_loss *loss, const struct order *order, uint32_t slot, uint64_t number)
{
    return slot != MODEL_NO_SLOT && is_sure(loss, slot) && number > vclock_get(&order->doubted, slot) &&
           loss->model->unplaced == 0;
}

/* Whether the order tells what the call at hand comes after. */
static bool can_tell_of_call(const struct verdicts *v)
{
    uint32_t target = v->loss->view->target;
    return (target == MODEL_NO_SLOT || is_sure(v->loss, target)) && !waits_unseen(v);
}

/* A stream has lost its slot to another: its work was done before. */
static bool was_done(const struct order_loss *loss, uint32_t slot)
{
    return slot == MODEL_NO_SLOT && loss->model->unplaced == 0;
}

/* What the second side comes after in the run, beyond what is known to be complete (model->landed); NULL: nothing. */
static const struct vclock *really_behind(struct order_loss *loss, enum order_loss_at at)
{
    switch (at) {
    case LOSS_AT_CALL: return loss->view->submits ? behind(loss, &loss->real, &loss->model->real) : NULL;
    case LOSS_AT_RETURN: return model_orders_covered(loss->model, loss->view);
    case LOSS_BY_NOW: return NULL;
    }
    return NULL;
}

enum edge_loss order_loss_look_up(const struct verdicts *v, const struct edge_end *first, uint64_t op,
                                  enum order_loss_at at)
{
    struct order_loss *loss = v->loss;
    struct model *model = loss->model;
    uint32_t slot = model_slots_find(model, first->target);
    uint64_t number = op - v->shift;
    if (was_done(loss, slot))
        return LOSS_NONE;
    const struct vclock *behind_it = really_behind(loss, at);
    if (slot != MODEL_NO_SLOT &&
        (vclock_get(&model->landed, slot) >= number || (behind_it != NULL && vclock_get(behind_it, slot) >= number)))
        return LOSS_NONE;
    bool known = can_tell(loss, &model->real, slot, number) && (at == LOSS_BY_NOW || can_tell_of_call(v));
    return known ? LOSS_DEFINITE : LOSS_POSSIBLE;
}

enum edge_loss order_loss_unasked(const struct verdicts *v, const struct edge_end *first, uint64_t op)
{
    struct order_loss *loss = v->loss;
    const struct order *order = &asked(loss)->order;
    uint32_t slot = model_slots_find(loss->model, first->target);
    uint64_t number = op - v->shift;
    if (!loss->view->submits || was_done(loss, slot))
        return LOSS_NONE;
    if (slot != MODEL_NO_SLOT &&
        (vclock_get(&asked(loss)->done, slot) >= number || vclock_get(behind(loss, &loss->asked, order), slot) >= number))
        return LOSS_NONE;
    return can_tell(loss, order, slot, number) && can_tell_of_call(v) ? LOSS_DEFINITE : LOSS_POSSIBLE;
}

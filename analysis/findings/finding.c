/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings and their adding up. Called by the rules, one call at a time; must stay cheap (a long trace flags often) and
 * bounded (a damaged trace may name any number of call sites).
 */
#include "analysis/findings/rule.h"
#include "analysis/base/heap.h"
#include "analysis/trace/selection.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/add.h"
#include "analysis/base/id_map.h"
#include "analysis/base/text.h"

const char *const severity_names[SEVERITIES] = {"note", "warning", "error"};
const char *const doubt_names[DOUBTS + 3] = {"right", "may-be-wrong", "wrong", "unknown", "stuck", "maybe-stuck"};
const char *const fold_names[FOLDS] = {NULL,     "under-the-floor", "no-known-cost",    "once",        "nothing-to-gain",
                                       "needed", "same-cause",      "inside-a-library", "maybe-needed"};
const char *const finding_set_names[FINDING_SETS] = {
    "threads", "streams", "waits_for", "kernels", "waits_for_kernels", "contexts", "held_threads",
};

static struct finding *new_finding(struct findings *findings, const struct rule *rule)
{
    struct finding *made = findings->list.count < FINDING_LIMIT ? heap_zeroed(1, sizeof *made) : NULL;
    if (made == NULL || !TABLE_ADD(&findings->list)) {
        free(made);
        findings->refused++;
        return NULL;
    }
    made->rule = rule;
    made->severity = rule->severity;
    *TABLE_LAST(&findings->list) = made;
    return made;
}

static struct finding *finding_of_key(struct findings *findings, const struct rule *rule, const struct ptds_rec_CALL *call,
                                      uint32_t detail, uint64_t key)
{
    uint32_t at;
    if (id_map_get(&findings->by_key, key, &at))
        return findings->list.items[at];
    struct finding *made = new_finding(findings, rule);
    if (made == NULL || !id_map_put(&findings->by_key, key, (uint32_t)findings->list.count - 1))
        return NULL;
    made->stack = call->stack;
    made->api = call->api;
    made->has_api = true;
    made->twin = (call->flags & PTDS_CALL_TWIN) != 0;
    made->detail = detail;
    made->first = call->enter;
    return made;
}

static struct finding *count_call(struct findings *findings, struct finding *found, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    found->count++;
    if (call->enter < found->first) /* some calls are judged later than ones after them */
        found->first = call->enter;
    if (call->enter > found->last)
        found->last = call->enter;
    finding_flag(findings, found, view);
    finding_add(found, FINDING_THREADS, view->call->thread);
    finding_add(found, FINDING_CONTEXTS, call->context);
    if (call->target != 0 || call->stream != 0)
        finding_add(found, FINDING_STREAMS, call->target != 0 ? call->target : call->stream);
    if (call->op == PTDS_OP_LAUNCH && call->object != 0)
        finding_add(found, FINDING_KERNELS, call->object);
    return found;
}

static struct finding *find(struct findings *findings, const struct rule *rule, const struct call_view *view,
                            uint32_t detail, uint64_t key)
{
    struct finding *found = findings->lately;
    if (findings->selected != NULL && !selection_has(findings->selected, view->call))
        return NULL;
    if (found == NULL || findings->lately_key != key)
        found = finding_of_key(findings, rule, &view->call->r, detail, key);
    if (found == NULL)
        return NULL;
    findings->lately = found;
    findings->lately_key = key;
    return count_call(findings, found, view);
}

struct finding *finding_at(struct findings *findings, const struct rule *rule, const struct call_view *view,
                           uint32_t detail)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool twin = (call->flags & PTDS_CALL_TWIN) != 0;
    uint64_t key = call->stack | (uint64_t)call->api << 32 | (uint64_t)twin << 48 | (uint64_t)(detail & 127) << 49;
    return find(findings, rule, view, detail, key);
}

struct finding *finding_of_cause(struct findings *findings, const struct rule *rule, const struct call_view *view,
                                 uint32_t detail, uint32_t cause)
{
    uint64_t key = cause | UINT64_C(0xffff) << 32 | (uint64_t)(detail & 127) << 49; /* of no driver function */
    return find(findings, rule, view, detail, key);
}

int finding_weigh(struct finding_weight one, struct finding_weight two)
{
    if ((one.severity == SEVERITY_ERROR) != (two.severity == SEVERITY_ERROR))
        return one.severity == SEVERITY_ERROR ? -1 : 1;
    if (one.host_ns != two.host_ns)
        return one.host_ns > two.host_ns ? -1 : 1;
    if ((one.unknown != 0) != (two.unknown != 0))
        return one.unknown != 0 ? -1 : 1;
    return one.count != two.count ? (one.count > two.count ? -1 : 1) : 0;
}

struct finding *finding_about(struct findings *findings, const struct rule *rule, uint32_t detail, const char *text)
{
    struct finding *made = new_finding(findings, rule);
    if (made == NULL)
        return NULL;
    made->detail = detail;
    if (text != NULL)
        made->text = text_copy(text, strlen(text));
    return made;
}

void finding_severity(struct finding *finding, enum severity severity)
{
    if (finding != NULL)
        finding->severity = severity;
}

void finding_given_up(struct finding *finding)
{
    const uint64_t *verdicts = finding->verdicts;
    bool judged = verdicts[VERDICT_NOT_NEEDED] + verdicts[VERDICT_MAYBE_NEEDED] + verdicts[VERDICT_NEEDED] != 0;
    bool may = finding->may_be_given_up != 0 || !judged;
    finding_severity(finding, finding->given_up != 0 ? SEVERITY_ERROR : may ? SEVERITY_WARNING : SEVERITY_NOTE);
    finding_doubt(finding, finding->given_up != 0 ? DOUBT_WRONG : may ? DOUBT_MAY : DOUBT_NONE);
}

void finding_may_lose_order(struct finding *finding)
{
    if (finding->doubt == DOUBT_NONE || finding->given_up == 0)
        return;
    finding_severity(finding, SEVERITY_ERROR);
    finding_doubt(finding, DOUBT_WRONG);
}

void finding_add_new(struct finding_ids *ids, uint32_t id)
{
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->id[i] == id)
            return;
    if (ids->count < FINDING_IDS)
        ids->id[ids->count++] = id;
    else
        ids->more = true;
}

void finding_add_pending(struct finding *finding, const struct model *model, const struct pending *pending)
{
    for (uint32_t i = 0; i < pending->count && i < PENDING_KEPT; i++) {
        const struct model_stream *stream = &model->streams.items[pending->slot[i]];
        finding_add(finding, FINDING_WAITS_FOR, stream->uid);
        if (stream->last_object != 0)
            finding_add(finding, FINDING_WAITS_FOR_KERNELS, stream->last_object);
    }
    if (finding != NULL && pending->count > PENDING_KEPT)
        finding->sets[FINDING_WAITS_FOR].more = true;
}

void finding_add_judged(struct finding *finding, const struct judged *judged, enum need need)
{
    for (uint32_t i = 0; i < judged->count; i++) {
        const struct judged_stream *stream = &judged->stream[i];
        if (need != NEED_OPEN && stream->need != need)
            continue;
        finding_add(finding, FINDING_WAITS_FOR, stream->uid);
        if (stream->object != 0)
            finding_add(finding, FINDING_WAITS_FOR_KERNELS, stream->object);
    }
    if (finding != NULL && judged->all > judged->count)
        finding->sets[FINDING_WAITS_FOR].more = true;
}

static uint64_t *number(struct finding *finding, const char *key)
{
    for (size_t i = 0; finding != NULL && i < FINDING_NUMBERS; i++) {
        if (finding->numbers[i].key == NULL)
            finding->numbers[i].key = key;
        if (finding->numbers[i].key == key || strcmp(finding->numbers[i].key, key) == 0)
            return &finding->numbers[i].value;
    }
    return NULL;
}

void finding_count(struct finding *finding, const char *key, uint64_t more)
{
    uint64_t *value = number(finding, key);
    if (value != NULL)
        *value += more;
}

void finding_most(struct finding *finding, const char *key, uint64_t value)
{
    uint64_t *most = number(finding, key);
    if (most != NULL && value > *most)
        *most = value;
}

void finding_cost(struct finding *finding, uint64_t host_ns)
{
    finding_cost_calls(finding, host_ns, 1);
}

void finding_cost_calls(struct finding *finding, uint64_t host_ns, uint64_t calls)
{
    if (finding == NULL)
        return;
    finding->known += calls;
    finding->host_ns = add_capped(finding->host_ns, host_ns);
}

void finding_cost_of(struct finding *finding, const struct call_view *view)
{
    if (view->timed)
        finding_cost(finding, view->lost_ns);
    else
        finding_cost_unknown(finding);
}

static void drop(struct finding *finding)
{
    free(finding->text);
    free(finding);
}

bool finding_has_cost(const struct finding *finding)
{
    return finding->known != 0 || finding->unknown != 0;
}

void finding_keep_only(struct findings *findings, bool (*keep)(const struct finding *finding))
{
    size_t kept = 0;
    for (size_t i = 0; i < findings->list.count; i++) {
        if (keep(findings->list.items[i]))
            findings->list.items[kept++] = findings->list.items[i];
        else
            drop(findings->list.items[i]);
    }
    findings->list.count = kept;
    findings->lately = NULL;
    id_map_free(&findings->by_key);
}

void finding_move_all(struct findings *to, struct findings *from)
{
    for (size_t i = 0; i < from->list.count; i++) {
        if (TABLE_ADD(&to->list)) {
            *TABLE_LAST(&to->list) = from->list.items[i];
        } else {
            drop(from->list.items[i]);
            to->refused++;
        }
    }
    to->refused += from->refused;
    from->list.count = 0;
    finding_free_all(from);
}

void finding_drop_all(struct findings *findings)
{
    for (size_t i = 0; i < findings->list.count; i++)
        drop(findings->list.items[i]);
    findings->list.count = 0;
    findings->lately = NULL;
    id_map_free(&findings->by_key);
}

void finding_free_all(struct findings *findings)
{
    finding_drop_all(findings);
    free(findings->list.items);
    *findings = (struct findings){0};
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What lanes know of each other (lane.h, groups.c, fans.c): for all files of the verdict engine that ask or teach them. Who
 * asks what a lane knows must ask here: its clocks alone do not say it.
 */
#ifndef PTDS_ANALYSIS_ORDER_KNOWLEDGE_H
#define PTDS_ANALYSIS_ORDER_KNOWLEDGE_H

#include "analysis/base/hints.h"
#include "analysis/order/engine.h"

/* What the lane, or the host, knows of lane `about` by explicit order. */
static INLINE uint64_t lanes_explicit(const struct lane *lane, const struct lane *host, uint32_t about)
{
    return larger(vclock_get(&lane->expl, about), vclock_get(&host->expl, about));
}
/* The lane's last operation up to this one, as far as that is known; else `upto` itself. */
static INLINE uint64_t lanes_upto(const struct lane *lane, uint64_t upto)
{
    return lane->last <= upto ? lane->last : lane->before <= upto ? lane->before : upto;
}
/* What the lane knows of a group; NULL: nothing. There may be many contexts, but a lane mostly knows of its own one's two.
 */
struct of_group *groups_search(const struct lane *lane, uint32_t group);
static INLINE struct of_group *groups_find(const struct lane *lane, uint32_t group)
{
    struct of_group *items = lane->groups.items;
    if (lane->groups.count == 0 || group == NO_GROUP)
        return NULL;
    if (items[0].group == group)
        return items;
    return lane->groups.count != 1 ? groups_search(lane, group) : NULL;
}
/* By any order, what the lane knows; what it or the host does. */
static INLINE uint64_t lanes_own(const struct verdicts *v, const struct lane *lane, uint32_t about)
{
    const struct lane *subject = lanes_at(v, about);
    uint64_t own = vclock_get(&lane->full, about);
    const struct of_group *of = groups_find(lane, subject->group);
    return of != NULL && of->upto > own ? larger(own, lanes_upto(subject, of->upto)) : own;
}
static INLINE uint64_t lanes_full(const struct verdicts *v, const struct lane *lane, uint32_t about)
{
    return larger(lanes_own(v, lane, about), lanes_own(v, lanes_at(v, HOST_LANE), about));
}
/* The call at which the lane or the host last learnt of lane `about`. groups_news: of all of its group, if after `since`.
 */
uint64_t groups_news(const struct verdicts *v, const struct lane *lane, struct of_group *of, uint32_t about,
                     uint64_t since);
static INLINE uint64_t lanes_grown(const struct verdicts *v, const struct lane *lane, uint32_t about)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    uint64_t at = larger(vclock_get(&lane->grown, about), vclock_get(&host->grown, about));
    uint32_t group = lanes_at(v, about)->group;
    struct of_group *own = groups_find(lane, group), *all = groups_find(host, group);
    if (own != NULL && own->grown > at)
        at = groups_news(v, lane, own, about, at);
    if (all != NULL && all->grown > at)
        at = groups_news(v, host, all, about, at);
    return at;
}

/* waits.c: up to which of the lane's operations the wait covers it. */
uint64_t waits_covered(const struct verdicts *v, const struct cover *cover, uint32_t about);

/* learn.c */
/* The lane (or the host) gets to know of lane `about`. False: it knew that much. */
bool lanes_learn(struct verdicts *v, uint32_t lane, uint32_t about, const struct known *known);
/* Everything that lane `from` knows, by its last operation. */
void lanes_take_over(struct verdicts *v, uint32_t lane, uint32_t from, uint32_t edge, bool foreign_only);
/* Whether implicit order may hold between the two. */
bool lanes_group(const struct verdicts *v, uint32_t a, uint32_t b);
void lanes_forget(struct known_list *list, uint32_t kept); /* all but the first so many; their edges are dropped already */
bool lanes_give_room(struct known_list *list);             /* for one more; false without memory */

/* groups.c */
const struct lane_list *groups_lanes(const struct verdicts *v, uint32_t group);
/* The lane (or the host) gets to know of all of a group. False: it knew that much, or there is no memory. */
bool groups_learn(struct verdicts *v, uint32_t lane, uint32_t group, const struct known *known);
/* The legacy lane's call at hand comes after all that blocking streams did, over fan-ins. */
void groups_learn_by_fans(struct verdicts *v, uint32_t lane);
/* What lane `from` knows of groups. */
void groups_take_over(struct verdicts *v, uint32_t lane, uint32_t from, uint32_t edge, bool foreign_only);
/* The lane's last operation of which it is remembered that it touched memory, after < op <= upto; 0 none. */
uint64_t groups_marked(const struct lane *lane, uint64_t after, uint64_t upto);
/* As blame_limit, blame_limit_all, of lists about a group. */
void groups_limit(struct verdicts *v, const struct lane *lane, struct known_list *list, uint32_t group);
void groups_limit_all(struct verdicts *v, uint32_t about);
bool groups_remember(const struct verdicts *v, const struct lane *lane); /* something that not everybody comes after */
void groups_free(struct verdicts *v, struct lane *lane);

/* An operation, and those that would take the same way as it: after < op <= upto. */
struct traced {
    uint64_t op, after, upto;
};

/* fans.c */
void fans_add(struct verdicts *v, uint32_t edge, uint32_t to, uint32_t from, uint64_t after, uint64_t known);
/* The newest of these two, its edge's place + 1; 0 none. */
uint32_t fans_newest(const struct lane *lane, uint32_t from);
/* The first by which the lane learnt of an operation of lane `about`, not later than call `latest`. */
bool fans_arrival(const struct verdicts *v, const struct lane *lane, uint32_t about, struct traced *traced, uint64_t latest,
                  struct known *out);
/* blame_came_doubted of each operation after < op <= upto. */
bool fans_came_doubted(const struct verdicts *v, const struct lane *lane, uint32_t about, uint64_t after, uint64_t upto);
void fans_limit(struct verdicts *v, const struct lane *lane, uint32_t about);
typedef bool fan_is_asked(const void *data, const struct fan *fan);
void fans_sweep(struct verdicts *v, fan_is_asked *is_asked, const void *data); /* drops all others */
bool fans_remember(const struct verdicts *v, const struct lane *lane);
void fans_free(struct verdicts *v, struct lane *lane);

#endif

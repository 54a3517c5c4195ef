/* SPDX-License-Identifier: Apache-2.0
 *
 * The rule of implicit_order.h, and what each policy makes of it. Called when a stream is first used, and for calls that
 * wait. Must look at nothing but its arguments.
 */
#include "analysis/model/implicit_order.h"

#include <string.h>

/* Whose earlier work comes before what is submitted to a stream of this role: the driver's rule. It is symmetrical. */
static const unsigned driver_joins[ORDER_ROLES] = {
    [ORDER_ROLE_NONE] = 0,
    [ORDER_ROLE_LEGACY] = ORDER_OF(ORDER_ROLE_LEGACY) | ORDER_OF(ORDER_ROLE_BLOCKING),
    [ORDER_ROLE_BLOCKING] = ORDER_OF(ORDER_ROLE_LEGACY),
};

/* ... and before a host wait for such a stream returns. */
static const unsigned driver_waits[ORDER_ROLES] = {
    [ORDER_ROLE_LEGACY] = ORDER_OF(ORDER_ROLE_LEGACY) | ORDER_OF(ORDER_ROLE_BLOCKING),
};

/* Where a policy puts default-stream work that it moves, and what part that stream takes. */
struct move {
    bool moves, promises;
    enum order_place place;
    enum order_role role;
};
static const struct move moves[ORDER_POLICIES] = {
    [ORDER_GUARDED] = {true, true, ORDER_AT_OWN, ORDER_ROLE_BLOCKING},
    [ORDER_PER_THREAD] = {true, false, ORDER_AT_PER_THREAD, ORDER_ROLE_BLOCKING},
    [ORDER_STREAM] = {true, true, ORDER_AT_SHARED, ORDER_ROLE_BLOCKING},
    [ORDER_STREAM_NON_BLOCKING] = {true, true, ORDER_AT_SHARED, ORDER_ROLE_NONE},
    [ORDER_EXPLICIT] = {true, false, ORDER_AT_OWN, ORDER_ROLE_NONE},
};

static unsigned driver_order(const struct order_call *call, enum order_role role)
{
    switch (call->act) {
    case ORDER_SUBMITS: return driver_joins[role];
    case ORDER_WAITS: return driver_waits[role];
    case ORDER_WAITS_FOR_ALL: return ORDER_OF_ALL;
    }
    return 0;
}

static bool is_moved(unsigned policy, const struct order_call *call)
{
    unsigned by = policy & ~(unsigned)ORDER_REMAPS_EXPLICIT;
    if (call->named != ORDER_ROLE_LEGACY || !moves[by].moves)
        return false;
    return by == ORDER_EXPLICIT || (!call->stays && (!call->explicitly || policy & ORDER_REMAPS_EXPLICIT));
}

bool implicit_order_promises(unsigned policy)
{
    return moves[policy & ~(unsigned)ORDER_REMAPS_EXPLICIT].promises;
}

struct ordered implicit_order_under(unsigned policy, const struct order_call *call)
{
    unsigned by = policy & ~(unsigned)ORDER_REMAPS_EXPLICIT;
    struct ordered ordered = {.place = ORDER_AT_NAMED, .role = call->named};
    if (by == ORDER_AS_RUN || by == ORDER_AS_RUN_EXPLICIT)
        ordered = (struct ordered){.place = ORDER_AT_SENT, .role = call->sent};
    else if (is_moved(policy, call))
        ordered = (struct ordered){.place = moves[by].place, .role = moves[by].role};
    bool implicit = by != ORDER_EXPLICIT && by != ORDER_AS_RUN_EXPLICIT;
    if (implicit || call->act == ORDER_WAITS_FOR_ALL)
        ordered.after = driver_order(call, ordered.role);
    if (implicit && call->act == ORDER_SUBMITS)
        ordered.before = driver_joins[ordered.role];
    if (implicit_order_promises(policy))
        ordered.promised = driver_order(call, call->named);
    return ordered;
}

static bool setting_is(const struct definitions *defs, const char *name, const char *value)
{
    const char *text = definitions_setting(defs, name);
    return text != NULL && strncmp(text, value, strlen(value)) == 0;
}

bool implicit_order_is_strict(const struct definitions *defs)
{
    return setting_is(defs, "policy", "strict");
}

unsigned implicit_order_policy(const struct definitions *defs)
{
    unsigned remaps = setting_is(defs, "PTDS_EXPLICIT_LEGACY", "remap") ? ORDER_REMAPS_EXPLICIT : 0;
    if (setting_is(defs, "policy", "observe") || setting_is(defs, "policy", "none"))
        return ORDER_LEGACY;
    if (setting_is(defs, "policy", "per-thread"))
        return ORDER_PER_THREAD | remaps;
    if (setting_is(defs, "policy", "guarded") || implicit_order_is_strict(defs))
        return ORDER_GUARDED | remaps;
    if (setting_is(defs, "policy", "stream") && setting_is(defs, "guard", "1"))
        return (setting_is(defs, "PTDS_STREAM", "nonblocking") ? ORDER_STREAM_NON_BLOCKING : ORDER_STREAM) | remaps;
    return ORDER_AS_RUN;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported wrappers, one for each row of the table and one for its twin, all expanded from it. What a wrapper does:
 *   go         nothing to do here? straight on to the driver
 *   settle     where the host could tell by the call that promised work is pending, it waits for it (told)
 *   before     the row's footprint and book-keeping
 *   route      the policy chooses the stream
 *   call       the real function, its twin, or its asynchronous form
 *   after      the row's book-keeping
 * A row whose prototype differs from cuda.h's fails to compile here, at the row.
 */
#include "interpose/doors/wrappers.h"

#include "interpose/doors/array_copy.h"
#include "interpose/doors/enter.h"
#include "interpose/doors/lookup/procaddress.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/others.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/given.h"
#include "interpose/footprint/graphs.h"
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/mappings.h"
#include "interpose/footprint/memories.h"
#include "interpose/footprint/modules.h"
#include "interpose/footprint/pools.h"
#include "interpose/footprint/reservations.h"
#include "interpose/footprint/textures.h"
#include "interpose/record/hostfunc.h"
#include "interpose/state/capture.h"
#include "interpose/state/objects.h"

#define EXPORT __attribute__((visibility("default")))
#define NOTHING (void)0

/* What the call has put where the program said; 0 where it has put nothing there. */
#define GIVEN(place) (C->result == CUDA_SUCCESS && (place) ? *(place) : 0)

/* The route column: replaces the stream argument in place, or points the argument at a changed copy. A const struct of the
 * program's may be shared between threads, so it is never written to. */
#define ROUTE_NO_STREAM NOTHING;
#define ROUTE_STREAM(s) s = policy_route(C, s);
#define ROUTE_STREAM2(s, t) \
    t = policy_route(C, t); \
    s = policy_route(C, s);
#define ROUTE_KEEP(s) s = policy_route_keep(C, s);
#define ROUTE_KEEP_IF(s, condition) s = (condition) ? policy_route_keep(C, s) : policy_route(C, s);
#define ROUTE_MULTI(l, n) \
    for (unsigned at = 0, there = given_list(l, sizeof *l, n); there && at < n; at++) \
        policy_route_keep(C, l[at].hStream);
#define ROUTE_LEGACY policy_route_legacy(C);
#define ROUTE_STREAM_AT(p) \
    CUstream routed_stream = NULL; \
    CUstream *const programs_stream = p; \
    if (p) { \
        routed_stream = policy_route(C, *p); \
        p = &routed_stream; \
    }
#define ROUTE_CONFIG(c) \
    CUlaunchConfig routed_config; \
    if (c) { \
        routed_config = *c; \
        routed_config.hStream = policy_route(C, c->hStream); \
        c = &routed_config; \
    }
#define ROUTE_UPLOAD(p) \
    CUDA_GRAPH_INSTANTIATE_PARAMS routed_params; \
    CUDA_GRAPH_INSTANTIATE_PARAMS *const programs_params = p; \
    if (p) { \
        routed_params = *p; \
        routed_params.hUploadStream = policy_route(C, p->hUploadStream); \
        p = &routed_params; \
    }

/* What comes back through a copy. A stream that the driver itself put there is the program's to see. */
#define BACK_NO_STREAM NOTHING;
#define BACK_STREAM(s) NOTHING;
#define BACK_STREAM2(s, t) NOTHING;
#define BACK_KEEP(s) NOTHING;
#define BACK_KEEP_IF(s, condition) NOTHING;
#define BACK_MULTI(l, n) NOTHING;
#define BACK_LEGACY NOTHING;
#define BACK_CONFIG(c) NOTHING;
#define BACK_STREAM_AT(p) \
    if (p && routed_stream != C->target) \
        *programs_stream = routed_stream;
#define BACK_UPLOAD(p) \
    if (p == &routed_params) { \
        routed_params.hUploadStream = programs_params->hUploadStream; \
        *programs_params = routed_params; \
    }

/* The column `told`: what comes first, what is kept for a second time, and that, where the first was out of memory. */
#define SETTLE_NO NOTHING;
#define SETTLE_WAITS NOTHING;
#define SETTLE_SETTLE_FIRST settle_first(C);
#define SETTLE_SETTLE_MEMORY NOTHING;
#define SETTLE_SETTLE_ASKED NOTHING;
#define SETTLE_SETTLE_ON_FAILURE NOTHING;

#define KEPT_NO(route) NOTHING;
#define KEPT_WAITS(route) NOTHING;
#define KEPT_SETTLE_FIRST(route) NOTHING;
#define KEPT_SETTLE_MEMORY(route) KEPT_SETTLE_ON_FAILURE(route)
#define KEPT_SETTLE_ASKED(route) NOTHING;
#define KEPT_SETTLE_ON_FAILURE(route) \
    const int programs_errno = errno; \
    GIVEN_##route

#define AGAIN_NO(route, real_call) NOTHING;
#define AGAIN_WAITS(route, real_call) NOTHING;
#define AGAIN_SETTLE_FIRST(route, real_call) NOTHING;
#define AGAIN_SETTLE_MEMORY(route, real_call) AGAIN_SETTLE_ON_FAILURE(route, real_call)
#define AGAIN_SETTLE_ASKED(route, real_call) NOTHING;
#define AGAIN_SETTLE_ON_FAILURE(route, real_call) \
    if (__builtin_expect(C->result == CUDA_ERROR_OUT_OF_MEMORY, 0) && enter_waits_deferred(C, programs_errno)) { \
        REROUTE_##route enter_again(C); \
        real_call; \
        leave_real(C); \
    }

/* What the program named, for a route that replaces it, and the route once more. */
#define GIVEN_NO_STREAM NOTHING;
#define GIVEN_STREAM(s) const CUstream given = s;
#define GIVEN_CONFIG(c) const CUlaunchConfig *const given = c;
#define GIVEN_UPLOAD(p) NOTHING;
#define GIVEN_MULTI(l, n) NOTHING;
#define GIVEN_LEGACY NOTHING;
#define REROUTE_NO_STREAM NOTHING;
#define REROUTE_STREAM(s) s = policy_route(C, given);
#define REROUTE_CONFIG(c) \
    if (given) \
        routed_config.hStream = policy_route(C, given->hStream);
#define REROUTE_UPLOAD(p) NOTHING; /* it is no work of a lane */
#define REROUTE_MULTI(l, n) ROUTE_MULTI(l, n)
#define REROUTE_LEGACY policy_route_legacy(C);

/* A wrapper is two functions: the exported one, a jump through wrappers_go, and the one that does the work, which is where
 * wrappers_go points unless there is nothing to do. By a jump, so that the program's return address is the return address
 * in both. Where the compiler makes no such jump (no optimisation, sanitizers) they are one. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLOW(function) slow_##function
#define FIRST(function) linked_##function
#define WRAPPER(symbol, twin_index, function, params, args, body) \
    static __attribute__((noinline)) \
    CUresult slow_##function params{ENTER(symbol, twin_index, function, args) body} LINKED(function, params, args) \
        EXPORT CUresult function params \
    { \
        return ((__typeof__(&function))wrappers_go[API_##symbol][twin_index])args; \
    }
#else
#define SLOW(function) function
#define FIRST(function) function
#define WRAPPER(symbol, twin_index, function, params, args, body) \
    LINKED(function, params, args) \
    EXPORT CUresult function params \
    { \
        __typeof__(&function) const direct = (__typeof__(&function))wrappers_go[API_##symbol][twin_index]; \
        if (direct != function && !others_linked) \
            return direct args; \
        ENTER(symbol, twin_index, function, args) \
        body \
    }
#endif

#define LINKED(function, params, args) \
    static CUresult linked_##function params \
    { \
        others_linked = 1; \
        return SLOW(function) args; \
    }

#define ENTER(symbol, twin_index, function, args) \
    struct call call, *const C = &call; \
    switch (enter_call(C, API_##symbol, twin_index, __builtin_return_address(0), CALL_FRAME())) { \
    case ENTER_ABSENT: return C->result; \
    case ENTER_PASS: return ((__typeof__(&function))C->real)args; \
    default: break; \
    }

#define LEAVE(after) \
    after; \
    leave_call(C); \
    return C->result;

#define REAL_CALL(function, args) C->result = ((__typeof__(&function))C->real)args

#define STREAM_BODY(symbol, twin_index, function, route, told, args, before, after) \
    SETTLE_##told KEPT_##told(route) before; \
    ROUTE_##route enter_real(C); \
    REAL_CALL(function, args); \
    leave_real(C); \
    AGAIN_##told(route, REAL_CALL(function, args)) BACK_##route LEAVE(after)

/* All of these are work, of which the guard orders what it touches. */
#define IMPLICIT_NO

#define IMPLICIT_BODY(symbol, told, args, async_form, before, after) \
    IMPLICIT_##told before; \
    policy_route_implicit(C); \
    enter_real(C); \
    const CUstream T = C->target; \
    if (C->way == CALL_AS_TWIN) \
        C->result = (C->other ? (__typeof__(&symbol))others_function[API_##symbol][1] : REAL_TWIN(symbol))args; \
    else if (C->way == CALL_AS_ASYNC) \
        C->result = async_form; \
    else \
        C->result = ((__typeof__(&symbol))C->real)args; \
    leave_real(C); \
    leave_implicit(C); \
    LEAVE(after)

#define IMPLICIT_TWIN_BODY(symbol, args, before, after) \
    before; \
    policy_route_implicit(C); \
    enter_real(C); \
    C->result = ((__typeof__(&symbol))C->real)args; \
    leave_real(C); \
    LEAVE(after)

#define API(symbol, since, route, class_, timing, told, params, args, before, after) \
    WRAPPER(symbol, 0, symbol, params, args, STREAM_BODY(symbol, 0, symbol, route, told, args, before, after))

#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, params, args, before, after) \
    WRAPPER(symbol, 0, symbol, params, args, STREAM_BODY(symbol, 0, symbol, route, told, args, before, after)) \
    WRAPPER(symbol, 1, symbol##_ptsz, params, args, STREAM_BODY(symbol, 1, symbol##_ptsz, route, told, args, before, after))

#define API_PTDS(symbol, since, twin_since, async_form, class_, timing, told, params, args, before, after) \
    WRAPPER(symbol, 0, symbol, params, args, IMPLICIT_BODY(symbol, told, args, async_form, before, after)) \
    WRAPPER(symbol, 1, symbol##_ptds, params, args, IMPLICIT_TWIN_BODY(symbol, args, before, after))

#include "interpose/api/api.def"

void *const wrappers_exported[API_COUNT][2] = {
#define API(symbol, ...) {(void *)symbol, NULL},
#define API_PTSZ(symbol, ...) {(void *)symbol, (void *)symbol##_ptsz},
#define API_PTDS(symbol, ...) {(void *)symbol, (void *)symbol##_ptds},
#include "interpose/api/api.def"
};

void *const wrappers_working[API_COUNT][2] = {
#define API(symbol, ...) {(void *)SLOW(symbol), NULL},
#define API_PTSZ(symbol, ...) {(void *)SLOW(symbol), (void *)SLOW(symbol##_ptsz)},
#define API_PTDS(symbol, ...) {(void *)SLOW(symbol), (void *)SLOW(symbol##_ptds)},
#include "interpose/api/api.def"
};

void *const wrappers_linked[API_COUNT][2] = {
#define API(symbol, ...) {(void *)linked_##symbol, NULL},
#define API_PTSZ(symbol, ...) {(void *)linked_##symbol, (void *)linked_##symbol##_ptsz},
#define API_PTDS(symbol, ...) {(void *)linked_##symbol, (void *)linked_##symbol##_ptds},
#include "interpose/api/api.def"
};

void *wrappers_go[API_COUNT][2] = {
#define API(symbol, ...) {(void *)FIRST(symbol), NULL},
#define API_PTSZ(symbol, ...) {(void *)FIRST(symbol), (void *)FIRST(symbol##_ptsz)},
#define API_PTDS(symbol, ...) {(void *)FIRST(symbol), (void *)FIRST(symbol##_ptds)},
#include "interpose/api/api.def"
};

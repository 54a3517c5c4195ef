/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported functions: every row of the tables, base and twin, becomes one that goes through the knobs and then to its
 * impl_ function. Called by the program or by the shim under test. Must never hold logic of its own.
 */
#include "tests/sim/sim.h"

#include "tests/sim/arguments.h"

enum {
#define ROW(symbol) ENTRY_##symbol,
#define API_PTSZ(symbol, since, twin_since, route, class, timing, told, params, args, before, after) \
    ROW(symbol) ROW(symbol##_ptsz)
#define API_PTDS(symbol, since, twin_since, form, class, timing, told, params, args, before, after) \
    ROW(symbol) ROW(symbol##_ptds)
#define API(symbol, since, route, class, timing, told, params, args, before, after) ROW(symbol)
#define EXTRA(symbol, since, params, args) ROW(symbol)
#define INVENTED(symbol, params, args) ROW(symbol) ROW(symbol##_ptsz)
#include "interpose/api/api.def"
#include "tests/sim/extra.def"
#include "tests/sim/invented.def"
#undef ROW
    ENTRY_COUNT
};

/* The stream handle as the caller gave it, from the row's route. */
#define GIVEN_STREAM(s) (uintptr_t)(s)
#define GIVEN_STREAM2(s, t) (uintptr_t)(s)
#define GIVEN_STREAM_AT(p) ((p) ? (uintptr_t) * (p) : 0)
#define GIVEN_CONFIG(c) ((c) ? (uintptr_t)(c)->hStream : 0)
#define GIVEN_UPLOAD(p) ((p) ? (uintptr_t)(p)->hUploadStream : 0)
#define GIVEN_KEEP(s) (uintptr_t)(s)
#define GIVEN_KEEP_IF(s, condition) (uintptr_t)(s)
#define GIVEN_MULTI(list, n) ((list) && (n) ? (uintptr_t)(list)[0].hStream : 0)
#define GIVEN_LEGACY NO_HANDLE
#define GIVEN_NO_STREAM NO_HANDLE

#define DEFINE(exported, symbol, is_twin, given, params, args) \
    SIM_EXPORT CUresult CUDAAPI exported params; \
    SIM_EXPORT CUresult CUDAAPI exported params \
    { \
        ARGUMENTS_KEEP(args); \
        CUresult sim_result_ = call_enter(ENTRY_##exported, is_twin, given); \
        return sim_result_ != CUDA_SUCCESS ? sim_result_ : impl_##symbol args; \
    }
#define API_PTSZ(symbol, since, twin_since, route, class, timing, told, params, args, before, after) \
    DEFINE(symbol, symbol, false, GIVEN_##route, params, args) \
    DEFINE(symbol##_ptsz, symbol, true, GIVEN_##route, params, args)
#define API_PTDS(symbol, since, twin_since, form, class, timing, told, params, args, before, after) \
    DEFINE(symbol, symbol, false, NO_HANDLE, params, args) \
    DEFINE(symbol##_ptds, symbol, true, NO_HANDLE, params, args)
#define API(symbol, since, route, class, timing, told, params, args, before, after) \
    DEFINE(symbol, symbol, false, GIVEN_##route, params, args)
#define EXTRA(symbol, since, params, args) DEFINE(symbol, symbol, false, NO_HANDLE, params, args)
#define INVENTED(symbol, params, args) \
    DEFINE(symbol, symbol, false, GIVEN_STREAM(hStream), params, args) \
    DEFINE(symbol##_ptsz, symbol, true, GIVEN_STREAM(hStream), params, args)
#include "interpose/api/api.def"
#include "tests/sim/extra.def"
#include "tests/sim/invented.def"

enum { YEARS_FROM_NOW = 99000 };
struct entry sim_entries[] = {
#define LINE(exported, its_since, is_twin, with_twin, is_row) \
    {.symbol = #exported, \
     .address = (void *)exported, \
     .since = its_since, \
     .twin = is_twin, \
     .has_twin = with_twin, \
     .row = is_row},
#define API_PTSZ(symbol, since, twin_since, route, class, timing, told, params, args, before, after) \
    LINE(symbol, since, false, true, true) LINE(symbol##_ptsz, twin_since, true, true, true)
#define API_PTDS(symbol, since, twin_since, form, class, timing, told, params, args, before, after) \
    LINE(symbol, since, false, true, true) LINE(symbol##_ptds, twin_since, true, true, true)
#define API(symbol, since, route, class, timing, told, params, args, before, after) LINE(symbol, since, false, false, true)
#define EXTRA(symbol, since, params, args) LINE(symbol, since, false, false, false)
#define INVENTED(symbol, params, args) \
    LINE(symbol, YEARS_FROM_NOW, false, true, true) LINE(symbol##_ptsz, YEARS_FROM_NOW, true, true, true)
#include "interpose/api/api.def"
#include "tests/sim/extra.def"
#include "tests/sim/invented.def"
#undef LINE
};
const int sim_entry_count = ENTRY_COUNT;

/* SPDX-License-Identifier: Apache-2.0
 *
 * One prototype `impl_<symbol>` for each function of the simulated driver, from the tables. entry.c calls them, stubs.c
 * defines them weakly as "not simulated", and the other files define those that are. A base entry and its twin share one;
 * it learns from thread_self()->twin which of the two was called.
 */
#ifndef PTDS_TESTS_SIM_IMPL_H
#define PTDS_TESTS_SIM_IMPL_H

#include "interpose/api/cuda_abi.h"

#define API_PTSZ(symbol, since, twin_since, route, class, timing, told, params, args, before, after) \
    CUresult impl_##symbol params;
#define API_PTDS(symbol, since, twin_since, form, class, timing, told, params, args, before, after) \
    CUresult impl_##symbol params;
#define API(symbol, since, route, class, timing, told, params, args, before, after) CUresult impl_##symbol params;
#define EXTRA(symbol, since, params, args) CUresult impl_##symbol params;
#define INVENTED(symbol, params, args) CUresult impl_##symbol params;
#include "interpose/api/api.def"
#include "tests/sim/extra.def"
#include "tests/sim/invented.def"

#endif

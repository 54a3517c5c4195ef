/* SPDX-License-Identifier: Apache-2.0
 *
 * What is not simulated: a weak impl_ function for every row, which the file that simulates the function overrides.
 * Must never answer success: a program has to see that the simulator does not know the call.
 */
#include "tests/sim/sim.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define STUB(symbol, params) \
    __attribute__((weak)) CUresult impl_##symbol params \
    { \
        return CUDA_ERROR_NOT_SUPPORTED; \
    }
#define API_PTSZ(symbol, since, twin_since, route, class, timing, told, params, args, before, after) STUB(symbol, params)
#define API_PTDS(symbol, since, twin_since, form, class, timing, told, params, args, before, after) STUB(symbol, params)
#define API(symbol, since, route, class, timing, told, params, args, before, after) STUB(symbol, params)
#define EXTRA(symbol, since, params, args) STUB(symbol, params)
#include "interpose/api/api.def"
#include "tests/sim/extra.def"

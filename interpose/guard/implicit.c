/* SPDX-License-Identifier: Apache-2.0
 *
 * Which row is the asynchronous form of each implicit call, from the table. Called by guard.c.
 */
#include "interpose/guard/implicit.h"

#include "interpose/driver/driver.h"

/* Some rows share one, which a driver may lack. */
static const int16_t async_row[API_COUNT] = {
#undef REAL
#define REAL(symbol) API_##symbol IGNORE
#define IGNORE(...)
#define array_copy_async_AtoA(...) API_cuMemcpy3DAsync_v2
#define array_copy_async_AtoD(...) API_cuMemcpy3DAsync_v2
#define array_copy_async_DtoA(...) API_cuMemcpy3DAsync_v2
#define API_PTDS(symbol, since, twin_since, async_form, ...) [API_##symbol] = async_form,
#include "interpose/api/api.def"
};

int implicit_has_async_form(uint16_t api)
{
    return driver_real[async_row[api]][0] != NULL;
}

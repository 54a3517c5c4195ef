/* SPDX-License-Identifier: Apache-2.0
 *
 * The table as data: a number for each row and what the shim and its tests need to know about it at run time.
 */
#ifndef PTDS_API_H
#define PTDS_API_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/api/cuda_abi.h"

enum api_id {
#define API_PTSZ(symbol, ...) API_##symbol,
#define API_PTDS(symbol, ...) API_##symbol,
#define API(symbol, ...) API_##symbol,
#include "interpose/api/api.def"
    API_COUNT
};

enum api_twin { API_TWIN_NONE = 0, API_TWIN_PTSZ = 1, API_TWIN_PTDS = 2 };

/* Where the stream is; see api.def. IMPLICIT is what the API_PTDS rows have. */
enum api_route {
    ROUTE_NO_STREAM,
    ROUTE_STREAM,
    ROUTE_STREAM2,
    ROUTE_STREAM_AT,
    ROUTE_CONFIG,
    ROUTE_UPLOAD,
    ROUTE_KEEP,
    ROUTE_KEEP_IF,
    ROUTE_MULTI,
    ROUTE_LEGACY,
    ROUTE_IMPLICIT
};

/* Whether the host could tell by the call that work is pending which it was promised to be done; see api.def. */
enum api_told { TOLD_NO, TOLD_WAITS, TOLD_SETTLE_FIRST, TOLD_SETTLE_MEMORY, TOLD_SETTLE_ASKED, TOLD_SETTLE_ON_FAILURE };

struct api_row {
    const char *symbol;
    const char *twin_symbol; /* NULL where there is none */
    uint32_t since, twin_since;
    uint8_t twin;   /* enum api_twin */
    uint8_t route;  /* enum api_route */
    uint8_t class_; /* enum ptds_class */
    uint8_t timed;
    uint8_t told; /* enum api_told */
};

extern const struct api_row api_rows[API_COUNT];

/* The row of an exported name: its number, with *twin set where the name is the twin's; -1 unknown. Any thread, no locks.
 */
int api_find(const char *symbol, int *twin);

#endif

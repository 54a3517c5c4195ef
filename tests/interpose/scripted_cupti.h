/* SPDX-License-Identifier: Apache-2.0
 *
 * What a test and the libcupti that it scripts know of each other.
 */
#ifndef PTDS_TESTS_SCRIPTED_CUPTI_H
#define PTDS_TESTS_SCRIPTED_CUPTI_H

#include <stdint.h>

#include <cupti.h>

enum { SCRIPTED_RECORD = 256 }; /* bytes from one record of a buffer to the next */

struct scripted_cupti {
    uint32_t version; /* 0: it does not say */
    uint64_t now;     /* 0: likewise */
    CUpti_ActivityThreadIdType thread_ids;
    int refuses_callbacks;
    CUpti_ActivityKind refuses_kind; /* 0: none */
    /* what it was told */
    CUpti_BuffersCallbackRequestFunc give;
    CUpti_BuffersCallbackCompleteFunc take;
    uint64_t enabled; /* bits, by kind */
    uint32_t flush_ms;
    uint64_t pushed; /* the latest */
    unsigned pops;
};

#endif

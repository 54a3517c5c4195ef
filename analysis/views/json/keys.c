/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of keys.h. A new reason or kind needs its word here, or the build fails.
 */
#include "analysis/views/json/keys.h"

#define COMPLETE(words, last) _Static_assert(sizeof(words) / sizeof *(words) == (last), "a word for each")

const char *const edge_kind_keys[] = {"fan_in", "fan_out", "fifo", "host"};
COMPLETE(edge_kind_keys, EDGE_KINDS);
const char *const verdict_reason_keys[] = {"none", "opaque", "access", "extent", "race", "lost", "limit", "host", "time"};
COMPLETE(verdict_reason_keys, VERDICT_REASONS);
const char *const repair_wait_keys[] = {"stream", "host_before", "host_after"};
COMPLETE(repair_wait_keys, REPAIR_WAIT_KINDS);
const char *const access_keys[] = {"none", "read", "write", "unknown"};
COMPLETE(access_keys, ACCESSES);
const char *const startup_keys[] = {"allocating_ns", "pinning_ns", "loading_ns"};
COMPLETE(startup_keys, STARTUP_KINDS);
const char *const report_kept_keys[] = {"by_policy", "capture",  "refused",       "excluded",
                                        "no_way",    "explicit", "detail_dropped"};
COMPLETE(report_kept_keys, KEPT_REASONS);

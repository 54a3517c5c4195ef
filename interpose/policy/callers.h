/* SPDX-License-Identifier: Apache-2.0
 *
 * PTDS_EXCLUDE and PTDS_INCLUDE: calls from which objects keep the legacy stream.
 */
#ifndef PTDS_CALLERS_H
#define PTDS_CALLERS_H

/* 1 if calls from this address keep the legacy stream. Any thread; cached. */
int callers_excluded(const void *caller);

/* 1 if either list is set. */
int callers_filter_on(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PTDS_TESTS_LEAKS_H
#define PTDS_TESTS_LEAKS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this process can look for leaks when it ends. Any thread; forks. */
bool leaks_are_seen(void);

#ifdef __cplusplus
}
#endif

#endif

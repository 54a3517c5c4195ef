/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's own messages: one line on stderr, prefixed "ptds: ", each at most once a process.
 */
#ifndef PTDS_DIAG_H
#define PTDS_DIAG_H

enum diag_kind { DIAG_ERROR = 1, DIAG_DEBUG = 2 };

/* Sets what is printed: 0 nothing, 1 errors, 2 errors and debug lines (enum env_diag). */
void diag_level(int level);

/* Writes the strings, which end with a NULL, as one line in one write(2), cut to 1 KiB; nothing where the level is below
 * `kind`. Keeps errno. Any thread, any time, no allocation. */
void diag_line(enum diag_kind kind, ...);

/* The same, once for this place in the code. */
#define diag_once(kind, ...) \
    do { \
        static unsigned char said; \
        if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) \
            diag_line(kind, __VA_ARGS__, NULL); \
    } while (0)

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * All rooms of this folder together: see README.md.
 */
#ifndef PTDS_FOOTPRINT_H
#define PTDS_FOOTPRINT_H

/* Hears of threads and contexts that end from now on, and answers the recorder. Before the first wrapper goes on. */
void footprint_listen(void);

/* In a forked child: forget what belonged to the parent. */
void footprint_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The beginning and the end of the shim in a process, and what happens around fork.
 */
#ifndef PTDS_LIFECYCLE_H
#define PTDS_LIFECYCLE_H

/* On the first driver call of a process that the shim works in. Once; any thread. */
void lifecycle_start(void);

#endif

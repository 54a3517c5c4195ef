/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX's door, which the program's copy of NVTX opens by the name InitializeInjectionNvtx2.
 */
#ifndef PTDS_NVTX_H
#define PTDS_NVTX_H

/* In a forked child. */
void nvtx_after_fork(void);

#endif

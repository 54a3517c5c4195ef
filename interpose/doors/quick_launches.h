/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches by the guard's short way.
 */
#ifndef PTDS_QUICK_LAUNCHES_H
#define PTDS_QUICK_LAUNCHES_H

/* The launches' wrappers try the short way from now on. `recorded`: launches are recorded. Once. */
void quick_launches(int recorded);

#endif

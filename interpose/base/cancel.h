/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps pthread_cancel away from what must not stay half done: the thread goes later, in the program's own calls.
 */
#ifndef PTDS_CANCEL_H
#define PTDS_CANCEL_H

/* Off until cancel_back, which is given what cancel_off returned. Calls nest. */
int cancel_off(void);
void cancel_back(int before);

#endif

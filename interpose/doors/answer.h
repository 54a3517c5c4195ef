/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C side of a door tells its assembly stub.
 */
#ifndef PTDS_ANSWER_H
#define PTDS_ANSWER_H

#include <stdint.h>

struct answer {
    uintptr_t answered; /* 0: jump to the real function */
    void *value;
};

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel's code says, as a record.
 */
#ifndef PTDS_KERNEL_CODE_H
#define PTDS_KERNEL_CODE_H

#include <stdint.h>

struct code_facts;

/* Beside the kernel's own record, once, when its code was read. */
void kernel_code_record(uint32_t uid, const struct code_facts *facts);

#endif

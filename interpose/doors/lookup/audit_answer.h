/* SPDX-License-Identifier: Apache-2.0
 *
 * The auditor's way into the shim, which finds the function by its name: the two are libraries of their own.
 */
#ifndef PTDS_AUDIT_ANSWER_H
#define PTDS_AUDIT_ANSWER_H

#include <stdint.h>

/* What a reference to `name`, which the loader has bound to `found`, is to be bound to; `found` where that is right. Called
 * in the loader, with its locks held, from any thread. Keeps errno. */
uintptr_t ptds_audit_answer(const char *name, uintptr_t found);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment's variables of the shim, also after the program has cleared its environment.
 */
#ifndef PTDS_ENV_VALUE_H
#define PTDS_ENV_VALUE_H

/* The value of a variable whose name begins with PTDS_: as it is now; where it is not set, as it was when the process
 * began; NULL: it was not set then, either. Any thread; takes no lock, allocates nothing. */
const char *env_value(const char *name);

#endif

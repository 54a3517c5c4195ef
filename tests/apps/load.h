/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading a kernel's text: as it is, or as the machine code that the driver's linker makes of it.
 */
#ifndef PTDS_TESTS_LOAD_H
#define PTDS_TESTS_LOAD_H

#include <cuda.h>

/* Not 0: load_text has the text linked first, so that the module is loaded from machine code. The simulated driver has no
 * linker.
 */
extern int load_links;

CUresult load_text(CUmodule *module, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Where libptds.so and its auditor are, and how a program gets them.
 */
#ifndef PTDS_ANALYSIS_CMD_SHIM_LIBRARY_H
#define PTDS_ANALYSIS_CMD_SHIM_LIBRARY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The absolute path of libptds.so: $PTDS_LIBRARY, or beside this command as installed or as built. `path` has PATH_MAX
 * bytes. False with a message in `error` that names every place looked at. */
enum { LIBRARY_ERROR_SIZE = 2048 };

bool shim_library_find(char *path, char *error);

/* Puts the library first into LD_PRELOAD of this process's environment, keeping what is there. False with a message in
 * `error` (LIBRARY_ERROR_SIZE) if the path cannot be written into LD_PRELOAD. */
bool shim_library_preload(const char *path, char *error);

/* The path of the auditor beside the library, into `auditor` (PATH_MAX). False with a message in `error`
 * (LIBRARY_ERROR_SIZE), also where the glibc of this machine would make every program pay for it. */
bool shim_library_auditor(const char *library, char *auditor, char *error);

/* Puts the auditor last into LD_AUDIT of this process. False with a message in `error`. */
bool shim_library_audit(const char *library, char *error);

#ifdef __cplusplus
}
#endif
#endif

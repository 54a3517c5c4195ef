/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the auditor writes to, in the shim. It does so before anything of the shim has run, so this must be ready without
 * code: a constant initialiser alone.
 */
#include "interpose/base/audited.h"

__attribute__((visibility("default"))) struct ptds_audited ptds_audited = {.version = AUDITED_VERSION,
                                                                           .self = &ptds_audited};

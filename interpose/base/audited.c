/* SPDX-License-Identifier: Apache-2.0
 *
 * What the auditor writes into, in the shim. It does so before anything of the shim has run, so nothing here may be set up.
 */
#include "interpose/base/audited.h"

__attribute__((visibility("default"))) struct ptds_audited ptds_audited = {.version = AUDITED_VERSION,
                                                                           .self = &ptds_audited};

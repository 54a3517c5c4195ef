/* SPDX-License-Identifier: Apache-2.0
 *
 * What makes two findings the same one: in two processes of a run, or in two runs. Addresses, uids and numbers of calls
 * differ from run to run, so none of them counts.
 */
#ifndef PTDS_ANALYSIS_FINDINGS_IDENTITY_H
#define PTDS_ANALYSIS_FINDINGS_IDENTITY_H

#include "analysis/findings/finding.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct finding_id {
    char text[17]; /* 16 hex digits; empty: none */
};

/* An id made of the rule, the detail, the driver function and each frame of the call site as (build id, or the base
 * name of the object where it has none; offset). The same for the same binaries. Code outside every object (of a
 * just-in-time compiler) counts as a frame without a place. */
struct finding_id identity_of(const struct trace *trace, const struct finding *finding);

/* An id made of the function that called CUDA (caller.h) instead of the frames. It survives a rebuild, another policy
 * (which may record other stacks), and other builds of the libraries between. Empty if that function has no name. */
struct finding_id identity_of_place(const struct trace *trace, struct site_namer *namer, const struct finding *finding);

/* A hash of a call site by the same names, for places that are no findings. kernel may be NULL. */
uint64_t identity_of_site(const struct trace *trace, uint32_t api, uint32_t stack, const char *kernel);

#ifdef __cplusplus
}
#endif
#endif

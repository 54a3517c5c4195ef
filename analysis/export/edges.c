/* SPDX-License-Identifier: Apache-2.0
 *
 * Which verdicts this build can give. Called by `ptds export` and `ptds check`.
 */
#include "analysis/export/export.h"

struct edge_feed *edge_feed_of_build(void)
{
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks themselves. Filled in by the folders above before the first wrapper goes on, then constant.
 */
#include "interpose/state/hooks.h"

struct state_hooks state_hooks;

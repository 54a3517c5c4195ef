/* SPDX-License-Identifier: Apache-2.0
 *
 * Between capture.c and capture_api.c: opening and closing a capture. Locked, all of them.
 */
#ifndef PTDS_TESTS_SIM_CAPTURE_H
#define PTDS_TESTS_SIM_CAPTURE_H

#include "tests/sim/sim.h"

struct capture *capture_open(struct stream *s, CUstreamCaptureMode mode, struct graph *graph); /* graph NULL: a new one */
struct graph *capture_close(struct capture *c);
bool capture_joined(const struct capture *c);

#endif

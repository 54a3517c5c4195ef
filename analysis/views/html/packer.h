/* SPDX-License-Identifier: Apache-2.0
 *
 * Little-endian numbers, deflated and in base64, to a sink. Streams: needs no memory for the packed form.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_PACKER_H
#define PTDS_ANALYSIS_VIEWS_HTML_PACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "analysis/base/sink.h"
#include "analysis/views/report_words.h"

struct packer {
    z_stream z;
    struct text_sink *sink;
    unsigned char in[1 << 14], out[3 << 12];
    size_t used;
};

/* Begins. False without memory: then there is nothing to end. */
bool packer_begin(struct packer *packer, struct text_sink *sink);
void packer_put(struct packer *packer, uint32_t value, unsigned bytes);
void packer_end(struct packer *packer);

#endif

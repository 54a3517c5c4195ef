/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and arguments of events of the Perfetto export.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_NAMES_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_PERFETTO_PERFETTO_NAMES_H

#include "analysis/views/export/perfetto/perfetto_writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the event at hand: its function, or the work that it is. */
void perfetto_names_api(struct writer *writer, uint32_t api);

void perfetto_names_work(struct writer *writer, const struct call_view *view);

/* Arguments of the event at hand; nothing where the id is 0. */
void perfetto_names_stream_argument(struct writer *writer, const char *key, uint32_t uid);

void perfetto_names_kernel_argument(struct writer *writer, uint32_t uid);

void perfetto_names_site_argument(struct writer *writer, uint32_t stack);

#ifdef __cplusplus
}
#endif
#endif

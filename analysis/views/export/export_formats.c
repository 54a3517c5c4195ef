/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of export formats: the only file that knows all of them. Called by `ptds export`.
 */

#include "analysis/views/export/export_formats.h"

#include "analysis/views/export/export_job.h"

const struct export_format export_formats[] = {
    {"perfetto", "native Perfetto trace, for ui.perfetto.dev", ".perfetto-trace", false, false, export_perfetto},
    {"sqlite", "SQLite database with nsys' tables: its queries run on it", ".sqlite", true, false, export_sqlite},
    {"folded", "folded stacks by host time lost, for flame graphs", NULL, false, false, export_folded},
    {"sarif", "SARIF 2.1.0, for code scanning: findings with a source line", NULL, false, true, export_sarif},
};
const size_t export_formats_count = sizeof export_formats / sizeof export_formats[0];

/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours of what the verbs print on a terminal.
 */
#ifndef PTDS_ANALYSIS_CMD_TERMINAL_COLOUR_H
#define PTDS_ANALYSIS_CMD_TERMINAL_COLOUR_H

#ifdef __cplusplus
extern "C" {
#endif

/* From here on, lines on stdout get colours, unless it is no terminal or NO_COLOR forbids it; colour_off: no more. */
void colour_begin(void);

void colour_off(void);

#ifdef __cplusplus
}
#endif
#endif

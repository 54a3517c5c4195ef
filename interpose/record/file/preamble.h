/* SPDX-License-Identifier: Apache-2.0
 *
 * What every trace starts with.
 */
#ifndef PTDS_PREAMBLE_H
#define PTDS_PREAMBLE_H

/* Defines the table's names, the settings, the launcher's variables and facts about the process. Once. */
void preamble_define(void);

#endif

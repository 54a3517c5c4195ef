/* SPDX-License-Identifier: Apache-2.0
 *
 * What may have reached the driver past the doors.
 */
#ifndef PTDS_RECORD_BYPASS_H
#define PTDS_RECORD_BYPASS_H

/* The program opens `file` with RTLD_DEEPBIND, by a name that only the loader can follow. Any thread, inside the loader;
 * keeps a copy of the name, and no more than 16 of them. */
void bypass_opened_deep(const char *file);

/* Whether a dlmopen namespace has a driver of its own. */
int bypass_in_a_namespace(void);

/* Writes down what the loaded objects show. At the end of the record. */
void bypass_record(void);

#endif

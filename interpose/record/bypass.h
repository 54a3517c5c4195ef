/* SPDX-License-Identifier: Apache-2.0
 *
 * What may have reached the driver past the doors.
 */
#ifndef PTDS_RECORD_BYPASS_H
#define PTDS_RECORD_BYPASS_H

/* The program opens this with RTLD_DEEPBIND, by a name that only the loader can follow. Any thread; keeps nothing but a
 * copy. */
void bypass_opened_deep(const char *file);

/* Whether a dlmopen namespace has a driver of its own. */
int bypass_in_a_namespace(void);

/* Writes down what the loaded objects show. At the end of the record. */
void bypass_record(void);

#endif

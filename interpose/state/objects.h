/* SPDX-License-Identifier: Apache-2.0
 *
 * Events and functions, whose book-keeping is the footprint's, for those below it.
 */
#ifndef PTDS_OBJECTS_H
#define PTDS_OBJECTS_H

void objects_event_created(struct call *C, const CUevent *event, unsigned flags);
void objects_event_gone(struct call *C, CUevent event);
void objects_event_left(const struct call *C, CUevent event);
void objects_event_in_graph(CUevent event); /* launches of a graph record it */

/* Function handles may come back as other functions: before a module or context goes. */
void objects_functions_going(void);

void objects_handles_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * How many lanes may have work at once, so that a queue of the device is left to each stream of the program. Only for the
 * guard's own files and the policies that make lanes.
 */
#ifndef PTDS_QUEUE_SHARE_H
#define PTDS_QUEUE_SHARE_H

/* What is counted of a context, under the guard's lock. */
struct queue_share {
    unsigned others; /* streams of the program that work or worked, 0x2 and the real legacy stream among them */
    unsigned lanes;  /* how many of the pool's may be worked on: its first ones. Read anywhere; 0 no limit */
};

/* Before the driver is initialised, which reads it then: more queues, if the program's environment does not say how many.
 * With the driver's 8 there would be 4 lanes. Each queue takes 13 ms when a context is made, and 0.25 MB (docs/queues.md).
 */
void queue_share_ask_for_more(void);

/* Before the first context: from then on lanes are limited. Without it, as in tests of the guard alone, they are not. */
void queue_share_limit(void);

/* As many lanes as a context without other streams may have; UINT_MAX: no limit. */
unsigned queue_share_most_lanes(void);

/* One more stream works, or one less does. 1: there are fewer lanes now. */
int queue_share_crowd(struct queue_share *crowd, int more);

/* All is done, so more may be given. 1: there are more. */
int queue_share_anew(struct queue_share *crowd);

#endif

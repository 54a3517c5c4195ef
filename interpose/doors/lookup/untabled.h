/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of the driver that the table does not know, though they have a per-thread twin: so they treat the default
 * stream.
 */
#ifndef PTDS_UNTABLED_H
#define PTDS_UNTABLED_H

/* Both addresses of such a function, and which of them was asked for under the name. */
struct untabled {
    const char *name;
    void *legacy, *twin;
    int is_twin;
    int version; /* of CUDA, as asked for; 0: by dlsym */
};

/* What to hand out, remembered for the report. caller is an address inside the object that asked. Runs inside dlsym: no
 * locks but its own, no allocation. */
void *untabled_answer(const struct untabled *function, const void *caller);

/* Writes down what was found before the recorder ran, and at the end how often each was called. */
void untabled_report(void);
void untabled_report_calls(void);

/* In a forked child. */
void untabled_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the auditor (audit/auditor.c) and the shim know of each other. The shim exports both names; the auditor finds
 * them there while the program is being loaded, before the shim has been relocated.
 */
#ifndef PTDS_AUDITED_H
#define PTDS_AUDITED_H

#include <stdint.h>

enum { AUDITED_VERSION = 1, AUDITED_OBJECTS = 4, AUDITED_NAME = 256 };

/* An object outside the shim's namespace that has referred to, or looked up, functions of a driver there. */
struct audited_object {
    const void *map; /* the loader's description; NULL: the place is free. Compared only */
    uint32_t functions;
    uint32_t named; /* 1 once the name is there */
    char name[AUDITED_NAME];
};

struct ptds_audited {
    uint32_t version; /* AUDITED_VERSION of the shim: an auditor that knows another one leaves it alone */
    uint32_t present; /* the auditor: 1, it is here */
    uint32_t bound;   /* the auditor: references that it has led to the shim */

    const struct ptds_audited *self; /* the address of this as soon as the shim has been relocated, and may be called */
    struct audited_object elsewhere[AUDITED_OBJECTS];
};

extern struct ptds_audited ptds_audited;

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds a program's order under the guard against legacy's.
 */
#ifndef PTDS_TESTS_GUARD_CHECK_H
#define PTDS_TESTS_GUARD_CHECK_H

#include "tests/guard/program.h"

namespace ptds_test
{

enum class Fault : uint8_t {
    None,
    Plan,    /* can't be carried out, or says what is not so */
    Sound,   /* two calls that conflict lost their order */
    Host,    /* the same, where the order came from a host that had waited */
    Join,    /* the host may conclude something that is not so */
    Minimal, /* an order that legacy has not */
    Waits,   /* a host that waits for more than under legacy: it may be what the rest waits for */
    Said, /* under strict: a wait is said to be for a conflict that nothing else orders, and is not; or the other way round
           */
    Needless, /* waits of a call that nothing promised conflicts with */
    Count
};

struct Verdict {
    Fault fault = Fault::None;
    int earlier = -1, later = -1; /* the calls that it is about */
    const char *error = nullptr;
    long operations = 0, waits = 0;
    long spare = 0; /* waits without which all that is needed would hold */
    long again = 0; /* operations by a claim */
    long wide = 0;  /* programs with a wait that covered too much for want of a mark */
};

struct Checks {
    bool all = true;        /* each call, not the last alone: its beginnings were checked before */
    bool host_order = true; /* what a host's wait ordered counts as promised */
    bool host_waits = true; /* for more than under legacy are a fault */
    bool needless = true;   /* is a fault */
    bool strict = false;    /* what conflicts comes in the order of the calls, whatever is promised */
};

Verdict check(const Program &program, const Checks &checks);

/* The smallest program made of this one's calls that has the same fault. */
Program shrink(const Program &program, const Checks &checks, Fault fault);

/* A program and what is wrong with it. */
std::string describe(const Program &program, const Verdict &verdict);

const char *name(Fault fault);

} // namespace ptds_test

#endif

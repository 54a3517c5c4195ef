/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of asked_child, which asked_steps.cc does:
 *
 *     N>STEP           in thread N (1 to 3); else in the first
 *     ~STEP            by the per-thread form of the function
 *     STREAM           0, 1, 2 or a name; MEMORY: one of the names below, whole, or with 0 or 1 its half
 *         A B C D device, P Q pinned, M managed, H I pageable, X Y as they come and go
 *     stream:a  nbstream:a  priostream:a  destroy:a  event:e  timed:e  drop:e  context:c  farcontext:c (of the second
 * device)  use:c  push:c  pop  none  gone:c fill:A@a  copy:AB@a  inc:A@a  nop@a  any@a  (kernels)    fillx:A@a
 * (cuLaunchKernelEx) set:A@a  cp:AB@a  ucp:AB@a  cp2d:AB@a  (on a stream)   sset:A  scp:AB  sucp:AB  scp2d:AB  (not)
 *     alloc:X@a  free:X@a  salloc:X  sfree:X  info (how much there is)
 *     record:e@a  recordx:e@a  wait:e@a  esync:e  equery:e  elapsed:ef  sync@a  query@a  all
 *     host@a  callback@a  value:A@a  attach:M@a
 *     begin@a  beginlocal@a  beginrelaxed@a  capturing@a  end:g@a  graph:g@a  upload:g@a  dropgraph:g
 *     flags@a  priority@a  attribute@a  attributes:a@b
 *     region:NAME  regionend  flush  relaxed (the thread's captures are)  reset (the device)
 *     own:a  ownthread:a  fail:FUNCTION:N:CODE
 *
 * What was not made, or is destroyed, is NULL.
 */
#ifndef PTDS_TESTS_ASKED_STEPS_H
#define PTDS_TESTS_ASKED_STEPS_H

#include <string>

#include "interpose/api/cuda_abi.h"
#include "tests/interpose/asked_log.h"

struct Step {
    std::string verb, subject, stream;
    bool twin = false;
    int thread = 1;
};

Step parse(std::string text);

/* What the steps need: a context, kernels, memory. `names` is told of them, and of all that steps make. */
bool start(AskedLog *names);
/* Makes that context current. */
void enter();
CUresult does(const Step &step);

#endif

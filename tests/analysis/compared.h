/* SPDX-License-Identifier: Apache-2.0
 *
 * Two histories compared, and the comparison in the forms it can be written in. For fuzzing.
 */
#ifndef PTDS_TESTS_ANALYSIS_COMPARED_H
#define PTDS_TESTS_ANALYSIS_COMPARED_H

#include "analysis/check/results.h"
#include "analysis/compare/compare.h"
#include "analysis/views/check/check_views.h"
#include "analysis/views/compare/diff_views.h"
#include "tests/analysis/support.h"

namespace ptds
{

enum { FORMS = 7, ALL_FORMS = (1 << FORMS) - 1 };

/* True: something differs. `forms`: bits of those it is written in. */
inline bool Compared(const history &before, const history &now, unsigned forms = ALL_FORMS)
{
    unsigned form = 0;
    bool differs = false;
    comparison comparison;
    check_results results = {};
    conditions any = {};
    diff diff = {};
    TextOf out;
    any.any = any.differences[MORE_CALLS] = any.differences[SLOWER] = true;
    compare(&comparison, &before, &now, TOLERANCE_DEFAULT);
    for (size_t i = 0; i < comparison.list.count; i++)
        differs |= comparison.list.items[i].change != CHANGE_NONE;
    results_compare(&results, &any, &comparison);
    for (check_writer *writer : {check_text, check_markdown, check_junit, check_json})
        if (forms >> form++ & 1)
            writer(&results, &out);
    diff.comparison = &comparison;
    diff.name[BEFORE] = diff.name[AFTER] = "";
    diff.all = true;
    for (diff_writer *writer : {diff_text, diff_markdown, diff_json})
        if (forms >> form++ & 1)
            writer(&diff, &out);
    results_free(&results);
    compare_free(&comparison);
    return differs;
}

} // namespace ptds

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * How told.h and told_many.h write: lines of words, and the sums that a process and several have alike. What is 0 is left
 * out.
 */
#ifndef PTDS_TESTS_ANALYSIS_TOLD_LINES_H
#define PTDS_TESTS_ANALYSIS_TOLD_LINES_H

#include <cstdint>
#include <string>

#include "analysis/report/sums.h"

namespace ptds
{

class ToldLines
{
public:
    std::string text;

protected:
    void Line(const std::string &begin)
    {
        text += (text.empty() ? "" : "\n") + begin;
    }
    void Word(const std::string &word)
    {
        text += " " + word;
    }
    void Number(const std::string &name, uint64_t value)
    {
        if (value != 0)
            Word(name + "=" + std::to_string(value));
    }
    /* A sentence of a report by the numbers in it: its wording is held elsewhere. */
    void Sentence(const std::string &begin, const char *sentence)
    {
        Line(begin);
        std::string number;
        for (const char *c = sentence;; c++) {
            if (*c >= '0' && *c <= '9') {
                number += *c;
            } else if (!number.empty()) {
                Word(number);
                number.clear();
            }
            if (*c == '\0')
                return;
        }
    }
    void Sum(const std::string &name, const struct sum &sum)
    {
        if (sum.findings != 0)
            Word(name + "=" + std::to_string(sum.findings) + "/" + std::to_string(sum.calls) + "/" +
                 std::to_string(sum.host_ns) + "/" + std::to_string(sum.known));
    }
    void Sums(const struct sums &sums)
    {
        for (size_t i = 0; i < sums.rules.count; i++) {
            const struct rule_sum &sum = sums.rules.items[i];
            Line("sum " + std::string(sum.rule->id));
            Sum("all", sum.all);
            Sum("shown", sum.shown);
            Sum("errors", sum.errors);
            Number("top", sum.top != nullptr ? sum.top->serial : 0);
            Number("error", sum.error != nullptr ? sum.error->serial : 0);
        }
        for (size_t i = 0; i < sums.causes.count; i++) {
            Line("cause " + std::string(sums.causes.items[i].name));
            Number("library", sums.causes.items[i].library);
            Number("folds", sums.causes.items[i].folds);
            Sum("all", sums.causes.items[i].sum);
        }
    }
};

} // namespace ptds

#endif

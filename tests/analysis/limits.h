/* SPDX-License-Identifier: Apache-2.0
 *
 * How tests hold a rule to its limits: rows of traces and of what it finds in each.
 */
#ifndef PTDS_TESTS_ANALYSIS_LIMITS_H
#define PTDS_TESTS_ANALYSIS_LIMITS_H

#include <gtest/gtest.h>

#include "tests/analysis/support.h"

namespace ptds
{

/* The findings of a rule, each "detail severity calls ns", what it waits for and its numbers. */
inline std::string Of(const std::string &rule, const std::string &trace)
{
    Built report(BuildTrace(trace));
    std::string all;
    for (const finding *one : report.Of(rule)) {
        all += (all.empty() ? "" : "; ") + std::to_string(one->detail) + " " + severity_names[one->severity] + " " +
               std::to_string(one->count) + (one->unknown != 0 ? " ?" : " " + std::to_string(one->host_ns));
        for (uint32_t i = 0; i < one->sets[FINDING_WAITS_FOR].count; i++)
            all += (i == 0 ? " #" : ",") + std::to_string(one->sets[FINDING_WAITS_FOR].id[i]);
        for (const finding_number &number : one->numbers)
            if (number.key != nullptr)
                all += std::string(" ") + number.key + "=" + std::to_string(number.value);
    }
    return all;
}

/* Calls a microsecond apart, "%" their number, from `first` on. */
inline std::string Each(unsigned first, unsigned count, unsigned thread, const std::string &call)
{
    std::string text;
    for (unsigned i = 0; i < count; i++) {
        std::string one = call;
        for (size_t at; (at = one.find('%')) != std::string::npos;)
            one.replace(at, 1, std::to_string(i + 1));
        text += std::to_string(thread) + "@" + std::to_string(first + i) + " " + one + "\n";
    }
    return text;
}

struct Row {
    const char *what;
    std::string trace, findings;
};

inline void Hold(const std::string &rule, const std::vector<Row> &rows)
{
    for (const Row &row : rows)
        EXPECT_EQ(row.findings, Of(rule, row.trace)) << rule << ": " << row.what;
}

} // namespace ptds

#endif

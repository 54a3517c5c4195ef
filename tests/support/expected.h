/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that are held against a file, line by line.
 */
#ifndef PTDS_TESTS_SUPPORT_EXPECTED_H
#define PTDS_TESTS_SUPPORT_EXPECTED_H

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/run_child.h"

namespace ptds
{

/* The first line that differs, with the form that it is of and what stands around it. */
inline std::string Difference(const std::string &expected, const std::string &seen)
{
    std::vector<std::string> old = lines_of(expected), now = lines_of(seen);
    std::string form;
    for (size_t i = 0; i < std::max(old.size(), now.size()); i++) {
        std::string one = i < old.size() ? old[i] : "(end)", two = i < now.size() ? now[i] : "(end)";
        if (one.compare(0, 6, "===== ") == 0)
            form = one.substr(6);
        if (one != two)
            return form + ", line " + std::to_string(i + 1) + "\n  expected: " + one + "\n  seen:     " + two;
    }
    return "";
}

/* What is seen instead goes to the test's outputs, by the file's name. */
inline void ExpectAllOf(const std::string &path, const std::string &seen)
{
    std::string difference = Difference(read_file(path), seen);
    EXPECT_EQ("", difference) << path;
    const char *outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
    if (!difference.empty() && outputs != nullptr)
        std::ofstream(outputs + path.substr(path.rfind('/'))) << seen;
}

} // namespace ptds

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests as two columns: what the program does, and what the driver sees of it.
 */
#ifndef PTDS_TESTS_STEPS_TEST_H
#define PTDS_TESTS_STEPS_TEST_H

#include "tests/interpose/shim_test.h"

namespace ptds
{

struct Does {
    const char *program, *driver;
};

inline std::vector<std::string> steps_of(const std::vector<Does> &steps)
{
    std::vector<std::string> programs;
    for (const Does &step : steps)
        programs.push_back(step.program);
    return programs;
}

inline void expect_steps(const Outcome &run, const std::vector<Does> &steps)
{
    std::vector<std::string> seen = lines_of(run.out);
    EXPECT_EQ(run.err, "");
    ASSERT_EQ(run.exit, 0) << run;
    ASSERT_EQ(seen.size(), steps.size()) << run;
    for (size_t i = 0; i < steps.size(); i++)
        EXPECT_EQ(seen[i], steps[i].driver) << "step " << i + 1 << ", " << steps[i].program;
}

/* Under a policy, once without a record and once with one: the driver sees the same. */
inline void expect_policy(const std::string &policy, const std::vector<Does> &steps, Settings settings = {})
{
    settings["PTDS_POLICY"] = policy;
    settings["CUDA_DEVICE_MAX_CONNECTIONS"] = "8"; /* four lanes */
    for (bool recorded : {false, true}) {
        SCOPED_TRACE(recorded ? "recorded" : "not recorded");
        Folder folder;
        if (recorded)
            settings["PTDS_TRACE"] = folder / "trace";
        expect_steps(run(shimmed("steps_child", steps_of(steps), settings)), steps);
    }
}

} // namespace ptds

#endif

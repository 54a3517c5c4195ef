/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of a made-up trace, replayed under each policy. For the tests of what-if.
 */
#ifndef PTDS_TESTS_ANALYSIS_WHATIF_RUN_H
#define PTDS_TESTS_ANALYSIS_WHATIF_RUN_H

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analysis/views/text/whatif_text.h"
#include "analysis/whatif/whatif.h"
#include "tests/analysis/support.h"

namespace ptds
{

class WhatIf
{
public:
    explicit WhatIf(const std::string &text, const char *policy = "observe")
        : trace_(BuildTrace("setting policy=" + std::string(policy) + "\n" + text)), report_(new struct report)
    {
        char message[TRACE_ERROR_SIZE] = "";
        recorded_begin(&recorded_);
        EXPECT_EQ(0, report_build_watched(report_.get(), trace_.source(), nullptr, &recorded_.watch, message)) << message;
        found = whatif_of(report_.get(), &recorded_);
        TextOf out;
        whatif_text(&found, &out);
        said = out.text;
    }
    ~WhatIf()
    {
        report_end(report_.get());
        recorded_end(&recorded_);
    }
    WhatIf(const WhatIf &) = delete;

    /* A policy's bounds in ms, without the 5 % by which runs of one program differ. */
    double Least(unsigned i) const
    {
        return double(found.policies[i].least) * 1.05 / 1e6;
    }
    double Most(unsigned i) const
    {
        return double(found.policies[i].most) / 1.05 / 1e6;
    }

    /* The whole of the interval lies between so many ms. */
    void Takes(unsigned policy, double from, double to) const
    {
        ASSERT_EQ(WHATIF_SURE, found.doubt) << said;
        for (unsigned i = 0; i < WHATIF_POLICIES; i++)
            if (whatif_policies[i] == policy) {
                EXPECT_LE(from, Least(i) + 1e-5) << whatif_names[i] << '\n' << said;
                EXPECT_GE(to, Most(i) - 1e-5) << whatif_names[i] << '\n' << said;
            }
    }

    size_t steps() const
    {
        return recorded_.steps.count;
    }

    struct whatif found;
    std::string said;

private:
    MemoryTrace trace_;
    std::unique_ptr<struct report> report_;
    struct recorded recorded_;
};

/* Two threads, a kernel of 10 ms each; the second's ran behind the first's. */
inline std::string Two(const std::string &first, const std::string &second)
{
    return "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
           "1@100+2 launch s=L " +
           first + "\n2@101+2 launch s=L " + second +
           "\n1@110+10000 sync s=L\n2@111+20000 sync s=L\n"
           "device-run 1@100 105+10000\ndevice-run 2@101 10106+10000\n";
}

} // namespace ptds

#endif

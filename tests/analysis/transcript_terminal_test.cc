// SPDX-License-Identifier: Apache-2.0
//
// What is shown on a terminal (`tty COMMAND` gives it one of 80 columns, and shows escapes as ^[): colours of every kind of
// line, as many rows as there are, a pager where the text is long, a line of
// progress where it takes long.
#include "tests/analysis/transcript.h"

namespace ptds
{
namespace
{

TEST_P(Transcript, IsWhatIsShown)
{
    if (Run("command -v script").find("(") != std::string::npos)
        GTEST_SKIP() << "no command script here (util-linux): no terminal to be had";
    Expect();
}

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::Values("terminal", "progress"), TranscriptName);

} // namespace
} // namespace ptds

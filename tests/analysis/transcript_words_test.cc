// SPDX-License-Identifier: Apache-2.0
//
// What is said of wrong options, and what is made of the table of verbs.
#include "tests/analysis/transcript.h"

namespace ptds
{
namespace
{

TEST_P(Transcript, IsWhatIsSaid)
{
    Expect();
}

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::Values("usage", "help", "completion"), TranscriptName);

} // namespace
} // namespace ptds

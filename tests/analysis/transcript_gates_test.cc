// SPDX-License-Identifier: Apache-2.0
//
// What fails and what changed, whole.
#include "tests/analysis/transcript.h"

namespace ptds
{
namespace
{

TEST_P(Transcript, IsWhatIsSaid)
{
    Expect();
}

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::Values("check", "diff"), TranscriptName);

} // namespace
} // namespace ptds

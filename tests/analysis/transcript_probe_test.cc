// SPDX-License-Identifier: Apache-2.0
//
// What `ptds probe` does with a program: which runs there are, what they find, what is made of what they leave.
#include "tests/analysis/transcript.h"

namespace ptds
{
namespace
{

TEST_P(Transcript, IsWhatIsSaid)
{
    NEEDS_A_PLAIN_SHIM();
    Expect();
}

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::Values("probe"), TranscriptName);

} // namespace
} // namespace ptds

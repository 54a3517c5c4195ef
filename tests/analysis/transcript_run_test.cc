// SPDX-License-Identifier: Apache-2.0
//
// What `ptds run` hands to a program, and why it does not run it; what `ptds doctor` says of made-up drivers.
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

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::Values("run", "watch"), TranscriptName);

} // namespace
} // namespace ptds

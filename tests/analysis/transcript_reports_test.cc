// SPDX-License-Identifier: Apache-2.0
//
// Reports, of whole traces, of parts of them, and of several at once, exports, and where to all of these can be written.
#include "tests/analysis/transcript.h"

namespace ptds
{
namespace
{

TEST_P(Transcript, IsWhatIsSaid)
{
    Expect();
}

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::Values("report", "selection", "several", "export", "written"),
                         TranscriptName);

} // namespace
} // namespace ptds

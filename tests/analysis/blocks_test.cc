// SPDX-License-Identifier: Apache-2.0
//
// blocks-of-one-allocation: when does a report say that PyTorch's allocator is why threads' work is kept in order?
#include <gtest/gtest.h>

#include <map>

#include "analysis/views/text/report_screen.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const char *const id = "blocks-of-one-allocation";
const std::string segment =
    "setting policy=guarded\n1@0 alloc ptr=0x200000 bytes=2097152 m=A site=segment@libc10_cuda.so\n";

/* Two threads by turns, a kernel each on these places, and the guard makes each wait for the one before. */
std::string Turns(unsigned count, const std::string &one, const std::string &other, unsigned from = 1, bool wait = true)
{
    std::string calls;
    for (unsigned i = from; i < from + count; i++) {
        std::string at = std::to_string(10 * i);
        calls += "1@" + at + "+1 launch s=L to=S1 k=_Z1aPf args=" + one + (wait && i != 1 ? " behind=S2\n" : "\n");
        calls += "2@" + at + "+2 launch s=L to=S2 k=_Z1aPf args=" + other + (wait ? " behind=S1\n" : "\n");
    }
    return calls;
}

/* "17 apart, 2 other"; "": nothing is said. */
std::string Said(const std::string &text)
{
    Built report(BuildTrace(text));
    EXPECT_EQ(0, report.status) << report.error;
    auto findings = report.Of(id);
    std::map<std::string, uint64_t> numbers;
    if (findings.empty())
        return "";
    EXPECT_EQ(1u, findings.size());
    for (const finding_number &number : findings[0]->numbers)
        if (number.key != nullptr)
            numbers[number.key] = number.value;
    return std::to_string(numbers["different_blocks"]) + " apart, " + std::to_string(numbers["other_orders"]) + " other";
}

TEST(Blocks, OfOneAllocationThatThreadsUseByTurns)
{
    EXPECT_EQ("19 apart, 0 other", Said(segment + Turns(10, "A", "A+1048576")));
    EXPECT_EQ("", Said(segment + Turns(10, "A", "A+1048576", 1, false))) << "nothing waits";
}

std::string Screen(const std::string &text)
{
    Built report(BuildTrace(text));
    TextOf out;
    report_screen(report.operator->(), nullptr, SCREEN_MOST_ROWS, &out);
    return out.text;
}

TEST(Blocks, AreOnTheFirstScreen)
{
    std::string screen = Screen(segment + Turns(10, "A", "A+1048576") +
                                "1@110+50000 sync s=L to=S1\n2@111+60000 sync s=L to=S2\n1@70000+3 sync s=L to=S1\n");
    EXPECT_NE(std::string::npos, screen.find("\n#1   blocks-of-one-allocation   unknown           warning\n"
                                             "      libc10_cuda.so\n"
                                             "      no policy removes it\n"
                                             "      -> Set PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync (from 2.11 on "
                                             "also\n"
                                             "         PYTORCH_ALLOC_CONF): each tensor is an allocation of its own "
                                             "then.\n"))
        << screen;
}

TEST(Blocks, AreToldOfOnlyWherePyTorchIsInTheProcess)
{
    std::string own = "setting policy=guarded\n1@0 alloc ptr=0x200000 bytes=2097152 m=A site=segment@libown.so\n";
    EXPECT_EQ("", Said(own + Turns(10, "A", "A+1048576")));
    EXPECT_EQ("19 apart, 0 other",
              Said(own + "1@1 launch s=L k=x site=mul@libtorch_cuda.so\n" + Turns(10, "A", "A+1048576")));
}

TEST(Blocks, AreNotToldOfWhereTensorsAreAllocationsAlready)
{
    const std::string by_stream = " alloc-async s=L ptr=0x800000 bytes=4096 m=B site=malloc@";
    EXPECT_EQ("", Said(segment + "1@1" + by_stream + "libc10_cuda.so\n" + Turns(10, "A", "A+1048576")));
    EXPECT_EQ("19 apart, 0 other", Said(segment + "1@1" + by_stream + "libcublas.so.12\n" + Turns(10, "A", "A+1048576")))
        << "another library's allocation says nothing of PyTorch's";
}

TEST(Blocks, MustBeWhatMostOrdersAreAbout)
{
    std::string shared = "1@0 alloc ptr=0x800000 bytes=4096 m=B\n";
    EXPECT_EQ("", Said(segment + Turns(10, "A", "A"))) << "the same block";
    EXPECT_EQ("", Said(segment + shared + Turns(9, "A", "A+1048576") + Turns(10, "B", "B", 50)));
    EXPECT_EQ("", Said(segment + Turns(8, "A", "A+1048576"))) << "15 orders and waits";
    EXPECT_EQ("17 apart, 0 other", Said(segment + Turns(9, "A", "A+1048576")));
}

TEST(Blocks, OrdersThatAreNotNeededAreNoOthers)
{
    std::string apart = "1@0 alloc ptr=0x800000 bytes=4096 m=B\n1@0 alloc ptr=0x900000 bytes=4096 m=C\n";
    EXPECT_EQ("17 apart, 0 other",
              Said(segment + apart + Turns(9, "A", "A+1048576") + "1@95+3 ctx-sync\n" + Turns(10, "B", "C", 50)));
}

TEST(Blocks, AreNotOfOneThread)
{
    std::string calls = segment;
    for (unsigned i = 1; i <= 20; i++) {
        std::string at = std::to_string(10 * i);
        calls += "1@" + at + " launch s=L to=S1 k=_Z1aPf args=A behind=B1\n";
        calls += "1@" + at + " launch s=B1 k=_Z1aPf args=A+1048576 behind=S1\n";
    }
    EXPECT_EQ("", Said(calls)) << "the default stream and a blocking stream of one thread";
}

TEST(Blocks, AreOfThePartThatTheReportIsAbout)
{
    struct selection selection = {};
    selection.has_to = true;
    selection.to_ns = 100000; /* nine turns */
    Built report(BuildTrace(segment + Turns(40, "A", "A+1048576")), selection);
    auto findings = report.Of(id);
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(17u, findings[0]->numbers[0].value) << "waits";
    EXPECT_EQ(17u, findings[0]->numbers[1].value) << report.Text();
}

} // namespace
} // namespace ptds

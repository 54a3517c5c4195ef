/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of Python in recorded call sites: what the shim makes of an interpreter's memory, whole and damaged.
 */
#include "tests/interpose/sources.h"

namespace ptds
{
namespace
{

struct Seen {
    std::vector<Stack> calls; /* of event records, in the order of the calls */
    std::vector<uint32_t> ids;
};

Seen see(const std::vector<std::string> &mode, const std::string &child = "python_child",
         const Settings &more = {{"PTDS_PYTHON_FRAMES", "on"}})
{
    Seen seen;
    seen.calls = stacks_of(record_of(child, mode, "observe", more), PTDS_OP_EVENT_RECORD);
    for (const Stack &stack : seen.calls)
        seen.ids.push_back(stack.id);
    return seen;
}

std::vector<std::string> functions(const Seen &seen)
{
    std::vector<std::string> found;
    for (const Stack &stack : seen.calls)
        found.push_back(stack.python);
    return found;
}

using Names = std::vector<std::string>;

class Python : public testing::TestWithParam<std::string>
{
};
INSTANTIATE_TEST_SUITE_P(Versions, Python, testing::Values("12", "13", "14"));

const Names four = {"Class.inner:10 outer:500", "Class.inner:11 outer:500", "Class.inner:10 outer:601",
                    "Class.inner:11 outer:601"};

Names times(int count, const Names &names)
{
    Names all;
    for (int i = 0; i < count; i++)
        all.insert(all.end(), names.begin(), names.end());
    return all;
}

/* Whichever line is different, the innermost one's or its caller's: they are other sites, and the same ones again later. */
TEST_P(Python, TwoLinesAreTwoCallSites)
{
    Seen seen = see({GetParam(), "two-lines"});
    EXPECT_EQ(functions(seen), times(3, four));
    EXPECT_EQ(std::set<uint32_t>(seen.ids.begin(), seen.ids.end()).size(), 4u);
}

/* The same by way of the kernel. */
TEST_P(Python, OfAThreadOfItsOwn)
{
    Seen seen = see({GetParam(), "two-lines", "worker"});
    EXPECT_EQ(functions(seen), times(3, four));
    EXPECT_EQ(std::set<uint32_t>(seen.ids.begin(), seen.ids.end()).size(), 4u);
}

/* What one page holds is not taken for another's. */
TEST_P(Python, InPagesOfTheirOwn)
{
    const Names expected = {"inner:10 between:100 outer:500", "inner:11 between:100 outer:500",
                            "inner:10 between:100 outer:601", "inner:11 between:100 outer:601"};
    for (const char *where : {"pages", "page-ends"})
        for (const char *whose : {"worker", "first"}) {
            Seen seen = see({GetParam(), where, whose});
            EXPECT_EQ(functions(seen), times(3, expected)) << where << " " << whose;
            EXPECT_EQ(std::set<uint32_t>(seen.ids.begin(), seen.ids.end()).size(), 4u) << where << " " << whose;
        }
}

TEST_P(Python, OfAForkedChild)
{
    Folder folder;
    Command command = shimmed("python_child", {GetParam(), "forked"},
                              {{"PTDS_POLICY", "observe"}, {"PTDS_TRACE", folder / "trace"}, {"PTDS_PYTHON_FRAMES", "on"}});
    command.libraries = simulator();
    Outcome outcome = run(command);
    ASSERT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.out.find("WRONG"), std::string::npos) << outcome;
    for (const auto &[name, expected] :
         {std::pair{std::string("trace"), times(3, four)}, {"trace." + lines_of(outcome.out)[0], times(2, four)}}) {
        Recorded recorded;
        recorded.trace = walk(folder / name);
        Seen seen;
        seen.calls = stacks_of(recorded, PTDS_OP_EVENT_RECORD);
        EXPECT_EQ(functions(seen), expected) << name;
        uint32_t first = UINT32_MAX;
        for (const ptds_rec_SOURCE &one : recorded.all<ptds_rec_SOURCE>(PTDS_REC_SOURCE))
            first = std::min(first, one.id);
        EXPECT_EQ(first, 1u) << name;
    }
}

TEST_P(Python, OfTheFirstThreadAlone)
{
    EXPECT_EQ(functions(see({GetParam(), "two-lines", "worker"}, "python_child", {})), Names(12));
    EXPECT_EQ(functions(see({GetParam(), "two-lines"}, "python_child", {})), times(3, four));
}

/* A thread that Python does not know. */
TEST_P(Python, NothingOfAStranger)
{
    EXPECT_EQ(functions(see({GetParam(), "two-lines", "stranger"})), Names(12));
}

TEST_P(Python, StandInPlaceOfTheInterpretersFrames)
{
    Seen with = see({GetParam(), "nested"}),
         without = see({GetParam(), "nested"}, "python_child", {{"PTDS_PYTHON_FRAMES", "off"}});
    ASSERT_EQ(with.calls.size(), 1u);
    ASSERT_EQ(without.calls.size(), 1u);
    EXPECT_EQ(with.calls[0].python, "inner:11 outer:500");
    EXPECT_EQ(without.calls[0].python, "");
    std::string order; /* C, Python */
    for (uint64_t pc : with.calls[0].pc)
        order += pc & PTDS_PC_SOURCE ? "p" : "c";
    EXPECT_EQ(with.calls[0].pc.size(), without.calls[0].pc.size()) << order;
    size_t inner = order.find('p'), outer = order.rfind('p');
    EXPECT_LT(inner + 1, outer) << order;
    EXPECT_GT(inner, 0u) << order;
    EXPECT_EQ(order.substr(outer + 1).find_first_not_of('c'), std::string::npos) << order;
    EXPECT_GE(order.size() - outer, 3u) << order; /* main and what calls it */
}

TEST_P(Python, LinesAreTheTables)
{
    EXPECT_EQ(functions(see({GetParam(), "lines"})),
              (Names{"inner:1000", "inner:1001", "inner:1101", "inner:1101", "inner:0", "inner:1051", "inner:1051",
                     "inner:1051", "inner:1051", "inner:1051", "inner:0"}));
}

TEST_P(Python, AnAddressThatComesAgainIsAnotherFunction)
{
    EXPECT_EQ(functions(see({GetParam(), "recycled"})), (Names{"first:10", "first:10", "second:10"}));
    EXPECT_EQ(functions(see({GetParam(), "recycled", "worker"})), (Names{"first:10", "first:10", "second:10"}));
}

TEST_P(Python, TextOfEveryWidth)
{
    Names found = functions(see({GetParam(), "texts"}));
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[0], "\xc3\xa4:3");
    EXPECT_EQ(found[1], "\xc3\xa4\xe6\x97\xa5:3");
    EXPECT_EQ(found[2], "f\xf0\x9f\x98\x80\xff:3");
    EXPECT_EQ(found[3].find_first_not_of('x'), found[3].size() - 2);
    EXPECT_LT(found[3].size(), 300u);
}

TEST_P(Python, NotWhatTheInterpreterMadeForItself)
{
    EXPECT_EQ(functions(see({GetParam(), "shims"})), Names{"inner:10 outer:10"});
}

TEST_P(Python, TheInnermostOfManyFrames)
{
    Seen seen = see({GetParam(), "deep"});
    ASSERT_EQ(seen.calls.size(), 2u);
    EXPECT_EQ(seen.ids[0], seen.ids[1]);
    EXPECT_EQ(seen.calls[0].python.rfind("deep0:10 deep1:10 deep2:10", 0), 0u) << seen.calls[0].python;
    EXPECT_NE(seen.calls[0].python.find(" deep40:10"), std::string::npos);
    EXPECT_EQ(seen.calls[0].python.find(" deep200:10"), std::string::npos);
    EXPECT_LE(seen.calls[0].pc.size(), 128u);
}

/* The program goes on, and what was known before the damage is shown. */
TEST_P(Python, DamageEndsTheWalk)
{
    const std::map<std::string, std::string> left = {{"loop", "inner:10 broken:10 outer:10"},
                                                     {"self", "inner:10"},
                                                     {"frame", "inner:10"},
                                                     {"odd", "inner:10"},
                                                     {"end", "inner:10"},
                                                     {"code", "inner:10"},
                                                     {"type", "inner:10"},
                                                     {"name", "inner:10"},
                                                     {"file", "inner:10"},
                                                     {"lines", "inner:10"},
                                                     {"long", "inner:10"},
                                                     {"table", "inner:10 broken:0 outer:10"},
                                                     {"thread", ""},
                                                     {"current", ""}};
    for (const auto &[how, expected] : left)
        EXPECT_EQ(functions(see({GetParam(), "damaged", how})), times(2, {expected})) << how;
}

TEST_P(Python, FramesThatAreTakenAway)
{
    EXPECT_EQ(functions(see({GetParam(), "taken-away"})), (Names{"inner:10", "inner:10", ""}));
    EXPECT_EQ(functions(see({GetParam(), "taken-away", "alone"})), (Names{"inner:10", "inner:10", ""}));
}

TEST_P(Python, NothingAtTheInterpretersEnd)
{
    Names expected = four;
    expected.resize(12);
    EXPECT_EQ(functions(see({GetParam(), "finalizing"})), expected);
}

TEST_P(Python, NothingOfOneBuiltForDebugging)
{
    EXPECT_EQ(functions(see({GetParam(), "two-lines"}, "python_debug_child")), Names(12));
}

TEST_P(Python, NothingOfOneThatIsNotReleased)
{
    EXPECT_EQ(functions(see({GetParam(), "two-lines", "alpha"})), Names(12));
}

TEST_P(Python, NothingIfNotWanted)
{
    EXPECT_EQ(functions(see({GetParam(), "two-lines"}, "python_child", {{"PTDS_PYTHON_FRAMES", "off"}})), Names(12));
}

/* So many are shown, and no more; those that are known are shown from then on, too. */
TEST(PythonWithoutEnd, TakesNoMoreThanItsRoom)
{
    Names found = functions(see({"14", "endless"}));
    ASSERT_EQ(found.size(), 32771u);
    for (int i = 0; i < 32768; i++)
        ASSERT_EQ(found[static_cast<size_t>(i)], "inner:" + std::to_string(10 + i));
    EXPECT_EQ(found[32768], "");
    EXPECT_EQ(found[32769], "");
    EXPECT_EQ(found[32770], "inner:10");
}

TEST(PythonOfOtherKinds, NothingIsReadOfThem)
{
    for (const char *version : {"11", "15"})
        EXPECT_EQ(functions(see({version, "two-lines"})), Names(12)) << version;
    for (const char *how : {"cookie", "other-version", "free-threaded"})
        for (const char *version : {"13", "14"})
            EXPECT_EQ(functions(see({version, "two-lines", how})), Names(12)) << version << " " << how;
}

} // namespace
} // namespace ptds

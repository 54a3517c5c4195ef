// SPDX-License-Identifier: Apache-2.0
//
// How much the verdict engine looks at: what it leaves out because it knows the answer must stay left out, or a long trace
// takes minutes. No verdict shows that, so the pairs that are examined and blamed are counted. Where a change saves work on
// purpose, the numbers here become smaller.
#include "tests/analysis/random_trace.h"
#include "tests/analysis/verdicts.h"

namespace ptds
{
namespace
{

/* "examined blamed possible races" */
std::string Work(const verdict_totals &totals)
{
    return std::to_string(totals.examined) + " " + std::to_string(totals.traced) + " " +
           std::to_string(totals.possible_races);
}

std::string WorkOf(const std::string &calls)
{
    return Work(Judged(BuildTrace(verdict_memory + calls)).totals);
}

/* Lines of these threads' calls by turns, each `count` times; "%" is the round. */
std::string Rounds(unsigned count, const std::vector<std::string> &lines)
{
    std::string text;
    unsigned now = 0;
    for (unsigned round = 0; round < count; round++)
        for (const std::string &line : lines) {
            std::string call = line.substr(2);
            for (size_t at; (at = call.find('%')) != std::string::npos;)
                call.replace(at, 1, std::to_string(round));
            text += line.substr(0, 1) + "@" + std::to_string(++now) + " " + call + "\n";
        }
    return text;
}

const std::string writes = "k=_Z4fillPf args=", reads = "k=_Z4readPKf args=", uses = "k=plain args=";

TEST(VerdictWork, OfThreadsThatTakeTurnsAtAMemory)
{
    const unsigned most = 100;
    const struct {
        std::vector<std::string> lines;
        const char *work;
    } rows[] = {
        {{"1 launch s=L " + writes + "A", "2 launch s=L " + reads + "A"}, "199 199 0"},
        {{"1 launch s=L " + reads + "A", "2 launch s=L " + reads + "A"}, "0 0 0"},
        {{"1 launch s=L " + reads + "A", "2 launch s=L " + reads + "A", "3 launch s=L " + reads + "B"}, "0 0 0"},
        {{"1 launch s=L " + writes + "A", "2 launch s=L " + writes + "B"}, "0 0 0"},
        {{"1 launch s=L " + writes + "A", "1 launch s=L " + reads + "A+64", "2 launch s=L " + reads + "A+128"},
         "199 199 0"},
        {{"1 launch s=L " + uses + "A", "2 launch s=L " + uses + "A", "3 launch s=L " + uses + "A"}, "299 299 0"},
        {{"1 launch s=B1 " + uses + "A", "2 launch s=L " + reads + "A", "1 launch s=N1 " + reads + "A"}, "201 199 199"},
        {{"1 launch s=B1 " + writes + "A", "1 launch s=B2 " + writes + "B", "2 launch s=L " + reads + "A,B"}, "398 398 0"},
        {{"1 memset s=L dst=A bytes=64", "2 copy s=L src=A dst=B bytes=64", "1 launch s=L " + uses + "B"}, "299 299 0"},
        {{"1 copy s=L src=A dst=B+% bytes=64", "2 copy s=L src=B+% dst=A bytes=64"}, "8903 8765 0"},
        {{"1 launch s=L " + writes + "A", "2 opaque s=L", "1 launch s=B1 " + reads + "B"}, "398 398 0"},
        {{"1 launch s=L " + uses + "A+%", "2 launch s=L " + uses + "A+%"}, "199 199 0"},
        {{"1 launch s=L " + uses + "A", "1 sync s=L", "2 launch s=L " + uses + "A"}, "99 99 0"},
        {{"1 launch s=L " + uses + "A", "1 record s=L e=E", "2 wait s=L e=E", "2 launch s=L " + uses + "A"}, "99 99 0"},
        {{"1 launch s=N1 " + uses + "A", "2 launch s=N2 " + uses + "A"}, "2 0 199"},
        {{"1 launch s=N1 " + writes + "A", "1 launch s=N2 " + reads + "A", "1 launch s=N2 " + reads + "A"}, "2 0 199"},
        {{"1 launch s=L " + uses + "A,B", "2 launch s=L " + uses + "B,A", "3 launch s=L " + uses + "H,A"}, "299 299 0"},
        {{"1 launch s=L " + uses + "H", "1 sync s=B1", "2 launch s=B1 " + uses + "H"}, "199 298 0"},
    };
    for (const auto &row : rows)
        EXPECT_EQ(row.work, WorkOf(Rounds(most, row.lines))) << Rounds(1, row.lines);
}

/* Of short traces in which anything goes, twenty rows of forty. */
TEST(VerdictWork, OfRandomTraces)
{
    std::string all;
    for (uint32_t row = 0; row < 20; row++) {
        verdict_totals sum = {};
        for (uint32_t seed = row * 40 + 1; seed <= row * 40 + 40; seed++) {
            Judged judged(BuildTrace(Random(seed).text), false, 0, seed % 3 == 0 ? 0 : 8);
            sum.examined += judged.totals.examined;
            sum.traced += judged.totals.traced;
            sum.possible_races += judged.totals.possible_races;
        }
        all += Work(sum) + "\n";
    }
    EXPECT_EQ("171 101 24\n"
              "183 103 41\n"
              "243 119 39\n"
              "227 121 37\n"
              "197 93 49\n"
              "199 98 26\n"
              "207 111 42\n"
              "235 119 34\n"
              "237 113 49\n"
              "235 113 32\n"
              "212 106 35\n"
              "188 99 33\n"
              "180 87 37\n"
              "234 129 26\n"
              "245 114 39\n"
              "318 143 69\n"
              "212 113 36\n"
              "265 127 55\n"
              "122 61 23\n"
              "194 93 43\n",
              all);
}

/* The same threads and streams meet for long, so that much is open and much is known. */
TEST(VerdictWork, OfLongTraces)
{
    std::vector<std::string> lines;
    std::mt19937 random(11);
    auto pick = [&](const std::vector<std::string> &of) { return of[random() % of.size()]; };
    std::string all;
    for (unsigned row = 0; row < 6; row++) {
        lines.clear();
        for (unsigned i = 0; i < 12 + row * 4; i++) {
            std::string thread = pick({"1", "2", "3", "4"});
            std::string stream = pick({"L", "L", "L", "B1", "B2", "N1"});
            std::string kernel = pick({writes, reads, uses});
            lines.push_back(thread + " launch s=" + stream + " " + kernel + pick({"A", "B", "H", "A+64", "A,B"}));
        }
        for (unsigned i = 0; i < row; i++) {
            std::string more = pick({"1 sync s=L", "2 ctx-sync", "3 record s=L e=E", "4 wait s=L e=E", "1 opaque s=B1",
                                     "2 copy s=L src=A dst=B bytes=64", "3 memset s=B1 dst=A+16 bytes=16"});
            lines.insert(lines.begin() + 3 * i, more);
        }
        all += WorkOf(Rounds(40, lines)) + "\n";
    }
    EXPECT_EQ("443 1138 397\n"
              "1118 4151 356\n"
              "840 840 120\n"
              "1001 6292 1862\n"
              "1516 1036 1199\n"
              "1677 1237 917\n",
              all);
}

} // namespace
} // namespace ptds

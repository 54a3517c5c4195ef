// SPDX-License-Identifier: Apache-2.0
//
// Recordings that lost records, of a program whose conflicts are known: with all of them one order is needed and one
// conflict is an error; what was lost between leaves neither. On the simulated driver.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/analysis/support.h"
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

std::string Recorded(const std::vector<std::string> &arguments, Settings settings)
{
    Folder folder;
    settings["PTDS_POLICY"] = "observe";
    settings["PTDS_TRACE"] = folder / "trace";
    Command command = shimmed("gap_child", arguments, settings);
    const std::string simulator = data_file("tests/sim/libcuda.so.1");
    command.libraries = {simulator.substr(0, simulator.rfind('/'))};
    Outcome outcome = run(command);
    EXPECT_TRUE(outcome.exit == 0 || outcome.signal == SIGKILL) << outcome;
    EXPECT_EQ("", outcome.out);
    return read_file(folder / "trace");
}

uint64_t Verdicts(const Built &built, enum verdict verdict)
{
    uint64_t sum = 0;
    for (const auto &kind : built->edges.counts)
        sum += kind[verdict];
    return sum;
}

void ExpectCertain(const Built &built)
{
    EXPECT_EQ(1u, Verdicts(built, VERDICT_NEEDED));
    EXPECT_EQ(0u, Verdicts(built, VERDICT_MAYBE_NEEDED));
    EXPECT_EQ(1u, built->edges.totals.races);
    const std::vector<const finding *> conflicts = built.Of("unordered-conflict");
    ASSERT_EQ(1u, conflicts.size());
    EXPECT_EQ(SEVERITY_WARNING, conflicts[0]->severity) << "both write";
    EXPECT_EQ(1u, conflicts[0]->count);
}

void ExpectOpen(const Built &built)
{
    EXPECT_EQ(0u, Verdicts(built, VERDICT_NEEDED));
    EXPECT_EQ(0u, Verdicts(built, VERDICT_NOT_NEEDED));
    EXPECT_EQ(1u, Verdicts(built, VERDICT_MAYBE_NEEDED));
    EXPECT_EQ(1u, built->edges.reasons[REASON_LOST]);
    EXPECT_EQ(0u, built->edges.totals.races);
    EXPECT_EQ(1u, built->edges.totals.possible_races);
    for (size_t i = 0; i < built->findings.count; i++)
        EXPECT_NE(SEVERITY_ERROR, built->findings.items[i]->severity) << built->findings.items[i]->rule->id;
}

TEST(GapRecorded, NoneWhereAllIsThere)
{
    NEEDS_A_PLAIN_SHIM();
    for (const char *calls : {"10", "60000"})
        ExpectCertain(Built(Recorded({calls}, {})));
}

/* A killed process loses what it did not come to, and that is no gap. */
TEST(GapRecorded, NoneWhereItIsKilled)
{
    NEEDS_A_PLAIN_SHIM();
    ExpectCertain(Built(Recorded({"10", "killed"}, {})));
}

/* The other thread's oldest calls make way for its newer ones; the first of each conflict is still there. */
TEST(GapRecorded, AtTheLimit)
{
    NEEDS_A_PLAIN_SHIM();
    for (bool killed : {false, true}) {
        std::vector<std::string> arguments = {"60000"};
        if (killed)
            arguments.push_back("killed");
        Built built(Recorded(arguments, {{"PTDS_TRACE_LIMIT", "1M"}}));
        EXPECT_NE(0u, built->trace.header.recycled);
        ExpectOpen(built);
    }
}

TEST(GapRecorded, OnADiskThatGetsFull)
{
    NEEDS_A_PLAIN_SHIM();
    Built built(Recorded({"60000", "1500000"}, {{"PTDS_DIAG", "quiet"}}));
    EXPECT_NE(0u, built->trace.header.recycled + built->trace.header.refused);
    ExpectOpen(built);
}

/* The file was cut afterwards: nobody knows what was in the rest. */
TEST(GapRecorded, InAFileThatWasCut)
{
    NEEDS_A_PLAIN_SHIM();
    std::string bytes = Recorded({"60000"}, {});
    ptds_trace_header header;
    memcpy(&header, bytes.data(), sizeof header);
    bytes.resize(header.header_size + (header.chunks - 1) * header.chunk_size);
    const std::string path = WriteTemporary(bytes);
    struct trace_source source;
    char error[TRACE_ERROR_SIZE];
    std::unique_ptr<struct report> report(new struct report);
    ASSERT_EQ(0, trace_source_open(&source, path.c_str(), error)) << error;
    ASSERT_EQ(0, report_build(report.get(), &source, error)) << error;
    EXPECT_EQ(1u, report->trace.lost_chunks);
    EXPECT_EQ(0u, report->edges.totals.races);
    for (const auto &kind : report->edges.counts) {
        EXPECT_EQ(0u, kind[VERDICT_NEEDED]);
        EXPECT_EQ(0u, kind[VERDICT_NOT_NEEDED]);
    }
    report_end(report.get());
    trace_source_close(&source);
    unlink(path.c_str());
}

} // namespace
} // namespace ptds

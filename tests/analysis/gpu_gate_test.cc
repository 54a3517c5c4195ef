// SPDX-License-Identifier: Apache-2.0
//
// `ptds check` where traces have times on the GPU: how long default-stream work ran and how much of its time the GPU was
// idle, against runs that have these times, too.
#include "tests/analysis/checked.h"

namespace ptds
{
namespace
{

/* Work of the default stream from 100 us on and of another one from 100 ms on, each so many us on the GPU. */
struct OnGpu {
    int legacy = 10000, other = 10000;
    bool timed = true;
};

class Gate : public Traces
{
public:
    std::string Recorded(const OnGpu &run)
    {
        std::string path = folder / ("run" + std::to_string(++hours_) + ".ptds");
        std::string text = "tsc\n1@100 launch s=L k=a site=one\n1@100000 launch s=N1 k=b site=two\n1@200000+3 sync s=N1\n";
        if (run.timed)
            text += "device-run 1@100 200+" + std::to_string(run.legacy) + "\ndevice-run 1@100000 100100+" +
                    std::to_string(run.other) + "\n";
        std::ofstream(path) << AtHour(BuildTrace(text), hours_);
        return path;
    }
    std::string Of(const std::vector<OnGpu> &runs)
    {
        std::string path = folder / ("baseline" + std::to_string(++hours_) + ".json");
        for (const OnGpu &run : runs)
            EXPECT_EQ(0, Check({"--update", "--baseline", path, Recorded(run)}).exit);
        return path;
    }
    Outcome Against(const std::string &baseline, const std::vector<OnGpu> &runs, std::vector<std::string> more)
    {
        more.insert(more.end(), {"--baseline", baseline});
        for (const OnGpu &run : runs)
            more.push_back(Recorded(run));
        return Check(more);
    }

private:
    uint64_t hours_ = 0;
};

const std::vector<std::string> slower = {"--fail-on", "gpu-slower"}, idler = {"--fail-on", "gpu-idle"};
const OnGpu untimed = {0, 0, false};

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

TEST(GpuGate, DefaultStreamWorkThatRunsLongerFails)
{
    Gate gate;
    std::string json = gate.Of({{10000}, {10500}, {11000}});
    Outcome ran = gate.Against(json, {{20000}, {21000}, {20500}}, slower);
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(Has(ran.out,
                    "FAIL gpu-slower grown: default-stream work ran 20.5 ms a run on the GPU (20.0 ms to 21.0 ms), "
                    "was 10.5 ms (10.0 ms to 11.0 ms)\n"))
        << ran.out;
    EXPECT_TRUE(Has(LastLine(ran), ", gpu-slower; 3 processes in 3 runs")) << ran.out;
    EXPECT_EQ(0, gate.Against(json, {{11000}, {10000}, {10500}}, slower).exit) << "as it was";
    EXPECT_EQ(0, gate.Against(json, {{15000}, {15000}, {15000}}, slower).exit) << "less than half as much again";
    EXPECT_EQ(
        1, gate.Against(json, {{15000}, {15000}, {15000}}, {"--fail-on", "gpu-slower", "--growth", "20", "--floor", "1ms"})
               .exit);
    EXPECT_EQ(0, gate.Against(json, {{10000, 30000}, {10500, 30000}, {11000, 30000}}, slower).exit) << "another stream's";
    EXPECT_EQ(0, gate.Against(json, {{20000}, {21000}, {20500}}, {}).exit) << "not asked for";
    EXPECT_EQ(0,
              gate.Against(json, {{20000}, {21000}, {20500}}, {"--fail-on", "gpu-slower", "--ignore", "gpu-slower"}).exit);
    EXPECT_EQ(0, gate.Against(json, {{10000}, {21000}, {10500}}, slower).exit) << "one of three";
}

TEST(GpuGate, OneRunFailsNothing)
{
    Gate gate;
    Outcome ran = gate.Against(gate.Of({{10000}, {10000}, {10000}}), {{90000}}, slower);
    EXPECT_FALSE(Has(ran.out, "FAIL")) << ran;
    ran = gate.Against(gate.Of({{10000}}), {{90000}, {90000}, {90000}}, slower);
    EXPECT_FALSE(Has(ran.out, "FAIL")) << ran;
}

TEST(GpuGate, BelowTheFloorItIsNothing)
{
    Gate gate;
    std::string json = gate.Of({{10}, {10}, {10}});
    EXPECT_EQ(0, gate.Against(json, {{900}, {900}, {900}}, slower).exit);
    EXPECT_EQ(1, gate.Against(json, {{15000}, {15000}, {15000}}, slower).exit);
    EXPECT_EQ(0, gate.Against(json, {{15000}, {15000}, {15000}}, {"--fail-on", "gpu-slower", "--floor", "20ms"}).exit);
}

TEST(GpuGate, RunsThatDifferMuchProveNothing)
{
    Gate gate;
    std::string json = gate.Of({{10000}, {30000}, {20000}, {12000}, {28000}});
    EXPECT_EQ(0, gate.Against(json, {{31000}, {32000}, {33000}}, slower).exit);
    EXPECT_EQ(1, gate.Against(json, {{90000}, {90000}, {90000}}, slower).exit);
}

/* Of 200 ms. */
TEST(GpuGate, AGpuThatIsIdleMoreFails)
{
    Gate gate;
    std::string json = gate.Of({{90000, 90000}, {88000, 90000}, {89000, 90000}});
    Outcome ran = gate.Against(json, {{90000, 50000}, {90000, 51000}, {90000, 49000}}, idler);
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(Has(ran.out, "FAIL gpu-idle grown: the GPU was idle 30 % of its time")) << ran.out;
    EXPECT_TRUE(Has(ran.out, ", was 10 %")) << ran.out;
    EXPECT_EQ(0, gate.Against(json, {{90000, 90000}, {88000, 90000}, {89000, 90000}}, idler).exit);
    std::string busy = gate.Of({{99000, 99000}, {99000, 99000}, {99000, 99000}});
    EXPECT_EQ(0, gate.Against(busy, {{95000, 99000}, {95000, 99000}, {95000, 99000}}, idler).exit)
        << "three times as idle, by two hundredths";
}

TEST(GpuGate, TracesWithoutTimesAreNotComparedWithSuchAsHaveThem)
{
    Gate gate;
    std::string with = gate.Of({{}, {}, {}}), without = gate.Of({untimed, untimed, untimed});
    Outcome ran = gate.Against(with, {untimed}, {});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ(
        "ptds check: The baseline has GPU times, these traces have no GPU times (PTDS_DEVICE_TIMES): what the GPU did "
        "is not compared.\n",
        ran.err);
    EXPECT_TRUE(Has(gate.Against(without, {{}}, {}).err, "These traces have GPU times, the baseline has no GPU times"));
    EXPECT_EQ("", gate.Against(without, {untimed}, {}).err);
    EXPECT_EQ("", gate.Against(with, {{}}, {}).err);
    for (const auto &asked : {slower, idler})
        for (const auto &[baseline, runs] : std::vector<std::pair<std::string, std::vector<OnGpu>>>{
                 {with, {untimed, untimed, untimed}}, {without, {{}, {}, {}}}, {with, {{}}}}) {
            ran = gate.Against(baseline, runs, asked);
            EXPECT_EQ(3, ran.exit) << "no pass: " << ran;
            EXPECT_TRUE(Has(ran.err, "needs 3 runs or more with GPU times (PTDS_DEVICE_TIMES), here and in the baseline"))
                << ran;
        }
}

TEST(GpuGate, NeedsABaseline)
{
    Gate gate;
    EXPECT_EQ(2, gate.Check({gate.Recorded({}), "--fail-on", "gpu-idle"}).exit);
}

} // namespace
} // namespace ptds

// SPDX-License-Identifier: Apache-2.0
//
// `ptds check` where traces have times on the GPU: how long default-stream work ran and how much of its time the GPU was
// idle, against runs that have these times, too.
#include <jansson.h>
#include <sys/stat.h>

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

/* What `ptds diff` says of the same: by kernel and by copying function, with the gate's floors. */
class GpuDiff : public Gate
{
public:
    /* A kernel of the default stream, one of another, and a copy, each so many us. */
    std::string Folder(const std::string &name, const std::vector<std::vector<int>> &runs)
    {
        std::string path = folder / name;
        EXPECT_EQ(0, mkdir(path.c_str(), 0700));
        for (size_t i = 0; i < runs.size(); i++)
            std::ofstream(path + "/" + std::to_string(i) + ".ptds") << AtHour(BuildTrace(Text(runs[i])), ++hours_);
        return path;
    }
    static std::string Text(const std::vector<int> &run)
    {
        std::string text = "tsc\n1@100 launch s=L k=a site=one\n1@100000 launch s=N1 k=b site=two\n"
                           "1@150000 copy s=N1 from=device to=pinned bytes=4 site=three\n1@200000+3 sync s=N1\n";
        const char *const places[] = {"1@100 200+", "1@100000 100100+", "1@150000 150100+"};
        for (size_t i = 0; i < run.size(); i++)
            text += std::string("device-run ") + places[i] + std::to_string(run[i]) + "\n";
        return text;
    }
    std::string Diffed(std::vector<std::string> words)
    {
        Outcome ran = Diff(words);
        EXPECT_EQ(0, ran.exit) << ran;
        return ran.out;
    }

private:
    uint64_t hours_ = 100;
};

/* The first line of diff is about the runs' time; this is what the second one begins with. */
bool Says(const std::string &text, const std::string &words)
{
    return text.compare(text.find('\n') + 1, words.size(), words) == 0;
}

const std::vector<int> base = {10000, 20000, 3000};

TEST(GpuDiff, KernelsAndCopiesThatRunLonger)
{
    GpuDiff gpu;
    std::string before = gpu.Folder("before", {base, {10100, 20100, 3010}, {10050, 20000, 3000}});
    std::string kernel = gpu.Folder("kernel", {{10000, 40000, 3000}, {10100, 40200, 3010}, {10050, 40100, 3000}});
    std::string text = gpu.Diffed({before, kernel});
    EXPECT_TRUE(Says(text, "1 slower, the GPU idle less (3 runs each)\n")) << text;
    EXPECT_TRUE(Has(text,
                    "\nOn the GPU\n  slower  kernel b\n           1 operation a run, was 1\n           ran 40.1 ms a run "
                    "(40.0 ms to 40.2 ms), was 20.0 ms (20.0 ms to 20.1 ms)\n           40.1 ms each, was 20.0 ms\n"))
        << text;
    EXPECT_FALSE(Has(text, "kernel a")) << text;
    EXPECT_TRUE(Has(text, "\n  GPU     default-stream work ran 10.1 ms a run on the GPU (10.0 ms to 10.1 ms)")) << text;
    text = gpu.Diffed({kernel, before});
    EXPECT_TRUE(Has(text, "\n  faster  kernel b\n")) << text;
    std::string copy = gpu.Folder("copy", {{10000, 20000, 30000}, {10000, 20000, 30100}, {10000, 20000, 30000}});
    EXPECT_TRUE(Has(gpu.Diffed({before, copy}), "\n  slower  cuMemcpyDtoH"));
}

TEST(GpuDiff, TheGatesFloorsAndSpreadHold)
{
    GpuDiff gpu;
    std::string before = gpu.Folder("before", {base, base, base});
    std::string little = gpu.Folder("little", {{10900, 20900, 3900}, {10900, 20900, 3900}, {10900, 20900, 3900}});
    EXPECT_TRUE(Says(gpu.Diffed({before, little}), "no call or finding changed beyond the spread"))
        << "a hundredth of the run at least";
    std::string wide = gpu.Folder("wide", {{10000, 41000, 3000}, {10000, 20000, 3000}, {10000, 39000, 3000}});
    EXPECT_TRUE(Says(gpu.Diffed({before, wide}), "no call or finding changed")) << "its runs overlap";
    std::string one = gpu.Folder("one", {{10000, 40000, 3000}});
    EXPECT_TRUE(Says(gpu.Diffed({before, one}), "no call or finding changed"));
    EXPECT_TRUE(Has(gpu.Diffed({before, one, "--all"}), "\n  slower ? kernel b\n"));
    std::string more = gpu.Folder("more", {{10000, 32000, 3000}, {10000, 32000, 3000}, {10000, 32000, 3000}});
    EXPECT_TRUE(Has(gpu.Diffed({before, more}), "\n  slower  kernel b\n"));
    EXPECT_TRUE(Says(gpu.Diffed({before, more, "--growth", "70"}), "no call or finding changed"));
    EXPECT_TRUE(Says(gpu.Diffed({before, more, "--floor", "13ms"}), "no call or finding changed"));
}

TEST(GpuDiff, WhatTheGateFailsTheAnswerNames)
{
    GpuDiff gpu;
    std::string before = gpu.Folder("before", {base, base, base});
    std::string slow = gpu.Folder("slow", {{40000, 20000, 3000}, {40000, 20000, 3000}, {40000, 20000, 3000}});
    std::string text = gpu.Diffed({before, slow});
    EXPECT_TRUE(Says(text, "1 slower, the default stream's work slower on the GPU, the GPU idle less (3 runs each)\n"))
        << text;
    EXPECT_TRUE(Has(text, "default-stream work ran 40.0 ms a run on the GPU, was 10.0 ms: slower\n")) << text;
    EXPECT_TRUE(Says(gpu.Diffed({slow, before}),
                     "1 faster, the default stream's work faster on the GPU, the GPU idle more (3 runs each)\n"));
}

TEST(GpuDiff, TimesOfOneSideAloneAreNotCompared)
{
    GpuDiff gpu;
    std::string with = gpu.Folder("with", {base, base, base}), without = gpu.Folder("without", {{}, {}, {}});
    std::string text = gpu.Diffed({with, without});
    EXPECT_TRUE(Says(text, "no call or finding changed")) << text;
    EXPECT_TRUE(Has(text, "  after has no times on the GPU (PTDS_DEVICE_TIMES): what the GPU did is not compared\n"))
        << text;
    EXPECT_FALSE(Has(gpu.Diffed({without, without}), "GPU"));
    std::string mixed = gpu.Folder("mixed", {base, {}, base, {}, base});
    EXPECT_TRUE(Says(gpu.Diffed({with, mixed}), "no call or finding changed")) << "of the runs that have times";
}

TEST(GpuDiff, BaselinesHaveThemAndOlderOnesSaySo)
{
    GpuDiff gpu;
    std::string json = gpu.folder / "b.json",
                slow = gpu.Folder("slow", {{10000, 40000, 3000}, {10000, 40000, 3000}, {10000, 40000, 3000}});
    std::string before = gpu.Folder("before", {base, base, base});
    for (const char *run : {"/0.ptds", "/1.ptds", "/2.ptds"})
        EXPECT_EQ(0, gpu.Check({"--update", "--baseline", json, before + run}).exit);
    EXPECT_TRUE(Has(gpu.Diffed({json, slow}), "\n  slower  kernel b\n"));
    EXPECT_TRUE(Says(gpu.Diffed({json, before}), "no call or finding changed"));
    std::string text = read_file(json);
    size_t at = text.find(",\n\"gpu\": ["), end = text.rfind("]}");
    if (at == std::string::npos)
        at = text.find("],\n\"gpu\": [") + 1;
    std::ofstream(json) << text.substr(0, at) + "}\n";
    ASSERT_LT(at, end);
    text = gpu.Diffed({json, slow});
    EXPECT_TRUE(Says(text, "the GPU idle less (3 runs each)\n")) << text;
    EXPECT_TRUE(Has(text, "before is a baseline of an older version, without the GPU times of each kernel\n")) << text;
}

TEST(GpuDiff, MarkdownAndJsonSayTheSame)
{
    GpuDiff gpu;
    std::string before = gpu.Folder("before", {base, base, base});
    std::string slow = gpu.Folder("slow", {{40000, 20000, 3000}, {40000, 20000, 3000}, {40000, 20000, 3000}});
    std::string text = gpu.Diffed({before, slow, "--format", "markdown"});
    EXPECT_TRUE(Has(text, "| slower | GPU | `kernel a` | 1 operation a run, was 1 | ran 40.0 ms a run, was 10.0 ms |"))
        << text;
    EXPECT_TRUE(Has(text, "- default-stream work ran 40.0 ms a run on the GPU, was 10.0 ms: slower\n")) << text;
    text = gpu.Diffed({before, slow, "--format", "json"});
    json_t *root = json_loads(text.c_str(), 0, nullptr), *change = nullptr;
    ASSERT_NE(nullptr, root) << text;
    json_t *changes = json_object_get(root, "changes");
    for (size_t i = 0; i < json_array_size(changes); i++)
        if (std::string("gpu") == json_string_value(json_object_get(json_array_get(changes, i), "of")))
            change = json_array_get(changes, i);
    ASSERT_NE(nullptr, change) << text;
    EXPECT_STREQ("a", json_string_value(json_object_get(change, "kernel")));
    EXPECT_EQ(40e6,
              json_number_value(json_object_get(json_object_get(json_object_get(change, "gpu_ns"), "after"), "median")));
    json_t *whole = json_object_get(root, "gpu_default_stream_ns");
    EXPECT_STREQ("slower", json_string_value(json_object_get(whole, "change")));
    EXPECT_EQ(10e6, json_number_value(json_object_get(json_object_get(whole, "before"), "median")));
    double idle =
        json_number_value(json_object_get(json_object_get(json_object_get(root, "gpu_idle_share"), "after"), "median"));
    EXPECT_GT(idle, 0.1);
    EXPECT_LT(idle, 1);
    json_decref(root);
}

} // namespace
} // namespace ptds

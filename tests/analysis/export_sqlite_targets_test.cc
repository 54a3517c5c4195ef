// SPDX-License-Identifier: Apache-2.0
//
// What the SQLite export says of GPUs, contexts and what ran there: each GPU of the processes has a number of its own,
// CUDA's where that is free, contexts say what they are, and launches have their shapes.
#include "tests/analysis/shown.h"

namespace ptds
{
namespace
{

/* Rows of a table of the export, without its head. */
std::string Rows(const std::vector<std::string> &traces, const std::string &table)
{
    Opened opened(traces);
    std::istringstream lines(DatabaseText(opened.Export("sqlite"), false));
    std::string line, rows;
    bool in = false;
    while (std::getline(lines, line)) {
        if (line[0] != ' ')
            in = line.compare(0, table.size() + 2, table + ": ") == 0;
        if (in && line[0] == ' ')
            rows += line.substr(1) + "\n";
    }
    return rows;
}

std::string Process(uint32_t pid, const std::string &visible, const std::vector<int32_t> &devices)
{
    TraceBuilder builder;
    builder.header.pid = pid;
    if (!visible.empty())
        builder.Setting("CUDA_VISIBLE_DEVICES=" + visible);
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    CallSpec call;
    call.op = PTDS_OP_LAUNCH;
    call.stream = 1;
    for (int32_t device : devices) {
        call.enter += 1000;
        builder.Call(call);
        builder.DeviceRun(1, call.enter, call.enter + 1000, call.enter + 1500, device);
    }
    return builder.Bytes();
}

TEST(SqliteTargets, EachGpuHasANumberOfItsOwn)
{
    /* cudaId, as CUDA numbers it, of which process */
    EXPECT_EQ("0|0|10|-|-\n1|1|10|-|-\n", Rows({Process(10, "", {0, 1})}, "TARGET_INFO_CUDA_DEVICE"));
    EXPECT_EQ("0|0|10|-|-\n0|0|11|-|-\n", Rows({Process(10, "", {0}), Process(11, "", {0})}, "TARGET_INFO_CUDA_DEVICE"));
    EXPECT_EQ("3|3|10|-|-\n0|0|11|-|-\n4|3|11|-|-\n",
              Rows({Process(10, "3", {3}), Process(11, "5", {0, 3})}, "TARGET_INFO_CUDA_DEVICE"))
        << "they see others";
    EXPECT_EQ("1|1|10|-|-\n0|0|10|-|-\n2|0|11|-|-\n3|1|11|-|-\n",
              Rows({Process(10, "a", {1, 0}), Process(11, "b", {0, 1})}, "TARGET_INFO_CUDA_DEVICE"));
}

TEST(SqliteTargets, ContextsSayWhatTheyAre)
{
    TraceBuilder builder;
    for (uint32_t kind : {PTDS_CONTEXT_UNKNOWN, PTDS_CONTEXT_CREATED, PTDS_CONTEXT_PRIMARY, PTDS_CONTEXT_GREEN}) {
        ptds_rec_CONTEXT context = {};
        context.uid = 5 + kind;
        context.device = kind == PTDS_CONTEXT_PRIMARY ? 2 : kind == PTDS_CONTEXT_GREEN ? 0 : -1;
        context.kind = kind;
        context.state = PTDS_LIFE_SEEN;
        builder.Definition(PTDS_REC_CONTEXT, &context, sizeof context);
    }
    builder.Stream(7, PTDS_STREAM_LEGACY, 6);
    builder.Stream(8, PTDS_STREAM_BLOCKING, 7);
    CallSpec call;
    builder.Call(call);
    /* the null stream, process, GPU, context, whether it is a green one */
    EXPECT_EQ("-|-|-|4242|-|5|-|-\n7|-|-|4242|-|6|-|0\n-|-|-|4242|2|7|-|0\n-|-|-|4242|0|8|-|1\n",
              Rows({builder.Bytes()}, "TARGET_INFO_CUDA_CONTEXT_INFO"));
}

TEST(SqliteTargets, AGpuOfSeveralContextsIsOne)
{
    std::string bytes = BuildTrace("context 1\ncontext 2\ncontext 3\n1@0 launch s=N1 k=a\n1@10 launch s=N2 k=a ctx=2\n");
    EXPECT_EQ("0|0|4242|-|-\n", Rows({bytes}, "TARGET_INFO_CUDA_DEVICE"));
    TraceBuilder builder;
    uint32_t uid = 10;
    for (int32_t device : {1, 63, 1, 64, 0, 63, -1, 1, 62}) {
        ptds_rec_CONTEXT context = {};
        context.uid = uid++;
        context.device = device;
        context.kind = PTDS_CONTEXT_CREATED;
        context.state = PTDS_LIFE_SEEN;
        builder.Definition(PTDS_REC_CONTEXT, &context, sizeof context);
    }
    builder.Call(CallSpec());
    EXPECT_EQ("1|1|4242|-|-\n63|63|4242|-|-\n0|0|4242|-|-\n62|62|4242|-|-\n",
              Rows({builder.Bytes()}, "TARGET_INFO_CUDA_DEVICE"));
}

/* Whose shapes and graphs are columns of their own; where a launch has no shape there is none. */
TEST(SqliteTargets, ShapesOfLaunches)
{
    TraceBuilder builder;
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    CallSpec call;
    call.op = PTDS_OP_LAUNCH;
    call.stream = 1;
    auto launch = [&](const std::vector<uint64_t> &words) {
        call.enter += 1000;
        call.words = words;
        builder.Call(call);
        builder.DeviceRun(1, call.enter, call.enter + 1000, call.enter + 1500, 0);
    };
    auto block = [](uint64_t x, uint64_t y, uint64_t z, uint64_t attributes) {
        return x | y << 16 | z << 32 | attributes << 48;
    };
    launch({11 | 12ull << 32, 13 | 14ull << 32, block(15, 16, 17, 0)});
    launch({1, 2, block(3, 4, 5, PTDS_LAUNCH_COOPERATIVE)});
    launch({1, 2, block(3, 4, 5, PTDS_LAUNCH_PROGRAMMATIC | PTDS_LAUNCH_OTHER)});
    launch({1, 2, block(3, 4, 5, PTDS_LAUNCH_COOPERATIVE | PTDS_LAUNCH_OTHER)});
    launch({});
    call.op = PTDS_OP_GRAPH_LAUNCH;
    call.object = 77;
    launch({});
    call.object = 0;
    launch({});
    std::string bytes = builder.Bytes();
    EXPECT_EQ("2000|2500|-|1|-|1|1|71168950272|2|3|-|1|-|-|11|12|13|15|16|17|-|14|-|-|-|-|-|-\n"
              "3000|3500|-|1|-|1|2|71168950272|2|3|-|2|-|-|1|0|2|3|4|5|-|0|-|-|-|-|-|-\n"
              "4000|4500|-|1|-|1|3|71168950272|2|3|-|1|-|-|1|0|2|3|4|5|-|0|-|-|-|-|-|-\n"
              "5000|5500|-|1|-|1|4|71168950272|2|3|-|2|-|-|1|0|2|3|4|5|-|0|-|-|-|-|-|-\n"
              "6000|6500|-|1|-|1|5|71168950272|2|3|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-\n",
              Rows({bytes}, "CUPTI_ACTIVITY_KIND_KERNEL"));
    EXPECT_EQ("7000|7500|-|1|-|1|6|71168950272|-|77\n8000|8500|-|1|-|1|7|71168950272|-|-\n",
              Rows({bytes}, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"));
}

} // namespace
} // namespace ptds

/* SPDX-License-Identifier: Apache-2.0
 *
 * NVIDIA's own runtime libraries, static and shared: every name that they ask for, by whichever door, comes out as the
 * table says.
 */
#include <map>
#include <sstream>
#include <unistd.h>

#include "tests/interpose/handed.h"
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

struct Answer {
    std::string door, name, version, flags, symbol, object;

    std::string question() const
    {
        return door + " " + name + " " + version + " " + flags;
    }
};

std::vector<Answer> answers_of(const Outcome &outcome)
{
    std::vector<Answer> answers;
    for (const std::string &line : lines_of(outcome.err)) {
        std::istringstream words(line);
        std::string spy;
        Answer answer;
        words >> spy >> answer.door >> answer.name >> answer.version >> answer.flags >> answer.symbol >> answer.object;
        if (spy == "spy")
            answers.push_back(answer);
    }
    return answers;
}

const api_row *row_of(const std::string &symbol, bool *twin)
{
    for (const api_row &row : api_rows) {
        *twin = row.twin_symbol && symbol == row.twin_symbol;
        if (*twin || symbol == row.symbol)
            return &row;
    }
    return nullptr;
}

/* "symbol object" that the shim should answer where the driver answers with this. */
std::string expected(const Config &config, const Answer &drivers)
{
    bool twin = false;
    const api_row *row = row_of(drivers.symbol, &twin);
    std::string same = drivers.symbol + " " + drivers.object;
    if (!row)
        return same;
    std::string what =
        strncmp(row->symbol, "cuGetProcAddress", 16) == 0 && !config.inert() ? "wrapper" : handed(config, *row, twin);
    if (what.rfind("wrapper", 0) == 0)
        return drivers.symbol + " libptds.so";
    if (what == "twin" && row->twin_symbol)
        return row->twin_symbol + (" " + drivers.object);
    return same;
}

const Config configs[] = {
    {"none", "none"},       {"observe", "observe"}, {"per_thread", "per-thread"},
    {"guarded", "guarded"}, {"stream", "stream"},   {"per_thread_recorded", "per-thread", true},
};

struct Case {
    std::string name, program, driver;
};

class Cudart : public testing::TestWithParam<Case>
{
protected:
    Folder folder_;

    Command command() const
    {
        Command command = plain(GetParam().program);
        command.preload = {data_file("tests/interpose/libspy.so")};
        std::string folder = GetParam().driver == "newest" ? fake_driver() : fake_driver(GetParam().driver);
        command.libraries = {folder};
        return command;
    }

    Config config_{};
};

TEST_P(Cudart, EveryNameComesOutAsTheTableSays)
{
    Command command = this->command();
    Outcome without = run(command);
    ASSERT_EQ(without.exit, 0) << without;
    std::vector<Answer> drivers = answers_of(without);
    ASSERT_GT(drivers.size(), 300u);
    command.preload.push_back(shim());
    for (const Config &config : configs) {
        SCOPED_TRACE(config.name);
        command.env = {{"PTDS_POLICY", config.policy}, {"PTDS_REPORT", "off"}};
        if (config.recording)
            command.env["PTDS_TRACE"] = folder_ / "trace";
        Outcome with = run(command);
        EXPECT_EQ(with.exit, 0);
        EXPECT_EQ(with.out, without.out);
        std::vector<Answer> shims = answers_of(with);
        ASSERT_EQ(shims.size(), drivers.size());
        int differences = 0;
        for (size_t i = 0; i < shims.size() && differences < 5; i++) {
            EXPECT_EQ(shims[i].question(), drivers[i].question());
            EXPECT_EQ(shims[i].symbol + " " + shims[i].object, expected(config, drivers[i])) << drivers[i].question();
            differences += shims[i].symbol + " " + shims[i].object != expected(config, drivers[i]);
        }
    }
}

TEST_P(Cudart, AsksForBothKinds)
{
    std::map<std::string, int> asked;
    Outcome without = run(command());
    for (const Answer &answer : answers_of(without)) {
        bool twin = answer.symbol.size() > 5 && answer.symbol.compare(answer.symbol.size() - 5, 4, "_pts") == 0;
        asked[answer.door]++;
        asked["twin"] +=
            twin || (answer.symbol.size() > 5 && answer.symbol.compare(answer.symbol.size() - 5, 4, "_ptd") == 0);
    }
    EXPECT_GT(asked["twin"], 50) << without;
    /* A driver before 11.3 has no cuGetProcAddress: everything goes through dlsym. */
    if (GetParam().driver == "cuda11")
        EXPECT_EQ(asked["proc"], 0);
    else
        EXPECT_GT(asked["proc"], 300);
}

const Case cases[] = {
    {"static_newest", "cudart_static_child", "newest"}, {"static_cuda12", "cudart_static_child", "cuda12"},
    {"static_cuda11", "cudart_static_child", "cuda11"}, {"shared_newest", "cudart_shared_child", "newest"},
    {"shared_cuda11", "cudart_shared_child", "cuda11"},
};

INSTANTIATE_TEST_SUITE_P(Toolkits, Cudart, testing::ValuesIn(cases), [](const auto &of) { return of.param.name; });

/* The stub answers every call with 34; the runtime then says so as it does without the shim. */
TEST(CudartWithoutADriver, TheStubAndNothing)
{
    Folder folder;
    std::string stub = data_file("external/cuda/lib/stubs/libcuda.so");
    ASSERT_EQ(symlink(stub.c_str(), (folder / "libcuda.so.1").c_str()), 0);
    for (const char *program : {"cudart_static_child", "cudart_shared_child"}) {
        for (bool with_stub : {false, true}) {
            SCOPED_TRACE(std::string(program) + (with_stub ? ", stub" : ", no driver"));
            Command command = plain(program);
            command.libraries = {with_stub ? folder.path() : "/nonexistent"};
            Outcome without = run(command);
            ASSERT_EQ(without.exit, 0) << without;
            for (const char *policy : {"none", "guarded", "per-thread", "stream"}) {
                command.preload = {shim()};
                command.env = {{"PTDS_POLICY", policy}};
                Outcome with = run(command);
                EXPECT_EQ(with.exit, 0) << policy;
                EXPECT_EQ(with.out, without.out) << policy;
                EXPECT_EQ(with.err, "") << policy;
            }
        }
    }
}

} // namespace
} // namespace ptds

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the environment's values come to, field by field, and which are refused. In the test's own program: a configuration
 * is read once, so each is a child's.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/env/env.h"
}

namespace
{

using Settings = std::map<std::string, std::string>;

/* What a child says that has these set, and none of the shim's others. */
std::string child(const Settings &settings, std::string (*say)())
{
    int ends[2];
    std::string said;
    if (pipe(ends) != 0)
        return "no pipe";
    const pid_t pid = fork();
    if (pid == 0) {
        close(STDERR_FILENO);
        for (const auto &[name, value] : settings)
            setenv(name.c_str(), value.c_str(), 1);
        const std::string text = say();
        _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    char buffer[4096];
    for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<size_t>(size));
    close(ends[0]);
    int status = -1;
    waitpid(pid, &status, 0);
    return status == 0 ? said : "the child has ended with " + std::to_string(status);
}

std::string number(const char *name, uint64_t value)
{
    return std::string(" ") + name + " " + std::to_string(value);
}

std::string output(const char *name, const struct env_output_to &to)
{
    return number(name, to.kind) + (to.path ? std::string("=") + to.path : "");
}

/* All fields. */
std::string fields()
{
    const struct env *env = env_get();
    auto text = [](const char *name, const char *value) { return value ? std::string(" ") + name + "=" + value : ""; };
    return number("policy", env->policy) + number("lanes", env->lanes) +
           number("stream", uint64_t(env->stream.non_blocking)) +
           (env->stream.has_priority ? " priority " + std::to_string(env->stream.priority) : "") +
           number("explicit", uint64_t(env->remap_explicit)) + text("exclude", env->exclude) +
           text("include", env->include) + output("report", env->report) + output("log", env->log) +
           text("trace", env->trace) + number("limit", env->trace_limit) + number("memory", env->memory_limit) +
           number("budget", env->report_budget) + number("times", env->device_times) +
           number("python", uint64_t(env->python_frames)) + number("diag", env->diag) +
           number("recording", uint64_t(env->recording)) + (env->disable ? " disable" : "") +
           (env->invalid ? " invalid" : "");
}

const std::string defaults =
    " policy 0 lanes 0 stream 0 explicit 0 report 1 log 0 limit 268435456 memory 33554432 budget 0 "
    "times 0 python 1 diag 1 recording 1";

/* The same with other words in the place of some. */
std::string instead(std::vector<std::pair<std::string, std::string>> words)
{
    std::string text = defaults;
    for (const auto &[from, to] : words) {
        EXPECT_NE(std::string::npos, text.find(from)) << from;
        text.replace(text.find(from), from.size(), to);
    }
    return text;
}

TEST(Values, UnsetAndEmptyVariablesLeaveTheDefaults)
{
    EXPECT_EQ(defaults, child({}, fields));
    for (const char *name : {"PTDS_POLICY", "PTDS_LANES", "PTDS_REPORT", "PTDS_TRACE_LIMIT", "PTDS_DISABLE", "PTDS_TRACE"})
        EXPECT_EQ(defaults, child({{name, ""}}, fields)) << name;
}

struct Row {
    const char *name, *value;
    std::vector<std::pair<std::string, std::string>> words;
};

const Row rows[] = {
    {"PTDS_POLICY", "guarded", {}},
    {"PTDS_POLICY", "none", {{"policy 0", "policy 5"}, {"recording 1", "recording 0"}}},
    {"PTDS_LANES", "auto", {}},
    {"PTDS_LANES", "1", {{"lanes 0", "lanes 1"}}},
    {"PTDS_LANES", "32", {{"lanes 0", "lanes 32"}}},
    {"PTDS_STREAM", "nonblocking", {{"stream 0", "stream 1"}}},
    {"PTDS_STREAM", "blocking,priority=0", {{"stream 0", "stream 0 priority 0"}}},
    {"PTDS_STREAM", "nonblocking,priority=-5", {{"stream 0", "stream 1 priority -5"}}},
    {"PTDS_STREAM", "blocking,priority=1000000", {{"stream 0", "stream 0 priority 1000000"}}},
    {"PTDS_STREAM", "blocking,priority=-1000000", {{"stream 0", "stream 0 priority -1000000"}}},
    {"PTDS_EXPLICIT_LEGACY", "keep", {}},
    {"PTDS_EXPLICIT_LEGACY", "remap", {{"explicit 0", "explicit 1"}}},
    {"PTDS_EXCLUDE", "liba*,libb", {{"explicit 0", "explicit 0 exclude=liba*,libb"}}},
    {"PTDS_INCLUDE", "libc*", {{"explicit 0", "explicit 0 include=libc*"}}},
    {"PTDS_REPORT", "off", {{"report 1", "report 0"}, {"recording 1", "recording 0"}}},
    {"PTDS_REPORT", "summary", {}},
    {"PTDS_REPORT", "./here", {{"report 1", "report 2=./here"}}},
    {"PTDS_REPORT", "a.txt", {{"report 1", "report 2=a.txt"}}},
    {"PTDS_LOG", "stderr", {{"log 0", "log 1"}}},
    {"PTDS_LOG", "/log", {{"log 0", "log 2=/log"}}},
    {"PTDS_TRACE", "here", {{"log 0", "log 0 trace=here"}}},
    {"PTDS_TRACE_LIMIT", "1M", {{"limit 268435456", "limit 1048576"}, {"memory 33554432", "memory 1048576"}}},
    {"PTDS_TRACE_LIMIT", "1048576", {{"limit 268435456", "limit 1048576"}, {"memory 33554432", "memory 1048576"}}},
    {"PTDS_TRACE_LIMIT", "1025K", {{"limit 268435456", "limit 1049600"}, {"memory 33554432", "memory 1049600"}}},
    {"PTDS_TRACE_LIMIT", "3G", {{"limit 268435456", "limit 3221225472"}, {"memory 33554432", "memory 3221225472"}}},
    {"PTDS_TRACE_LIMIT",
     "18014398509481983",
     {{"limit 268435456", "limit 18014398509481983"}, {"memory 33554432", "memory 18014398509481983"}}},
    {"PTDS_REPORT_BUDGET", "1ms", {{"budget 0", "budget 1000000"}}},
    {"PTDS_REPORT_BUDGET", "90s", {{"budget 0", "budget 90000000000"}}},
    {"PTDS_REPORT_BUDGET", "2m", {{"budget 0", "budget 120000000000"}}},
    {"PTDS_REPORT_BUDGET", "9223372036854ms", {{"budget 0", "budget 9223372036854000000"}}},
    {"PTDS_DEVICE_TIMES", "sampled", {{"times 0", "times 1"}}},
    {"PTDS_DEVICE_TIMES", "cupti", {{"times 0", "times 2"}}},
    {"PTDS_PYTHON_FRAMES", "off", {{"python 1", "python 0"}}},
    {"PTDS_PYTHON_FRAMES", "on", {{"python 1", "python 2"}}},
    {"PTDS_DIAG", "quiet", {{"diag 1", "diag 0"}}},
    {"PTDS_DIAG", "debug", {{"diag 1", "diag 2"}}},
    {"PTDS_DISABLE", "1", {{"recording 1", "recording 0 disable"}}},
};

TEST(Values, EachVariableSetsItsFieldAndNoOther)
{
    for (const Row &row : rows)
        EXPECT_EQ(instead(row.words), child({{row.name, row.value}}, fields)) << row.name << "=" << row.value;
}

/* A record is wanted by any of these. */
TEST(Values, WhatARecordIsFor)
{
    const Settings off = {{"PTDS_REPORT", "off"}};
    EXPECT_EQ("0", child(off, [] { return std::to_string(env_get()->recording); }));
    for (const auto &[name, value] : {std::pair{"PTDS_LOG", "stderr"}, {"PTDS_TRACE", "here"}, {"PTDS_REPORT", "/there"}}) {
        Settings settings = off;
        settings[name] = value;
        EXPECT_EQ("1", child(settings, [] { return std::to_string(env_get()->recording); })) << name;
    }
}

/* One wrong value, and nothing is done. */
TEST(Values, ThatAreWrong)
{
    auto done = [] {
        const struct env *env = env_get();
        return number("recording", uint64_t(env->recording)) + number("disable", uint64_t(env->disable)) +
               number("invalid", uint64_t(env->invalid));
    };
    EXPECT_EQ(" recording 0 disable 1 invalid 1", child({{"PTDS_LANES", "all"}}, done));
    EXPECT_EQ(" recording 1 disable 0 invalid 0", child({{"PTDS_LANES", "9"}}, done));
}

std::string guards()
{
    return std::string(env_policy_word()) + " " + std::to_string(env_policy_guards());
}

TEST(Values, PoliciesThatGuard)
{
    for (const char *guarding : {"guarded", "stream"})
        EXPECT_EQ(std::string(guarding) + " 1", child({{"PTDS_POLICY", guarding}}, guards));
    for (const char *other : {"per-thread", "observe", "none"})
        EXPECT_EQ(std::string(other) + " 0", child({{"PTDS_POLICY", other}}, guards));
}

/* ---- what is refused ---- */

TEST(Refused, WhatIsOutsideItsList)
{
    const std::vector<std::pair<const char *, std::vector<const char *>>> wrong = {
        {"PTDS_POLICY", {"perthread", "guarde", "guardedd", "0"}},
        {"PTDS_LANES", {"0", "33", "-1", "1x", " ", "x"}},
        {"PTDS_STREAM",
         {"block", "blockings", "nonblockings", "blocking,", "blocking,priority",
          "blocking,priority=", "blocking,priority=1x", "blocking,priority=1000001", "blocking,priority=-1000001",
          "blocking,priorities=1", ",priority=1"}},
        {"PTDS_REPORT", {"on", "sumary"}},
        {"PTDS_LOG", {"summary", "stdout"}},
        {"PTDS_REPORT_BUDGET", {"0ms", "1", "ms", "1h", "1mss", "-1s", ":s", "/s", "9223372036855ms", "153722868m"}},
        {"PTDS_TRACE_LIMIT",
         {"1048575", "1023K", "0", "1MM", "1KB", "M", ":M", "/", "18014398509481984", "17592186044416M"}},
        {"PTDS_DISABLE", {"0", "2", "11"}},
        {"PTDS_DIAG", {"error", "loud"}},
        {"PTDS_DEVICE_TIMES", {"on", "sample"}},
        {"PTDS_PYTHON_FRAMES", {"1", "last"}},
        {"PTDS_EXPLICIT_LEGACY", {"yes", "kept"}},
    };
    for (const auto &[name, values] : wrong)
        for (const char *value : values)
            EXPECT_NE(nullptr, env_refuses(name, value)) << name << "=" << value;
    EXPECT_STREQ("auto or a number from 1 to 32", env_refuses("PTDS_LANES", "0"));
    EXPECT_STREQ("keep or remap", env_refuses("PTDS_EXPLICIT_LEGACY", "yes"));
}

TEST(Refused, ValuesThatAreRightAreNotRefused)
{
    EXPECT_EQ(nullptr, env_refuses("PTDS_LANES", ""));
    EXPECT_EQ(nullptr, env_refuses("PTDS_LANES", "8"));
    EXPECT_EQ(nullptr, env_refuses("PTDS_TRACE_LIMIT", "1024K"));
    EXPECT_EQ(nullptr, env_refuses("PTDS_TRACE_LIMIT", "17592186044415K"));
    EXPECT_EQ(nullptr, env_refuses("PTDS_REPORT_BUDGET", "153722867m"));
    EXPECT_EQ(nullptr, env_refuses("PTDS_NOTHING", "at all"));
}

/* 8 kB of values. */
TEST(Refused, WhatThereIsNoRoomFor)
{
    auto filled = [] {
        const std::string half(4095, 'x');
        std::string text;
        for (const std::string &value : {half, half, std::string()}) /* each with its end: just all of it */
            text += env_refuses("PTDS_TRACE", (value.empty() ? std::string("y") : value).c_str()) ? "no " : "yes ";
        return text;
    };
    auto one_more = [] {
        const std::string half(4095, 'x');
        std::string text = env_refuses("PTDS_TRACE", half.c_str()) ? "no " : "yes ";
        return text + (env_refuses("PTDS_TRACE", (half + "x").c_str()) ? "no" : "yes");
    };
    EXPECT_EQ("yes yes no ", child({}, filled));
    EXPECT_EQ("yes no", child({}, one_more));
}

std::string each_set()
{
    std::string text;
    env_each_set([](const char *name, const char *value,
                    void *to) { *static_cast<std::string *>(to) += std::string(name) + "=" + value + ";"; },
                 &text);
    return text;
}

TEST(Set, EachVariableThatIsSetIsVisited)
{
    EXPECT_EQ("", child({}, each_set));
    EXPECT_EQ("PTDS_POLICY=observe;PTDS_LOG=;PTDS_DIAG=quiet;",
              child({{"PTDS_DIAG", "quiet"}, {"PTDS_LOG", ""}, {"PTDS_POLICY", "observe"}, {"PTDS_OTHER", "1"}}, each_set));
}

} // namespace

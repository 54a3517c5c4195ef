/* SPDX-License-Identifier: Apache-2.0
 *
 * For shown_test.cc: runs that are made up, and what `ptds probe` says of them, as text to be held against a file.
 */
#ifndef PTDS_TESTS_PROBE_SHOWN_H
#define PTDS_TESTS_PROBE_SHOWN_H

#include <gtest/gtest.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <list>
#include <set>

#include "analysis/probe/runs/rounds.h"
#include "analysis/probe/outputs/compare_runs.h"
#include "analysis/probe/answer/probe_screen.h"
#include "analysis/probe/answer/probe_json.h"
#include "analysis/probe/answer/conclude.h"
#include "analysis/probe/probe.h"
#include "tests/support/sums.h"
#include "tests/support/trace_builder.h"

namespace ptds
{

const uint64_t MS = 1000000;
const ending fine = {END_EXITED, 0};

/* A line a value, and of lists a line an item. */
inline std::string Lines(const std::string &text)
{
    json_t *root = json_loads(text.c_str(), 0, nullptr), *value, *item;
    std::string out;
    const char *key;
    size_t i;
    EXPECT_NE(nullptr, root) << text;
    auto put = [&](json_t *what) {
        char *line = json_dumps(what, JSON_COMPACT | JSON_ENCODE_ANY);
        out += std::string(" ") + line + "\n";
        free(line);
    };
    json_object_foreach(root, key, value)
    {
        out += std::string(key) + ":" + (json_is_array(value) ? "\n" : "");
        if (!json_is_array(value))
            put(value);
        json_array_foreach(value, i, item) put(item);
    }
    json_decref(root);
    return out;
}

/* The same as words, "KEY=VALUE", but for what is null, false or 0, and for sentences. */
inline void Flatten(const std::string &key, json_t *what, std::string *line)
{
    const char *name;
    json_t *value;
    size_t i;
    json_object_foreach(what, name, value) Flatten(key.empty() ? name : key + "." + name, value, line);
    json_array_foreach(what, i, value) Flatten(key, value, line);
    if (json_is_true(what))
        *line += " " + key;
    if (json_integer_value(what) != 0)
        *line += " " + key + "=" + std::to_string(json_integer_value(what));
    if (json_is_real(what))
        *line += " " + key + "=" + std::to_string(json_real_value(what));
    if (json_is_string(what) && key.find("words") == std::string::npos) {
        std::string word = json_string_value(what);
        std::replace(word.begin(), word.end(), ' ', '_');
        *line += " " + key + "=" + word;
    }
}

/* What holds for the answer, a line an item; the sums of what each variant took. */
inline std::string FactsOf(const std::string &text)
{
    json_t *root = json_loads(text.c_str(), 0, nullptr), *value, *item;
    const char *key;
    size_t i;
    std::string facts;
    Sums sums;
    json_object_foreach(root, key, value)
    {
        json_array_foreach(value, i, item)
        {
            std::string line = key;
            Flatten("", item, &line);
            if (std::string(key) == "variants")
                sums.Add(line);
            else
                facts += line + "\n";
        }
        if (!json_is_array(value)) {
            std::string line;
            Flatten(key, value, &line);
            facts += line.empty() ? "" : line.substr(1) + "\n";
        }
    }
    json_decref(root);
    return facts + sums.Text();
}

class ProbeShown : public testing::Test
{
protected:
    /* In the folder of the runs, by a short name: lines are cut to fit. */
    static void SetUpTestSuite()
    {
        char path[4096] = "";
        ASSERT_NE(nullptr, realpath(data_file("tests/probe/shown/faster.txt").c_str(), path));
        expected_ = std::string(path).substr(0, std::string(path).rfind('/') + 1);
    }
    ProbeShown()
    {
        EXPECT_EQ(0, chdir(folder_.path().c_str()));
        EXPECT_EQ(0, mkdir("runs", 0700));
        rounds_begin(&probe_);
        rounds_add_policy(&probe_, "guarded", true);
        probe_.program = const_cast<char **>(program_);
        probe_.library = "/opt/libptds.so";
        probe_.rounds = probe_.done = 3;
        strcpy(probe_.folder.path, "runs");
        unsetenv("LD_PRELOAD");
        unsetenv("LD_AUDIT");
    }
    ~ProbeShown()
    {
        rounds_end(&probe_);
    }

    variant &Of(const std::string &name)
    {
        for (size_t i = 0; i < probe_.count; i++)
            if (name == probe_.variants[i].name)
                return probe_.variants[i];
        throw std::runtime_error("no variant " + name);
    }
    struct Said {
        std::string out = "done\n", err = "", file = "";
        bool writes = true;
    };
    void Run(const std::string &name, double ms, double cuda_ms, const Said &said, ending ended = fine)
    {
        variant &variant = Of(name);
        unsigned round = static_cast<unsigned>(variant.runs.count);
        variant.runs.items = static_cast<struct run *>(realloc(variant.runs.items, (round + 1) * sizeof(struct run)));
        variant.runs.items[variant.runs.count++] = {round, ended, false, static_cast<uint64_t>(ms * MS),
                                                    static_cast<uint64_t>(cuda_ms * MS)};
        variant.runs.room = variant.runs.count;
        const std::string texts[] = {said.out, said.err, said.file};
        for (size_t thing = 0; thing < compare_runs_things(&probe_); thing++)
            if (thing < THING_FILES || said.writes)
                std::ofstream(folder_thing(&probe_.folder, variant.name, round, thing).text) << texts[thing];
    }
    /* The warm-up and the rounds, alike but for their times. */
    void Rounds(const std::string &name, const std::vector<double> &ms, double cuda_share, const Said &said)
    {
        for (double one : ms)
            Run(name, one, one * cuda_share, said);
    }
    void Recorded(const std::string &name, const std::vector<std::string> &traces)
    {
        std::string folder = folder_traces(&probe_.folder, Of(name).name).text;
        ASSERT_EQ(0, mkdir(folder.c_str(), 0700));
        for (size_t i = 0; i < traces.size(); i++)
            std::ofstream(folder + "/" + std::to_string(i) + ".ptds") << BuildTrace(traces[i]);
    }
    void AddFile()
    {
        probe_.outputs.items[probe_.outputs.count++].name = "out.bin";
    }
    void Is(const std::string &name)
    {
        std::string screen, json, text;
        auto sink_of = [](std::string *to) {
            return text_sink{[](text_sink *self, const char *piece, size_t size) {
                                 static_cast<std::string *>(self->data)->append(piece, size);
                             },
                             to};
        };
        text_sink to_screen = sink_of(&screen), to_json = sink_of(&json);
        compare_runs(&probe_);
        conclude(&probe_);
        probe_screen(&probe_, true, &to_screen);
        ASSERT_EQ(0, probe_json(&probe_, false, &to_json));
        static const std::set<std::string> whole = {"ends-otherwise", "faster", "files", "many-rounds", "nothing"};
        const std::string status =
            "===== JSON, exit status " + std::to_string(policy_answer_status(&conclude_first(&probe_)->answer)) + "\n";
        text = screen + status + Lines(json);
        if (whole.count(name) != 0)
            ExpectAllOf(expected_ + name + ".txt", text);
        else
            ExpectSums(expected_ + name + ".txt", screen.substr(0, screen.find("\n\n   ") + 1) + status + FactsOf(json),
                       text);
    }

    static inline std::string expected_;
    Folder folder_;
    probe probe_ = {};
    std::list<std::string> names_;

private:
    const char *program_[3] = {"./app", "two words", nullptr};
};

} // namespace ptds

#endif

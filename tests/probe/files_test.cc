// SPDX-License-Identifier: Apache-2.0
//
// What the probe does to files and to the environment of the programs that it runs: what is there comes back, each run
// finds it as it was, and what cannot be had is said.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fstream>

#include "analysis/probe/runs/child.h"
#include "analysis/probe/runs/environment.h"
#include "analysis/probe/runs/standard_input.h"
#include "analysis/probe/runs/outputs.h"
#include "analysis/probe/outputs/view.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

class Outputs : public testing::Test
{
protected:
    Outputs()
    {
        EXPECT_EQ(0, mkdir((root_ / "kept").c_str(), 0700));
        snprintf(kept_.path, sizeof kept_.path, "%s", (root_ / "kept").c_str());
        EXPECT_EQ(0, chdir(root_.path().c_str()));
    }
    void Put(const std::string &name, const std::string &text)
    {
        std::ofstream(root_ / name) << text;
    }
    std::string Get(const std::string &name)
    {
        return access((root_ / name).c_str(), F_OK) == 0 ? read_file(root_ / name) : "(none)";
    }
    std::string Taken(const char *variant, unsigned round, size_t file)
    {
        std::string path = folder_thing(&kept_, variant, round, THING_FILES + file).text;
        return access(path.c_str(), F_OK) == 0 ? read_file(path) : "(none)";
    }
    std::string Refused(const std::string &name)
    {
        char error[OUTPUTS_ERROR_SIZE] = "";
        EXPECT_FALSE(outputs_add(&outputs_, name.c_str(), error)) << name;
        return error;
    }
    void Add(const char *name)
    {
        char error[OUTPUTS_ERROR_SIZE] = "";
        EXPECT_TRUE(outputs_add(&outputs_, name, error)) << error;
    }
    /* What cannot be put back is in complaints_. */
    bool End()
    {
        complaints_.clear();
        return outputs_end(&outputs_, [](const char *error) { complaints_.push_back(error); });
    }
    std::string Path(size_t i)
    {
        return outputs_.items[i].path.text;
    }
    Folder root_;
    folder kept_ = {};
    outputs outputs_ = {};
    char error_[OUTPUTS_ERROR_SIZE] = "";
    static std::vector<std::string> complaints_;
};

std::vector<std::string> Outputs::complaints_;

TEST_F(Outputs, AreFilesThatAreThereOrMayBe)
{
    std::string real = [&] {
        char path[4096];
        return std::string(realpath(root_.path().c_str(), path));
    }();
    Put("there", "x");
    ASSERT_EQ(0, mkdir("sub", 0700));
    ASSERT_EQ(0, symlink("there", "link"));
    ASSERT_EQ(0, symlink("nowhere", "dangling"));
    ASSERT_EQ(0, mkfifo("fifo", 0600));
    Add("there");
    EXPECT_EQ(real + "/there", Path(0));
    Add("new");
    EXPECT_EQ(real + "/new", Path(1));
    Add("sub/new");
    EXPECT_EQ(real + "/sub/new", Path(2));
    Add("/ptds-no-such-file");
    EXPECT_EQ("/ptds-no-such-file", Path(3)) << "in the root";
    EXPECT_EQ("--output link: named twice", Refused("link"));
    EXPECT_EQ("--output ./sub/../new: named twice", Refused("./sub/../new"));
    EXPECT_EQ("--output sub: not a plain file", Refused("sub"));
    EXPECT_EQ("--output fifo: not a plain file", Refused("fifo"));
    EXPECT_EQ("--output dangling: not a plain file", Refused("dangling"));
    EXPECT_EQ("--output absent/new: No such file or directory", Refused("absent/new"));
    EXPECT_EQ("--output sub/: not a plain file", Refused("sub/"));
    EXPECT_EQ(4u, outputs_.count);
    std::vector<std::string> names;
    for (unsigned i = 4; i < OUTPUTS_MOST; i++)
        names.push_back("file" + std::to_string(i));
    for (const std::string &name : names)
        Add(name.c_str());
    EXPECT_EQ("--output more: too many files", Refused("more"));
}

TEST_F(Outputs, EachRunFindsThemAsTheyWereAndTheyComeBack)
{
    Put("old", "before");
    ASSERT_EQ(0, chmod("old", 0640));
    Add("old");
    Add("new");
    struct stat first, last;
    ASSERT_EQ(0, stat("old", &first));
    ASSERT_TRUE(outputs_begin(&outputs_, error_)) << error_;
    EXPECT_EQ("(none)", Get("old")) << "aside";
    for (unsigned round = 0; round < 2; round++) {
        ASSERT_TRUE(outputs_restore(&outputs_, error_)) << error_;
        EXPECT_EQ("before", Get("old"));
        EXPECT_EQ("(none)", Get("new"));
        struct stat now;
        ASSERT_EQ(0, stat("old", &now));
        EXPECT_EQ(0640u, now.st_mode & 0777) << "its mode, too";
        Put("old", "run " + std::to_string(round));
        if (round == 1)
            Put("new", "made");
        ASSERT_TRUE(outputs_take(&outputs_, &kept_, "guarded", round, error_)) << error_;
    }
    EXPECT_EQ("run 0", Taken("guarded", 0, 0));
    EXPECT_EQ("(none)", Taken("guarded", 0, 1)) << "it was not written";
    EXPECT_EQ("run 1", Taken("guarded", 1, 0));
    EXPECT_EQ("made", Taken("guarded", 1, 1));
    ASSERT_TRUE(End());
    EXPECT_EQ("before", Get("old"));
    EXPECT_EQ("(none)", Get("new")) << "it was not there";
    ASSERT_EQ(0, stat("old", &last));
    EXPECT_EQ(first.st_ino, last.st_ino) << "the very file";
    EXPECT_EQ((std::vector<std::string>{"kept", "old"}), root_.files());
}

TEST_F(Outputs, OneThatWasNotWrittenHidesNoOther)
{
    Add("first");
    Add("second");
    ASSERT_TRUE(outputs_begin(&outputs_, error_)) << error_;
    Put("second", "made");
    ASSERT_TRUE(outputs_take(&outputs_, &kept_, "guarded", 0, error_)) << error_;
    EXPECT_EQ("(none)", Taken("guarded", 0, 0));
    EXPECT_EQ("made", Taken("guarded", 0, 1));
    ASSERT_TRUE(End());
}

TEST_F(Outputs, WhatCannotBePutAsideLeavesAllWhereItWas)
{
    Put("one", "1");
    Put("two", "2");
    Put("two.ptds-probe-" + std::to_string(getpid()), "in the way");
    Add("one");
    Add("two");
    EXPECT_FALSE(outputs_begin(&outputs_, error_));
    EXPECT_NE(std::string::npos,
              std::string(error_).find("/two.ptds-probe-" + std::to_string(getpid()) + ": is there already"))
        << error_;
    EXPECT_EQ("1", Get("one"));
    EXPECT_EQ("2", Get("two"));
    EXPECT_TRUE(End()) << "nothing was begun";
    EXPECT_EQ("1", Get("one"));
}

/* So long that its name aside has no room. */
TEST_F(Outputs, AFileWhoseNameHasNoRoomStays)
{
    std::string part(200, 'd');
    char here[PATH_MAX];
    ASSERT_NE(nullptr, getcwd(here, sizeof here));
    size_t size = strlen(here);
    for (; size < PATH_MAX - 250; size += part.size() + 1) {
        ASSERT_EQ(0, mkdir(part.c_str(), 0700));
        ASSERT_EQ(0, chdir(part.c_str()));
    }
    std::string name(PATH_MAX - 3 - size, 'f');
    std::ofstream(name) << "before";
    Add(name.c_str());
    EXPECT_EQ(PATH_MAX - 2u, Path(0).size());
    EXPECT_FALSE(outputs_begin(&outputs_, error_));
    EXPECT_EQ("--output " + name + ": File name too long", error_);
    EXPECT_EQ("before", read_file(name));
}

TEST_F(Outputs, WhatBecomesOtherThanAFileIsSaid)
{
    Add("out");
    ASSERT_TRUE(outputs_begin(&outputs_, error_));
    ASSERT_EQ(0, mkdir("out", 0700));
    EXPECT_FALSE(outputs_take(&outputs_, &kept_, "bare", 0, error_));
    EXPECT_STREQ("--output out: not a plain file any more", error_);
    EXPECT_FALSE(outputs_restore(&outputs_, error_));
    EXPECT_STREQ("--output out: Is a directory", error_);
    EXPECT_TRUE(End()) << "no file, and not ours to remove";
    EXPECT_EQ(0, access("out", F_OK));
    ASSERT_EQ(0, rmdir("out"));
    Put("out", "once");
    ASSERT_TRUE(outputs_take(&outputs_, &kept_, "bare", 1, error_));
    EXPECT_FALSE(outputs_take(&outputs_, &kept_, "bare", 1, error_)) << "a run's thing is there already";
    EXPECT_STREQ("--output out: File exists", error_);
}

TEST_F(Outputs, EachFileThatCannotComeBackIsNamed)
{
    for (const char *name : {"one", "two", "three"}) {
        Put(name, std::string("before ") + name);
        Add(name);
    }
    ASSERT_TRUE(outputs_begin(&outputs_, error_));
    for (const char *name : {"one", "three"}) {
        ASSERT_EQ(0, mkdir(name, 0700));
        Put(name + std::string("/in"), "the way");
    }
    EXPECT_FALSE(End());
    auto aside = [&](size_t i) { return Path(i) + ".ptds-probe-" + std::to_string(getpid()); };
    EXPECT_EQ((std::vector<std::string>{"--output one: Is a directory; the file is " + aside(0),
                                        "--output three: Is a directory; the file is " + aside(2)}),
              complaints_);
    EXPECT_EQ("before three", read_file(aside(2)));
    EXPECT_EQ("before two", Get("two"));
}

/* stdin while this lives. */
class Stdin
{
public:
    explicit Stdin(int file) : old_(dup(STDIN_FILENO))
    {
        dup2(file, STDIN_FILENO);
        close(file);
    }
    ~Stdin()
    {
        dup2(old_, STDIN_FILENO);
        close(old_);
    }

private:
    int old_;
};

unsigned waited;

TEST_F(Outputs, WhatIsGivenIsKeptForEachRun)
{
    path given = {};
    auto waiting = [] { waited++; };
    std::string text(200000, 'x');
    Put("input", text + "end\n");
    {
        Stdin from(open("input", O_RDONLY));
        ASSERT_TRUE(standard_input_take(&kept_, waiting, &given));
        EXPECT_EQ(std::string(kept_.path) + "/stdin", given.text);
        EXPECT_EQ(text + "end\n", read_file(given.text));
        EXPECT_FALSE(standard_input_take(&kept_, waiting, &given)) << "it is there already";
        EXPECT_EQ(EEXIST, errno);
        unlink(given.text);
    }
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    ASSERT_EQ(5, write(ends[1], "piped", 5));
    close(ends[1]);
    {
        Stdin from(ends[0]);
        ASSERT_TRUE(standard_input_take(&kept_, waiting, &given));
        EXPECT_EQ("piped", read_file(given.text));
        unlink(given.text);
    }
    EXPECT_EQ(0u, waited) << "nobody had to wait";
    for (const char *none : {"/dev/null", "/"}) {
        Stdin from(open(none, O_RDONLY));
        ASSERT_TRUE(standard_input_take(&kept_, waiting, &given));
        EXPECT_STREQ("/dev/null", given.text) << none;
    }
    EXPECT_EQ((std::vector<std::string>{}), [&] {
        std::vector<std::string> left;
        for (const std::string &name : root_.files())
            if (name == "kept/stdin")
                left.push_back(name);
        return left;
    }());
}

/* A pipe that has something each time it is asked. */
TEST_F(Outputs, ASignalIsObeyedWhileMoreIsGiven)
{
    int ends[2];
    path given = {};
    ASSERT_EQ(0, pipe(ends));
    ASSERT_EQ(5, write(ends[1], "piped", 5));
    close(ends[1]);
    Stdin from(ends[0]);
    child_signals_begin();
    raise(SIGTERM);
    EXPECT_FALSE(standard_input_take(&kept_, nullptr, &given));
    EXPECT_EQ(EINTR, errno);
    child_signals_end();
}

std::string LastLines(const std::string &text, size_t count)
{
    view view = {};
    std::vector<line> lines(count);
    view.bytes = {text.data(), text.size()};
    view_last_lines(&view, lines.data(), count);
    std::string all;
    for (const line &one : lines)
        all += std::string(one.text) + "|";
    return all;
}

TEST(View, TheLastLines)
{
    EXPECT_EQ("|||", LastLines("", 3));
    EXPECT_EQ("||one|", LastLines("one", 3));
    EXPECT_EQ("||one|", LastLines("one\n", 3));
    EXPECT_EQ("|one|two|", LastLines("one\ntwo", 3));
    EXPECT_EQ("two|three|four|", LastLines("one\ntwo\nthree\nfour\n", 3));
    EXPECT_EQ("two||four|", LastLines("one\ntwo\n\nfour\n", 3));
    EXPECT_EQ("a?b|", LastLines(std::string("x\na\x01") + "b\n", 1));
}

std::string WithoutOwn(std::string text, std::string *said)
{
    view view = {};
    line first = {};
    view.bytes = {text.data(), text.size()};
    view_drop_own_lines(&view, &first);
    *said = first.text;
    return std::string(view.bytes.at, view.bytes.size);
}

TEST(View, TheShimsOwnLinesAreNoneOfTheProgram)
{
    std::string said;
    EXPECT_EQ("a\nb\n", WithoutOwn("a\nptds: one\nb\nptds: two\n", &said));
    EXPECT_EQ("ptds: one", said) << "the first of them";
    EXPECT_EQ("a\n", WithoutOwn("a\nptds: no newline", &said));
    EXPECT_EQ("ptds: no newline", said);
    EXPECT_EQ(" ptds: a\nptds:\nptds", WithoutOwn(" ptds: a\nptds:\nptds", &said));
    EXPECT_EQ("", said);
    EXPECT_EQ("", WithoutOwn("", &said));
    EXPECT_EQ("", WithoutOwn("ptds: \n", &said));
}

TEST(View, FilesThatAreThereEmptyOrMissing)
{
    Folder folder;
    std::ofstream(folder / "text") << "abc";
    std::ofstream(folder / "empty") << "";
    view text = view_open((folder / "text").c_str()), empty = view_open((folder / "empty").c_str()),
         none = view_open((folder / "none").c_str());
    EXPECT_TRUE(text.there && empty.there);
    EXPECT_FALSE(none.there);
    EXPECT_EQ("abc", std::string(text.bytes.at, text.bytes.size));
    EXPECT_EQ(0u, empty.bytes.size + none.bytes.size);
    view_close(&text);
    EXPECT_EQ(0u, text.mapped);
    view_close(&empty);
    view_close(&none);
}

std::string Value(const char *name)
{
    const char *value = getenv(name);
    return value != nullptr ? value : "(unset)";
}

class EnvironmentTest : public testing::Test
{
protected:
    EnvironmentTest()
    {
        for (const char *name : {"LD_PRELOAD", "LD_AUDIT", "PTDS_POLICY", "PTDS_REPORT", "PTDS_TRACE", "PTDS_LANES"})
            unsetenv(name);
    }
};

TEST_F(EnvironmentTest, UnderAPolicy)
{
    setenv("LD_PRELOAD", "/other.so:/old/libptds.so", 1);
    setenv("PTDS_LOG", "stderr", 1);
    setenv("PTDS_DISABLE", "1", 1);
    for (const char *name : {"PTDS_TRACE", "PTDS_POLICY", "PTDS_REPORT"})
        setenv(name, "mine", 1);
    ASSERT_TRUE(environment_set("/lib/libptds.so", "guarded", "t.ptds", nullptr));
    EXPECT_EQ("/other.so:/lib/libptds.so", Value("LD_PRELOAD"));
    EXPECT_EQ("guarded", Value("PTDS_POLICY"));
    EXPECT_EQ("off", Value("PTDS_REPORT"));
    EXPECT_EQ("t.ptds", Value("PTDS_TRACE"));
    EXPECT_EQ("(unset)", Value("PTDS_LOG"));
    EXPECT_EQ("(unset)", Value("PTDS_DISABLE"));
    ASSERT_TRUE(environment_set("/lib/libptds.so", "stream", nullptr, nullptr));
    EXPECT_EQ("(unset)", Value("PTDS_TRACE")) << "not recorded";
    EXPECT_EQ("stream", Value("PTDS_POLICY"));
}

TEST_F(EnvironmentTest, BareIsAsTheCallerHasItButForTheShim)
{
    setenv("LD_PRELOAD", "/old/libptds.so", 1);
    setenv("PTDS_POLICY", "mine", 1);
    unsetenv("PTDS_DISABLE");
    ASSERT_TRUE(environment_set(nullptr, "none", nullptr, nullptr));
    EXPECT_EQ("(unset)", Value("LD_PRELOAD"));
    EXPECT_EQ("1", Value("PTDS_DISABLE")) << "an enabled Python has the shim without LD_PRELOAD";
    EXPECT_EQ("mine", Value("PTDS_POLICY"));
}

TEST_F(EnvironmentTest, LanesAndTheAuditor)
{
    ASSERT_TRUE(environment_set_lanes(0));
    EXPECT_EQ("(unset)", Value("PTDS_LANES"));
    ASSERT_TRUE(environment_set_lanes(12));
    EXPECT_EQ("12", Value("PTDS_LANES"));
    ASSERT_TRUE(environment_set_lanes(4));
    EXPECT_EQ("4", Value("PTDS_LANES"));
    setenv("LD_AUDIT", "/other.so:/old/libptds_audit.so", 1);
    ASSERT_TRUE(environment_set_auditor("/lib/libptds.so", nullptr));
    EXPECT_EQ("/other.so:/old/libptds_audit.so", Value("LD_AUDIT")) << "as the caller has it";
    ASSERT_TRUE(environment_set_auditor("/lib/libptds.so", "/lib/libptds_audit.so"));
    EXPECT_EQ("/other.so:/lib/libptds_audit.so", Value("LD_AUDIT"));
    ASSERT_TRUE(environment_set_auditor(nullptr, "/lib/libptds_audit.so"));
    EXPECT_EQ("/other.so", Value("LD_AUDIT")) << "bare";
}

TEST_F(EnvironmentTest, TheSeedIsTheRunsOwn)
{
    setenv("PTDS_SHAKE", "9", 1);
    ASSERT_TRUE(environment_set_seed(12));
    EXPECT_EQ("12", Value("PTDS_SHAKE"));
    ASSERT_TRUE(environment_set_seed(0));
    EXPECT_EQ("(unset)", Value("PTDS_SHAKE"));
}

} // namespace
} // namespace ptds

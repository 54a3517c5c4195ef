/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace's file: whose it is, what it may not be, what happens when somebody cuts it. On the simulated driver.
 */
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

Command small(const Settings &settings)
{
    Command command = shimmed("load_child", {"crowd", "2", "5", "0"}, settings);
    command.libraries = simulator();
    return command;
}

mode_t mode_of(const std::string &path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

void expect_refused(const std::string &path, const std::string &why)
{
    Outcome outcome = run(small({{"PTDS_TRACE", path}}));
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.err, "ptds: PTDS_TRACE: cannot write " + path + ": " + why + "; recording in memory only\n");
}

TEST(File, IsTheUsersAlone)
{
    Folder folder;
    Command command = small({{"PTDS_TRACE", folder / "trace"}});
    command.before = [] { umask(0); };
    EXPECT_EQ(run(command).exit, 0);
    EXPECT_EQ(mode_of(folder / "trace") & 07777, 0600u);
}

TEST(File, ALinkIsNotFollowed)
{
    Folder folder;
    ASSERT_EQ(symlink((folder / "to").c_str(), (folder / "nowhere").c_str()), 0);
    expect_refused(folder / "nowhere", "is a symbolic link, which is not followed");
    EXPECT_EQ(folder.files(), std::vector<std::string>{"nowhere"});
    run(small({{"PTDS_TRACE", folder / "to"}}));
    std::string before = read_file(folder / "to");
    expect_refused(folder / "nowhere", "is a symbolic link, which is not followed");
    EXPECT_EQ(read_file(folder / "to"), before);
}

TEST(File, WhatIsNoTraceStays)
{
    Folder folder;
    std::ofstream(folder / "thesis") << "years";
    expect_refused(folder / "thesis", "is there and is no trace, so it is not overwritten");
    EXPECT_EQ(read_file(folder / "thesis"), "years");
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    expect_refused(folder / "pipe", "is no regular file");
    if (std::string null = device(folder, "null", 3); !null.empty())
        expect_refused(null, "is no regular file");
}

TEST(File, OfAnotherUserIsRefused)
{
    Folder folder;
    std::ofstream(folder / "trace").close();
    if (chown((folder / "trace").c_str(), 12345, 12345) != 0)
        GTEST_SKIP() << "files can't be given away here";
    chmod((folder / "trace").c_str(), 0666);
    expect_refused(folder / "trace", "belongs to another user");
    EXPECT_EQ(read_file(folder / "trace"), "");
}

/* With one descriptor more than the program needs the lock can be had and the pages can't. */
TEST(File, WithoutDescriptors)
{
    bool none_is_left = false;
    for (rlim_t most = 4; most < 20; most++) {
        Folder folder;
        Command command = small({{"PTDS_TRACE", folder / "trace"}});
        command.before = [most] {
            rlimit limit = {most, most};
            setrlimit(RLIMIT_NOFILE, &limit);
        };
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.err.find("no space"), std::string::npos) << outcome;
        if (outcome.err.find("PTDS_TRACE: no descriptor is left for " + folder / "trace" + "; recording in memory only") !=
            std::string::npos) {
            none_is_left = true;
            EXPECT_EQ(outcome.exit, 0) << outcome;
            EXPECT_TRUE(folder.files().empty());
        }
    }
    EXPECT_TRUE(none_is_left);
}

/* One that was made for it is used, and is left as it was where there is no room. */
TEST(File, AnEmptyOneIsUsed)
{
    Folder folder;
    std::ofstream(folder / "trace").close();
    EXPECT_EQ(run(small({{"PTDS_TRACE", folder / "trace"}})).err, "");
    EXPECT_EQ(walk(folder / "trace").counts["cuLaunchKernel"], 10u);
}

TEST(File, AFinishedTraceIsKeptBeside)
{
    Folder folder;
    Outcome first = run(small({{"PTDS_TRACE", folder / "trace"}}));
    std::string before = read_file(folder / "trace"), kept = folder / ("trace." + std::to_string(first.pid));
    Outcome second = run(small({{"PTDS_TRACE", folder / "trace"}}));
    EXPECT_EQ(second.err,
              "ptds: PTDS_TRACE: " + folder / "trace" + " was a trace of another run, which is " + kept + " now\n");
    EXPECT_TRUE(read_file(kept) == before);
    EXPECT_EQ(walk(folder / "trace").header.pid, static_cast<uint32_t>(second.pid));
    EXPECT_EQ(folder.files().size(), 2u);
    std::ofstream(folder / ("trace." + std::to_string(second.pid))) << "taken";
    Outcome third = run(small({{"PTDS_TRACE", folder / "trace"}}));
    EXPECT_EQ(walk(folder / ("trace." + std::to_string(second.pid) + ".2")).header.pid, static_cast<uint32_t>(second.pid));
    EXPECT_EQ(walk(folder / "trace").header.pid, static_cast<uint32_t>(third.pid));
}

/* Who names the file to `ptds run` wants this run in it. Whoever reads the old one goes on reading. */
TEST(File, ARunReplacesATrace)
{
    Folder folder;
    run(small({{"PTDS_TRACE", folder / "trace"}}));
    std::string before = read_file(folder / "trace");
    std::ifstream reader(folder / "trace", std::ios::binary);
    Outcome second = run(small({{"PTDS_TRACE", folder / "trace"}, {"PTDS_RUN", "77:1:"}}));
    EXPECT_EQ(second.err, "");
    EXPECT_EQ(folder.files(), std::vector<std::string>{"trace"});
    EXPECT_EQ(walk(folder / "trace").header.pid, static_cast<uint32_t>(second.pid));
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(reader), {}) == before);
}

class Held
{
public:
    explicit Held(const Settings &settings, const std::string &more = "") : running_(command(settings, more))
    {
    }
    bool ready()
    {
        return running_.wait_for("ready");
    }
    /* Ten launches more; false where the program has ended instead. */
    bool again()
    {
        std::string before = running_.out();
        std::ofstream(folder_ / "go", std::ios::app) << "1";
        return running_.wait_for(before + "again");
    }
    Running &process()
    {
        return running_;
    }

private:
    Command command(const Settings &settings, const std::string &more)
    {
        Command command = shimmed("load_child", {"hold", folder_ / "go"}, settings);
        if (!more.empty())
            command.argv.push_back(more);
        command.libraries = simulator();
        return command;
    }
    Folder folder_;
    Running running_;
};

/* The whole of it; all but the header and a chunk; a part that nobody has come to yet, and that is not looked at in the end
 * either. */
TEST(File, CutUnderTheProgram)
{
    for (off_t left :
         {off_t{0}, off_t{PTDS_HEADER_SIZE + PTDS_CHUNK_SIZE}, off_t{PTDS_HEADER_SIZE + 30 * PTDS_CHUNK_SIZE}}) {
        SCOPED_TRACE(left);
        Folder folder;
        Held held({{"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}});
        ASSERT_TRUE(held.ready());
        ASSERT_EQ(truncate((folder / "trace").c_str(), left), 0);
        for (int i = 0; i < 3; i++)
            EXPECT_TRUE(held.again());
        Outcome outcome = held.process().end();
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.err, "ptds: " + folder / "trace" +
                                   " was cut, or its disk failed, while the program ran: there is no report\n");
    }
}

/* The file is gone, and another one has its name: that is somebody else's. */
TEST(File, AnotherOneOfItsName)
{
    Folder folder;
    Command command = shimmed("load_child", {"hold", folder / "go", "40000"}, {{"PTDS_TRACE", folder / "trace"}});
    command.libraries = simulator();
    Running running(command);
    ASSERT_TRUE(running.wait_for("ready"));
    unlink((folder / "trace").c_str());
    std::ofstream(folder / "trace") << "another's" << std::string(8u << 20, 'x');
    std::string before = read_file(folder / "trace");
    std::ofstream(folder / "go") << "111";
    Outcome outcome = running.end();
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_TRUE(read_file(folder / "trace") == before);
    EXPECT_NE(outcome.err.find("no space for more of the trace, or its file is gone"), std::string::npos) << outcome;
}

/* Any other bus error ends the program as ever, and so does the signal from elsewhere. */
TEST(File, OtherBusErrorsEndTheProgram)
{
    Folder folder;
    Held held({{"PTDS_TRACE", folder / "trace"}});
    ASSERT_TRUE(held.ready());
    held.process().kill(SIGBUS);
    EXPECT_EQ(held.process().end().signal, SIGBUS);
    Command command = shimmed("load_child", {"bus"}, {{"PTDS_TRACE", folder / "other"}});
    command.libraries = simulator();
    EXPECT_EQ(run(command).signal, SIGBUS);
}

/* Without a file there is no handler, and the program's own stays. */
TEST(File, HandlersOfTheProgram)
{
    Folder folder;
    for (const auto &[how, traced, handler] :
         {std::tuple{"default", false, "default"}, {"default", true, "another"}, {"own", true, "own"}}) {
        Settings settings = {{"PTDS_REPORT", "/dev/null"}};
        if (traced)
            settings["PTDS_TRACE"] = folder / how;
        Command command = shimmed("load_child", {"handler", how}, settings);
        command.libraries = simulator();
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.out, std::string(handler) + "\n") << outcome;
    }
}

} // namespace
} // namespace ptds

// SPDX-License-Identifier: Apache-2.0
//
// Every form that the command writes, to every kind of file: what is there is replaced by a whole result, written to as it
// is, or left alone, and nothing else is left behind.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <linux/capability.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/analysis/support.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

const char with_finding[] = "1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" GOES_ON;

struct Form {
    const char *name;
    std::vector<std::string> arguments;
    const char *holds; /* what a whole one has in it */
};

const Form forms[] = {{"text", {"report"}, "sync-copy"},
                      {"all", {"report", "--all"}, "Implicit orders"},
                      {"json", {"report", "--format", "json"}, "\"ptds_report_version\": 1"},
                      {"html", {"report", "--format", "html"}, "</html>"},
                      {"perfetto", {"export", "--to", "perfetto"}, "\x92\x03"}, /* compressed_packets */
                      {"sqlite", {"export", "--to", "sqlite"}, "SQLite format 3"},
                      {"folded", {"export", "--to", "folded"}, ";cuMemcpyDtoH_v2 "},
                      {"sarif", {"export", "--to", "sarif"}, "\"2.1.0\""}};

/* Hidden ones, too. */
size_t Files(const Folder &folder)
{
    auto entries = std::filesystem::directory_iterator(folder.path());
    return static_cast<size_t>(std::distance(std::filesystem::begin(entries), std::filesystem::end(entries)));
}

class Output : public testing::TestWithParam<Form>
{
public:
    Output() : trace(folder / "app.ptds")
    {
        std::ofstream(trace) << BuildTrace(with_finding);
        before = read_file(trace);
    }
    Command To(const std::string &output, const std::string &of = "") const
    {
        Command command = {{data_file("analysis/ptds_leaks")}};
        command.argv.insert(command.argv.end(), GetParam().arguments.begin(), GetParam().arguments.end());
        command.argv.insert(command.argv.end(), {"-o", output, of.empty() ? trace : of});
        command.env["TMPDIR"] = temporaries.path();
        return command;
    }
    /* A whole result, and no other file than these beside it. */
    void ExpectWhole(const std::string &path, size_t files)
    {
        EXPECT_NE(std::string::npos, read_file(path).find(GetParam().holds)) << path;
        ExpectNothingElse(files);
    }
    void ExpectNothingElse(size_t files)
    {
        EXPECT_EQ(files, Files(folder)) << "something was left behind";
        EXPECT_EQ(0u, Files(temporaries)) << "something was left behind";
        EXPECT_EQ(before, read_file(trace)) << "the trace is as it was";
    }
    static mode_t Mode(const std::string &path)
    {
        struct stat status;
        return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
    }
    static bool Is(const std::string &path, mode_t kind)
    {
        struct stat status;
        return lstat(path.c_str(), &status) == 0 && (status.st_mode & S_IFMT) == kind;
    }
    Folder folder, temporaries;
    std::string trace, before;
};

TEST_P(Output, ANewFileIsAsAnyNewFile)
{
    Command command = To(folder / "out");
    command.before = [] { umask(027); };
    Outcome ran = run(command);
    EXPECT_EQ(0, ran.exit) << ran;
    ExpectWhole(folder / "out", 2);
    EXPECT_EQ(0640u, Mode(folder / "out"));
}

TEST_P(Output, AFileIsReplacedAndKeepsItsMode)
{
    std::ofstream(folder / "out") << std::string(1000000, 'x');
    ASSERT_EQ(0, chmod((folder / "out").c_str(), 0604));
    Outcome ran = run(To(folder / "out"));
    EXPECT_EQ(0, ran.exit) << ran;
    ExpectWhole(folder / "out", 2);
    EXPECT_EQ(std::string::npos, read_file(folder / "out").find("xxxxxxxxxxxx"));
    EXPECT_EQ(0604u, Mode(folder / "out"));
}

TEST_P(Output, ASymlinkStaysAndWhatItPointsToIsWritten)
{
    Folder other;
    std::ofstream(other / "there") << "old";
    ASSERT_EQ(0, symlink((other / "there").c_str(), (folder / "middle").c_str()));
    ASSERT_EQ(0, symlink("middle", (folder / "link").c_str()));
    Outcome ran = run(To(folder / "link"));
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Is(folder / "link", S_IFLNK) && Is(folder / "middle", S_IFLNK) && Is(other / "there", S_IFREG));
    ExpectWhole(other / "there", 3);
    EXPECT_EQ(1u, Files(other));
}

TEST_P(Output, ADanglingSymlinkStaysAndGetsItsFile)
{
    ASSERT_EQ(0, symlink("not-yet", (folder / "link").c_str()));
    Outcome ran = run(To(folder / "link"));
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Is(folder / "link", S_IFLNK));
    ExpectWhole(folder / "not-yet", 3);
    ASSERT_EQ(0, symlink((folder / "later").c_str(), (folder / "whole").c_str()));
    EXPECT_EQ(0, run(To(folder / "whole")).exit);
    ExpectWhole(folder / "later", 5);
    ASSERT_EQ(0, symlink("round", (folder / "round").c_str()));
    ran = run(To(folder / "round"));
    EXPECT_EQ(3, ran.exit);
    EXPECT_EQ(1u, lines_of(ran.err).size()) << ran;
    ExpectNothingElse(6);
}

TEST_P(Output, AFifoIsWrittenInto)
{
    std::string fifo = folder / "fifo", got;
    ASSERT_EQ(0, mkfifo(fifo.c_str(), 0600));
    std::thread reader([&] { got = read_file(fifo); });
    Outcome ran = run(To(fifo));
    if (ran.exit != 0) /* lets the reader go */
        close(open(fifo.c_str(), O_WRONLY | O_NONBLOCK));
    reader.join();
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Is(fifo, S_IFIFO));
    EXPECT_NE(std::string::npos, got.find(GetParam().holds)) << got.size();
    ExpectNothingElse(2);
}

TEST_P(Output, DevicesStayDevices)
{
    /* Of its own, where that is allowed: a broken command must not break this machine's. */
    for (bool full : {false, true}) {
        std::string device = folder / (full ? "full" : "null");
        bool own = mknod(device.c_str(), S_IFCHR | 0666, makedev(1, full ? 7 : 3)) == 0;
        if (!own || close(open(device.c_str(), O_WRONLY)) != 0) {
            unlink(device.c_str());
            if (access("/dev", W_OK) == 0)
                GTEST_SKIP() << "no devices can be made here, and this user could replace the machine's";
            device = full ? "/dev/full" : "/dev/null";
            own = false;
        }
        Outcome ran = run(To(device));
        EXPECT_EQ(full ? 3 : 0, ran.exit) << ran;
        EXPECT_EQ(full, ran.err.find(device + ": No space left on device") != std::string::npos) << ran;
        EXPECT_TRUE(Is(device, S_IFCHR)) << device;
        ExpectNothingElse(!own ? 1 : full ? 3 : 2);
    }
}

/* Nothing that is opened meanwhile gets its number, and with it the output. */
TEST_P(Output, AClosedStdoutIsAnError)
{
    for (bool all : {false, true}) {
        Command command = To("-");
        if (GetParam().arguments.back() == "sqlite")
            GTEST_SKIP() << "a database is no stream";
        command.before = [all] {
            for (int file = all ? 0 : 1; file <= (all ? 2 : 1); file++)
                close(file);
        };
        Outcome ran = run(command);
        EXPECT_EQ(3, ran.exit) << ran;
        EXPECT_EQ(!all, ran.err.find(": stdout: Bad file descriptor\n") != std::string::npos) << ran;
        ExpectNothingElse(1);
    }
}

TEST_P(Output, StdoutByNameIsStdout)
{
    Outcome ran = run(To("/dev/stdout"));
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.out.find(GetParam().holds)) << ran;
    /* Also where it is a file that has something in it already. */
    std::string line;
    for (const std::string &word : To("/dev/stdout").argv)
        line += "'" + word + "' ";
    Command shell = {{"/bin/sh", "-c", "(echo first; " + line + "; echo last) >>" + (folder / "log")}};
    shell.env["TMPDIR"] = temporaries.path();
    ran = run(shell);
    std::string log = read_file(folder / "log");
    EXPECT_EQ(0u, log.find("first\n"));
    EXPECT_EQ(log.size() - 5, log.rfind("last\n"));
    ExpectWhole(folder / "log", 2);
}

TEST_P(Output, TheInputIsRefused)
{
    std::string linked = folder / "linked", hard = folder / "hard";
    ASSERT_EQ(0, symlink("app.ptds", linked.c_str()));
    ASSERT_EQ(0, link(trace.c_str(), hard.c_str()));
    for (const std::string &path : {trace, linked, hard}) {
        Outcome ran = run(To(path));
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_EQ(1u, lines_of(ran.err).size()) << ran;
        EXPECT_NE(std::string::npos, ran.err.find("that is the trace that is being read")) << ran;
        EXPECT_EQ("", ran.out);
        ExpectNothingElse(3);
    }
    /* Of a folder: what is a trace in it; the rest of it may be written. */
    Outcome ran = run(To(hard, folder.path()));
    EXPECT_EQ(2, ran.exit) << ran;
    unlink(linked.c_str());
    unlink(hard.c_str());
    EXPECT_EQ(0, run(To(folder / "in-it", folder.path())).exit);
    ExpectNothingElse(2);
}

TEST_P(Output, AnotherTraceIsRefused)
{
    std::ofstream(folder / "renamed") << before;
    Outcome ran = run(To(folder / "renamed"));
    EXPECT_EQ(2, ran.exit) << ran;
    EXPECT_EQ(1u, lines_of(ran.err).size()) << ran;
    EXPECT_EQ(before, read_file(folder / "renamed"));
    ExpectNothingElse(2);
}

TEST_P(Output, AFolderIsAnError)
{
    ASSERT_EQ(0, mkdir((folder / "sub").c_str(), 0755));
    Outcome ran = run(To(folder / "sub"));
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.err.find("/sub: Is a directory")) << ran;
    ran = run(To(folder / "no/such/place"));
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.err.find("/no/such/place: No such file or directory")) << ran;
    ExpectNothingElse(2);
    rmdir((folder / "sub").c_str());
}

TEST_P(Output, ASocketStaysOne)
{
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string path = folder / "socket";
    int file = socket(AF_UNIX, SOCK_STREAM, 0),
        at = open(folder.path().c_str(), O_PATH); /* the path is too long for bind */
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/socket", at);
    ASSERT_EQ(0, bind(file, reinterpret_cast<struct sockaddr *>(&address), sizeof address));
    Outcome ran = run(To(path));
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_TRUE(Is(path, S_IFSOCK));
    ExpectNothingElse(2);
    close(at);
    close(file);
}

/* Root, but without its way past permissions. */
void Unprivileged()
{
    for (int capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER})
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

bool CanBeUnprivileged(const std::string &folder)
{
    Command touch = {{"/bin/sh", "-c", "! touch '" + folder + "/probe'"}};
    touch.before = Unprivileged;
    return run(touch).exit == 0;
}

TEST_P(Output, AFolderThatCannotBeWritten)
{
    Folder closed;
    std::ofstream(closed / "old") << "old";
    std::ofstream(closed / "closed") << "old";
    chmod((closed / "closed").c_str(), 0444);
    chmod(closed.path().c_str(), 0555);
    bool can = CanBeUnprivileged(closed.path());
    Command fresh = To(closed / "new"), old = To(closed / "old"), kept = To(closed / "closed");
    fresh.before = old.before = kept.before = Unprivileged;
    Outcome no = run(fresh), there = run(old), read_only = run(kept);
    chmod(closed.path().c_str(), 0755);
    if (!can)
        GTEST_SKIP() << "this user may write everywhere";
    EXPECT_EQ(3, no.exit) << no;
    EXPECT_NE(std::string::npos, no.err.find("/new: Permission denied")) << no;
    EXPECT_EQ(3, read_only.exit) << read_only;
    EXPECT_EQ("old", read_file(closed / "closed")) << "a file that is read-only is not replaced";
    EXPECT_EQ(0, there.exit) << "a file that may be written is, where none can be made beside it: " << there;
    ExpectWhole(closed / "old", 1);
    EXPECT_EQ(2u, Files(closed));
}

TEST_P(Output, AFileThatMayNotBeWrittenStays)
{
    Folder other;
    std::ofstream(other / "closed") << "old";
    chmod((other / "closed").c_str(), 0444);
    chmod(other.path().c_str(), 0555);
    bool can = CanBeUnprivileged(other.path());
    chmod(other.path().c_str(), 0755);
    if (!can)
        GTEST_SKIP() << "this user may write everywhere";
    Command command = To(other / "closed");
    command.before = Unprivileged;
    Outcome ran = run(command);
    EXPECT_EQ(3, ran.exit) << "its folder may be written, so it could be replaced: " << ran;
    EXPECT_NE(std::string::npos, ran.err.find("/closed: Permission denied")) << ran;
    EXPECT_EQ("old", read_file(other / "closed"));
    EXPECT_EQ(1u, Files(other));
}

TEST_P(Output, AFullDiskLeavesTheOldFile)
{
    std::ofstream(folder / "out") << "old";
    std::string line;
    for (const std::string &word : To(folder / "out").argv)
        line += " '" + word + "'";
    for (const char *most : {"0", "1"}) { /* blocks; what it says goes into a pipe, which has no limit */
        if (most[0] == '1' && std::string(GetParam().holds).find("</html>") != 0)
            continue; /* small enough */
        Command command = {
            {"/bin/sh", "-c",
             std::string("said=$(ulimit -f ") + most + ";" + line + " 2>&1); status=$?; echo \"$said\" >&2; exit $status"}};
        command.env["TMPDIR"] = temporaries.path();
        Outcome ran = run(command);
        EXPECT_EQ(3, ran.exit) << ran;
        EXPECT_NE(std::string::npos, ran.err.find("/out: ")) << ran;
        EXPECT_EQ("old", read_file(folder / "out"));
        ExpectNothingElse(2);
    }
}

/* One that is being written: it waits for a trace that comes from a FIFO, when its file is there already. */
TEST_P(Output, ASignalLeavesNothing)
{
    std::ofstream(folder / "out") << "old";
    std::string never = folder / "never";
    ASSERT_EQ(0, mkfifo(never.c_str(), 0600));
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
        Running running(To(folder / "out", never));
        for (int tries = 0; tries < 1000 && Files(folder) < 4; tries++)
            usleep(10000);
        EXPECT_EQ(4u, Files(folder)) << "it had begun";
        running.kill(signal);
        Outcome ran = running.end();
        EXPECT_EQ(signal, ran.signal) << ran;
        EXPECT_EQ("old", read_file(folder / "out"));
        ExpectNothingElse(3);
    }
}

TEST_P(Output, AFailureLeavesTheOldFile)
{
    std::ofstream(folder / "out") << "old";
    std::ofstream(folder / "broken") << "no trace";
    Outcome ran = run(To(folder / "out", folder / "broken"));
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("old", read_file(folder / "out"));
    ExpectNothingElse(3);
}

INSTANTIATE_TEST_SUITE_P(Forms, Output, testing::ValuesIn(forms),
                         [](const testing::TestParamInfo<Form> &form) { return form.param.name; });

/* What it opens (libcurl's pair of sockets, a database) is none of the first three, where output goes. */
TEST(Descriptors, TheFirstThreeAreNobodyElses)
{
    Folder folder;
    std::ofstream(folder / "app.ptds") << BuildTrace(with_finding);
    ASSERT_EQ(0, mkfifo((folder / "fifo").c_str(), 0600));
    Command command = {{data_file("analysis/ptds_leaks"), "report", "-o", folder / "fifo", folder / "app.ptds"}};
    command.before = [] {
        for (int file = 0; file < 3; file++)
            close(file);
    };
    Running running(command); /* waits for somebody to read */
    usleep(300000);
    for (int file = 0; file < 3; file++) {
        char there[100] = "";
        std::string link = "/proc/" + std::to_string(running.pid()) + "/fd/" + std::to_string(file);
        EXPECT_LT(0, readlink(link.c_str(), there, sizeof there - 1)) << file;
        EXPECT_STREQ("/dev/null", there) << file;
    }
    EXPECT_NE(std::string::npos, read_file(folder / "fifo").find("sync-copy"));
    EXPECT_EQ(0, running.end().exit);
}

TEST(Run, LeavesAClosedDescriptorClosed)
{
    NEEDS_A_PLAIN_SHIM();
    Command command = {{data_file("analysis/ptds_leaks"), "run", "--report", "off", "--", "/bin/sh", "-c",
                        "test -e /proc/self/fd/1 || exit 42"}};
    command.before = [] { close(1); };
    Outcome ran = run(command);
    EXPECT_EQ(42, ran.exit) << ran;
}

TEST(Appending, ToTheInputIsRefused)
{
    Folder folder;
    std::string trace = folder / "app.ptds", bytes = BuildTrace(with_finding);
    std::ofstream(trace) << bytes;
    for (const char *verb : {"report", "export --to folded"}) {
        Outcome ran =
            run({{"/bin/sh", "-c", data_file("analysis/ptds_leaks") + " " + verb + " '" + trace + "' >>'" + trace + "'"}});
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_EQ(bytes, read_file(trace));
    }
}

/* An export that takes long, by a clock that is a second further at each look: on a terminal a line says how far it is, and
 * is gone at the end. */
/* The command that comes next names the trace's file as a shell reads it, and no byte of that moves the cursor. */
TEST(NextCommand, IsForAnyName)
{
    Folder folder;
    const std::pair<const char *, const char *> names[] = {
        {"plain.ptds", "plain.ptds"},
        {"a b.ptds", "'a b.ptds'"},
        {"it's.ptds", "'it'\\''s.ptds'"},
        {"a\033[2J.ptds", "$'a\\033[2J.ptds'"},
        {"a\n\177'b\\.ptds", "$'a\\012\\177\\'b\\\\.ptds'"},
    };
    for (const auto &[name, word] : names) {
        std::ofstream(folder / name) << BuildTrace(with_finding);
        Command command;
        command.argv = {data_file("analysis/ptds_leaks"), "report", name};
        command.before = [&] { EXPECT_EQ(0, chdir(folder.path().c_str())); };
        Outcome ran = run(command);
        EXPECT_EQ(0, ran.exit) << ran;
        size_t next = ran.out.rfind("Next: ");
        ASSERT_NE(std::string::npos, next) << ran;
        EXPECT_NE(std::string::npos, ran.out.find(std::string(" ") + word, next)) << ran.out.substr(next);
        for (unsigned char byte : ran.out + ran.err)
            EXPECT_TRUE((byte >= ' ' && byte != 0x7f) || byte == '\n') << name << ": " << unsigned{byte};
    }
}

TEST(Progress, OfWhatIsWrittenIsShownOnATerminal)
{
    if (run({{"/bin/sh", "-c", "command -v script"}}).exit != 0)
        GTEST_SKIP() << "no command script here (util-linux): no terminal to be had";
    Folder folder;
    std::string trace = folder / "app.ptds", text,
                line = "CLOCK_STEP_MS=1100 LD_PRELOAD=" + data_file("tests/analysis/quick_clock.so") + " " +
                       data_file("analysis/ptds_leaks") + " export --to sqlite " + trace;
    for (int i = 0; i < 9000; i++)
        text += "1@" + std::to_string(10 + i * 2) + " launch s=L k=a\n";
    std::ofstream(trace) << BuildTrace(text);
    Outcome quiet = run({{"/bin/sh", "-c", line}});
    EXPECT_EQ("ptds export: wrote " + trace + ".sqlite", lines_of(quiet.err).back());
    EXPECT_EQ(std::string::npos, quiet.err.find('\r')) << "no terminal, no line";
    Outcome shown = run({{"/bin/sh", "-c", "script -qec '" + line + "' /dev/null </dev/null"}});
    EXPECT_EQ(0, shown.exit);
    size_t first = shown.out.find("\r\033[Kapp.ptds: "), last = shown.out.rfind("\r\033[K");
    ASSERT_NE(std::string::npos, first) << shown;
    EXPECT_NE(std::string::npos, shown.out.find(" calls analysed, ", first)) << shown;
    EXPECT_EQ(last + 4, shown.out.find("ptds export: ", last)) << "the line is empty again: " << shown;
}

} // namespace
} // namespace ptds

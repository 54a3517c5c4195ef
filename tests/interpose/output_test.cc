/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shim says must not hurt the program that it says it about: nothing goes into the program's own files, no signal
 * reaches it, nothing stops it, and it ends when it would have ended.
 */
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

#include "tests/interpose/shim_test.h"

extern "C" {
#include "interpose/base/output.h"
}

namespace ptds
{
namespace
{

/* A program of a few launches that ends with 5, and has a summary to give. */
Command working(const Settings &settings = {{"PTDS_REPORT", "summary"}},
                const std::vector<std::string> &arguments = {"work", "9"})
{
    Command command = shimmed("process_child", arguments, settings);
    command.seconds = 20;
    return command;
}

TEST(Output, TheSummaryGoesToStderr)
{
    Outcome outcome = run(working());
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_NE(outcome.err.find("9 default-stream operations moved"), std::string::npos) << outcome;
}

/* The library's constructor, which calls CUDA, runs before the shim's own. */
TEST(Output, BeforeTheShimHasStarted)
{
    Outcome outcome = run(shimmed("early_child", {}, {{"PTDS_POLICY", "nonsense"}}));
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.err.find("ptds: PTDS_POLICY=nonsense is not allowed"), 0u) << outcome;
}

/* Closed before its first call or after: what has stderr's number then is the program's own. */
TEST(Output, NothingGoesIntoTheProgramsFile)
{
    for (const char *mode : {"own-file-first", "own-file-then"}) {
        for (const Settings &settings : {Settings{{"PTDS_REPORT", "summary"}},
                                         {{"PTDS_REPORT", "summary"}, {"PTDS_LOG", "stderr"}, {"PTDS_POLICY", "observe"}},
                                         {{"PTDS_REPORT", "/nowhere/report"}, {"PTDS_DIAG", "debug"}}}) {
            Folder folder;
            Outcome outcome = run(working(settings, {mode, "9", folder / "data"}));
            EXPECT_EQ(outcome.exit, 5) << outcome;
            EXPECT_EQ(read_file(folder / "data"), "the program's own\n") << mode;
        }
    }
}

/* A program may ask which floating-point exceptions occurred, and have any of them end it: the summary's are not its own.
 */
TEST(Output, TheProgramTrapsFloatingPointExceptions)
{
    Folder folder;
    for (const char *policy : {"observe", "guarded"}) {
        for (const std::string &report : {std::string("summary"), folder / "report"}) {
            const Settings settings = {{"PTDS_POLICY", policy},
                                       {"PTDS_REPORT", report},
                                       {"PTDS_LOG", folder / "log"},
                                       {"PTDS_TRACE", folder / policy}};
            Outcome outcome = run(working(settings, {"floats", "9"}));
            EXPECT_EQ(outcome.exit, 5) << outcome;
            std::string said = report == "summary" ? outcome.err : read_file(report);
            EXPECT_NE(said.find("9 operations"), std::string::npos) << said;
        }
    }
}

/* What the shim keeps open has a high number: 0 to 2 are what a daemon's own files get. */
TEST(Output, TheProgramsFilesGetTheirNumbers)
{
    Folder folder;
    const Settings settings = {{"PTDS_REPORT", "summary"}, {"PTDS_LOG", folder / "log"}, {"PTDS_TRACE", folder / "trace"}};
    Outcome outcome = run(working(settings, {"numbers", "9", folder / "data"}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(read_file(folder / "data"), "mine");
    EXPECT_EQ(read_file(folder / "trace").substr(0, 4), "PTDS") << "the trace is whole";
    EXPECT_NE(outcome.err.find("9 default-stream operations moved"), std::string::npos) << outcome;
}

TEST(Output, ClosedFromTheStart)
{
    Folder folder;
    Command command = working({{"PTDS_REPORT", "summary"}}, {"data", "9", folder / "data"});
    command.before = [] {
        for (int file = 0; file < 3; file++)
            close(file);
    };
    EXPECT_EQ(run(command).exit, 5);
    EXPECT_EQ(read_file(folder / "data"), "the program's own\n");
}

/* What was only taken away for a while is stderr again. */
TEST(Output, StderrThatComesBack)
{
    Folder folder;
    Outcome outcome = run(working({{"PTDS_REPORT", "summary"}}, {"own-file-back", "9", folder / "data"}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_NE(outcome.err.find("9 default-stream operations moved"), std::string::npos) << outcome;
    EXPECT_EQ(read_file(folder / "data"), "the program's own\n");
}

/* Whoever reads a pipe waits until nobody can write to it: the shim holds nothing open. */
TEST(Output, HoldsNoPipeOpen)
{
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    Folder folder;
    Command command = working({{"PTDS_REPORT", "summary"}}, {"daemon", "9", folder / "go on"});
    command.before = [&] { dup2(ends[1], 2); };
    Running running(command);
    close(ends[1]);
    ASSERT_TRUE(running.wait_for("closed"));
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    EXPECT_NE(creat((folder / "go on").c_str(), 0600), -1);
    EXPECT_EQ(running.end().exit, 5);
    close(ends[0]);
}

TEST(Output, NobodyReadsThePipe)
{
    Command command = working();
    command.before = [] {
        int ends[2];
        if (pipe(ends) == 0 && dup2(ends[1], 2) == 2) {
            close(ends[0]);
            close(ends[1]);
        }
    };
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 5) << outcome;
}

/* The reader is there, but does not read: the program must not wait for it for ever. */
TEST(Output, ThePipeIsFull)
{
    Command command = working();
    command.before = [] {
        int ends[2];
        if (pipe(ends) != 0)
            return;
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
        while (write(ends[1], "0123456789", 10) == 10)
            ;
        fcntl(ends[1], F_SETFL, 0);
        dup2(ends[1], 2);
    };
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 5) << outcome;
}

TEST(Output, AFileThatMayNotGrow)
{
    Folder folder;
    for (const Settings &settings : {Settings{{"PTDS_REPORT", "summary"}}, {{"PTDS_REPORT", folder / "report"}}}) {
        Command command = working(settings);
        std::string file = folder / "err";
        command.before = [&] {
            struct rlimit limit = {100, 100};
            dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
            setrlimit(RLIMIT_FSIZE, &limit);
        };
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_LE(read_file(file).size(), 100u);
    }
}

constexpr int stopped = 92;

/* Its status is the child's, which goes on in here. */
void stand_for_a_child()
{
    pid_t child = fork();
    if (!child)
        return;
    int status = 0;
    waitpid(child, &status, WUNTRACED);
    kill(child, SIGKILL);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : stopped);
}

void go_into_the_background()
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        _exit(90);
    stand_for_a_child();
    setsid();
    int terminal = open(ptsname(master), O_RDWR);
    struct termios how;
    if (tcgetattr(terminal, &how) != 0)
        _exit(91);
    how.c_lflag |= TOSTOP;
    tcsetattr(terminal, TCSANOW, &how);
    tcsetpgrp(terminal, getpgrp());
    stand_for_a_child();
    setpgid(0, 0);
    dup2(terminal, 2);
}

/* A terminal may stop who writes to it from the background. */
TEST(Output, ATerminalThatStopsTheBackground)
{
    Command writes;
    writes.argv = {"/bin/sh", "-c", "echo stopped >&2"};
    writes.before = go_into_the_background;
    ASSERT_EQ(run(writes).exit, stopped);
    Command command = working();
    command.before = go_into_the_background;
    EXPECT_EQ(run(command).exit, 5);
}

/* Where a FIFO stands for a file, nobody may be there to read it. */
TEST(Output, AFifoWithoutAReader)
{
    for (const char *variable : {"PTDS_REPORT", "PTDS_LOG"}) {
        Folder folder;
        ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
        Outcome outcome = run(working({{variable, folder / "fifo"}}));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_NE(outcome.err.find(std::string(variable) + ": cannot write"), std::string::npos) << outcome;
    }
}

TEST(Output, AFullDiskLeavesNoReport)
{
    Outcome outcome = run(working({{"PTDS_REPORT", "/dev/full"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err, "ptds: PTDS_REPORT: cannot write all of the report to /dev/full; is the disk full?\n");
}

TEST(Output, AFifoWithAReader)
{
    Folder folder;
    std::string fifo = folder / "fifo", report;
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    int hold = open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    std::thread reader([&] { report = read_file(fifo); });
    usleep(100000); /* the reader has opened it by then, or reads what the FIFO holds */
    Outcome outcome = run(working({{"PTDS_REPORT", fifo}}));
    close(hold);
    reader.join();
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_NE(report.find("driver calls"), std::string::npos) << report;
}

bool is_pending(int signal)
{
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, signal);
}

void block(int how, int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(how, &set, nullptr);
}

/* A signal that the program is waiting for stays; one that writing raised goes. This end of a socket, shut down, looks as
 * if there were room. */
TEST(Writing, SignalsAreTheProgramsOwn)
{
    int ends[2];
    struct stat stat;
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ASSERT_EQ(fstat(ends[1], &stat), 0);
    const struct output gone = {ends[1], stat.st_dev, stat.st_ino};
    EXPECT_EQ(output_write(&gone, "x", 1), 1);
    shutdown(ends[1], SHUT_WR);
    EXPECT_EQ(output_write(&gone, "x", 1), 0); /* and is still alive */
    block(SIG_BLOCK, SIGPIPE);
    EXPECT_EQ(output_write(&gone, "x", 1), 0);
    EXPECT_FALSE(is_pending(SIGPIPE));
    raise(SIGPIPE);
    EXPECT_EQ(output_write(&gone, "x", 1), 0);
    EXPECT_TRUE(is_pending(SIGPIPE));
    signal(SIGPIPE, SIG_IGN); /* which takes it away */
    block(SIG_UNBLOCK, SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
    close(ends[0]);
    close(ends[1]);
}

/* The file's limit raises its signal in the very call that writes. */
TEST(Writing, SignalsOfLimits)
{
    Folder folder;
    struct output file;
    ASSERT_EQ(output_open(&file, (folder / "file").c_str(), O_TRUNC), 1);
    EXPECT_GE(file.file, 900);
    EXPECT_EQ(output_write(&file, "0123456789", 10), 1);
    struct rlimit limit, old;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 15;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    block(SIG_BLOCK, SIGXFSZ);
    EXPECT_EQ(output_write(&file, "0123456789", 10), 0);
    EXPECT_FALSE(is_pending(SIGXFSZ));
    block(SIG_UNBLOCK, SIGXFSZ);
    EXPECT_EQ(output_write(&file, "0123456789", 10), 0);
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_EQ(read_file(folder / "file"), "012345678901234");
    output_close(&file);
}

/* The number stands for another file now: neither written to nor closed. */
TEST(Writing, AnotherFileUnderTheNumber)
{
    Folder folder;
    struct output file;
    ASSERT_EQ(output_open(&file, (folder / "log").c_str(), O_TRUNC), 1);
    int own = open((folder / "own").c_str(), O_WRONLY | O_CREAT, 0600), number = file.file;
    ASSERT_EQ(dup2(own, number), number);
    EXPECT_EQ(output_is_there(&file), 0);
    EXPECT_EQ(output_write(&file, "x", 1), 0);
    output_close(&file);
    EXPECT_EQ(write(number, "mine", 4), 4);
    EXPECT_EQ(read_file(folder / "own"), "mine");
    EXPECT_EQ(read_file(folder / "log"), "");
    close(number);
    close(own);
}

/* Whatever the program's last error was, nobody waits for longer than a second. In a child: who has waited once does not
 * again. */
TEST(Writing, AFullPipeWhateverWentWrongBefore)
{
    pid_t child = fork();
    if (child == 0) {
        int ends[2];
        struct stat stat;
        alarm(10);
        if (pipe2(ends, O_NONBLOCK) != 0 || fstat(ends[1], &stat) != 0)
            _exit(1);
        while (write(ends[1], "0123456789", 10) > 0)
            ;
        const struct output full = {ends[1], stat.st_dev, stat.st_ino};
        errno = EINTR;
        _exit(output_write(&full, "x", 1) == 0 && errno == EINTR ? 0 : 2);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(Writing, WithoutDescriptors)
{
    Folder folder;
    struct output file;
    ASSERT_EQ(output_open(&file, (folder / "log").c_str(), O_TRUNC), 1);
    struct rlimit old, none;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 3;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    EXPECT_EQ(output_write(&file, "x", 1), 1);
    setrlimit(RLIMIT_NOFILE, &old);
    EXPECT_EQ(read_file(folder / "log"), "x");
    output_close(&file);
}

} // namespace
} // namespace ptds

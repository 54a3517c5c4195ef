/* SPDX-License-Identifier: Apache-2.0
 *
 * Which file the trace goes to: names that others have, that come and go, or that are not to be had.
 */
#include "tests/record/faults.h"

#include <sys/wait.h>

extern "C" {
#include "interpose/record/file/path.h"
#include "interpose/record/file/trace_file.h"
}

namespace
{

/* ---- names ---- */

TEST_F(File, ItsLockIsHeld)
{
    ASSERT_TRUE(trace_file_open(path_.c_str()));
    const long other = syscall(SYS_openat, AT_FDCWD, path_.c_str(), O_RDWR);
    EXPECT_EQ(-1, syscall(SYS_flock, other, LOCK_EX | LOCK_NB));
    close(int(other));
    EXPECT_EQ(Asked{"trace"}, folder_.files());
}

/* A child that goes on does not keep it. */
TEST_F(File, ItsLockEndsWithTheProcess)
{
    int gate[2];
    ASSERT_EQ(0, pipe(gate));
    const pid_t parent = fork();
    if (parent == 0) {
        char unused;
        if (trace_file_open(path_.c_str()) && fork() == 0) {
            close(gate[1]);
            trace_file_after_fork();
            (void)!read(gate[0], &unused, 1); /* until the test is over */
        }
        _exit(0);
    }
    ASSERT_EQ(parent, waitpid(parent, nullptr, 0));
    const long other = syscall(SYS_openat, AT_FDCWD, path_.c_str(), O_RDWR);
    int taken = -1;
    for (int tries = 0; tries < 500 && taken != 0; tries++) {
        usleep(10000);
        taken = int(syscall(SYS_flock, other, LOCK_EX | LOCK_NB));
    }
    EXPECT_EQ(0, taken);
    close(int(other));
    close(gate[0]);
    close(gate[1]);
}

TEST_F(File, WhereNamesAreTaken)
{
    const Taken taken(path_);
    const size_t before = descriptors();
    std::string name = path_;
    for (size_t i = 0; i < 5; i++) {
        EXPECT_EQ(1, trace_file_open(path_.c_str()));
        EXPECT_EQ(before, descriptors()) << "its lock is out of the way of the program's";
        name = path_ + "." + pid_ + (i > 0 ? "." + std::to_string(i + 1) : "");
        EXPECT_STREQ(name.c_str(), trace_file_path());
        forked(); /* and keeps its lock, as the parent does */
    }
    EXPECT_EQ(6u, folder_.files().size());
}

TEST_F(File, AHundredNames)
{
    apart([this] {
        Said said;
        std::vector<Taken> taken;
        taken.emplace_back(path_);
        taken.emplace_back(path_ + "." + std::to_string(getpid()));
        for (int i = 2; i < 99; i++)
            taken.emplace_back(path_ + "." + std::to_string(getpid()) + "." + std::to_string(i));
        EXPECT_EQ(1, trace_file_open(path_.c_str()));
        EXPECT_EQ(path_ + "." + std::to_string(getpid()) + ".99", trace_file_path());
        forked();
        g_mine = path_;
        EXPECT_EQ(0, trace_file_open(path_.c_str()));
        EXPECT_EQ(nullptr, trace_file_path());
        EXPECT_EQ("ptds: PTDS_TRACE: cannot write " + path_ + "." + std::to_string(getpid()) +
                      ".99: File exists; recording in memory only\n",
                  said.text());
        EXPECT_EQ(200u, g_asked.size()) << "each as a new one, and as it is";
    });
}

/* Where there are no locks, only the very name that the user gave is thought to be another's. */
TEST_F(File, WithoutLocks)
{
    std::ofstream(path_).close();
    std::ofstream(path_ + "." + pid_).close();
    g_errors["flock"] = {ENOLCK, ENOLCK};
    EXPECT_EQ(1, trace_file_open(path_.c_str()));
    EXPECT_EQ(path_ + "." + pid_, trace_file_path());
    forked();
    g_errors["flock"] = {ENOLCK};
    EXPECT_EQ(1, trace_file_open((folder_ / "fresh").c_str()));
    EXPECT_EQ(folder_ / "fresh", trace_file_path());
    forked();
    g_errors["flock"] = {EWOULDBLOCK};
    EXPECT_EQ(1, trace_file_open((folder_ / "other").c_str()));
    EXPECT_EQ(folder_ / ("other." + pid_), trace_file_path()) << "somebody who saw it in that moment has it";
}

/* Others come and go at the same name: eight times it is tried. */
TEST_F(File, ANameThatComesAndGoes)
{
    g_mine = path_;
    for (int i = 0; i < 7; i++)
        g_errors["open"].insert(g_errors["open"].end(), {EEXIST, ENOENT});
    EXPECT_EQ(1, trace_file_open(path_.c_str()));
    EXPECT_EQ(15u, g_asked.size());
    EXPECT_STREQ(path_.c_str(), trace_file_path());
    forked();
    apart([this] {
        Said said;
        g_asked.clear();
        for (int i = 0; i < 8; i++)
            g_errors["open"].insert(g_errors["open"].end(), {EEXIST, ENOENT});
        EXPECT_EQ(0, trace_file_open(path_.c_str()));
        EXPECT_EQ(16u, g_asked.size());
        EXPECT_EQ("ptds: PTDS_TRACE: cannot write " + path_ + ": No such file or directory; recording in memory only\n",
                  said.text());
    });
}

TEST_F(File, ANameThatIsNotToBeHad)
{
    for (const auto &[error, words] : {std::pair{EACCES, "Permission denied"},
                                       {ENOENT, "No such file or directory"},
                                       {ELOOP, "is a symbolic link, which is not followed"}})
        apart([this, error = error, words = words] {
            Said said;
            g_mine = path_;
            g_errors["open"] = error == ELOOP ? std::deque<int>{EEXIST, ELOOP} : std::deque<int>(16, error);
            EXPECT_EQ(0, trace_file_open(path_.c_str()));
            EXPECT_EQ("ptds: PTDS_TRACE: cannot write " + path_ + ": " + words + "; recording in memory only\n",
                      said.text());
            EXPECT_EQ(nullptr, trace_file_path());
        });
}

/* What the program may have closed: 0 is as good as any, and is left for the program. */
TEST_F(File, DescriptorZero)
{
    const int in = fcntl(0, F_DUPFD_CLOEXEC, 100);
    for (const bool there : {false, true}) {
        const std::string path = folder_ / (there ? "there" : "made");
        if (there)
            std::ofstream(path).close();
        close(0);
        EXPECT_EQ(1, trace_file_open(path.c_str()));
        EXPECT_EQ(path, trace_file_path());
        EXPECT_EQ(-1, fcntl(0, F_GETFD));
        EXPECT_TRUE(trace_file_map(0, 4096));
        EXPECT_EQ(-1, fcntl(0, F_GETFD));
        rename(path.c_str(), (folder_ / "moved").c_str());
        std::ofstream(path).close();
        EXPECT_EQ(nullptr, trace_file_map(0, 4096)) << "another file";
        EXPECT_EQ(-1, fcntl(0, F_GETFD));
        forked();
    }
    apart([this] {
        trace_file_open((folder_ / "given up").c_str());
        trace_file_give_up();
        EXPECT_EQ(-1, fcntl(0, F_GETFD));
    });
    if (in >= 0) {
        dup2(in, 0);
        close(in);
    }
}

TEST_F(File, IsAbsolute)
{
    char before[4096];
    ASSERT_TRUE(getcwd(before, sizeof before));
    ASSERT_EQ(0, chdir(folder_.path().c_str()));
    EXPECT_EQ(1, trace_file_open("trace"));
    ASSERT_EQ(0, chdir(before));
    char whole[4096];
    ASSERT_TRUE(realpath(path_.c_str(), whole));
    EXPECT_STREQ(whole, trace_file_path());
    EXPECT_TRUE(trace_file_map(0, 4096));
}

/* Another process moves it away in this very moment, and may have begun its own by then. */
TEST_F(File, ANameThatBecomesAnothers)
{
    apart([] {
        for (const bool trace : {false, true}) {
            ptds::Folder folder;
            const std::string path = folder / "trace", moved = folder / "moved";
            if (trace)
                finished(path, 5);
            else
                std::ofstream(path).close();
            const size_t size = ptds::read_file(path).size(), before = descriptors();
            g_between = [&] { rename(path.c_str(), moved.c_str()); };
            EXPECT_EQ(1, trace_file_open(path.c_str()));
            EXPECT_EQ(path, trace_file_path());
            EXPECT_TRUE(trace_file_map(0, 4096));
            EXPECT_EQ(size, ptds::read_file(moved).size()) << "that is not touched";
            EXPECT_EQ((Asked{"moved", "trace"}), folder.files());
            EXPECT_EQ(before, descriptors());
            trace_file_give_up();
            EXPECT_EQ(Asked{"moved"}, folder.files()) << "this one was made for it";
        }
    });
}

/* However it begins, and however long it is. */
TEST_F(File, WhatIsNoTraceStaysAsItIs)
{
    const std::string magic(PTDS_TRACE_MAGIC, 8);
    for (const std::string &text : {std::string("years"), std::string(sizeof(struct ptds_trace_header), 'y'),
                                    std::string(100000, '\0'), magic, magic + std::string(100, 'y')})
        apart([this, text] {
            Said said;
            std::ofstream(path_, std::ios::binary) << text;
            const size_t before = descriptors();
            EXPECT_EQ(0, trace_file_open(path_.c_str()));
            EXPECT_EQ("ptds: PTDS_TRACE: cannot write " + path_ +
                          ": is there and is no trace, so it is not overwritten; recording in memory only\n",
                      said.text());
            EXPECT_TRUE(ptds::read_file(path_) == text);
            EXPECT_EQ(Asked{"trace"}, folder_.files());
            EXPECT_EQ(before, descriptors());
        });
}

/* ---- other runs' ---- */

TEST_F(File, WhichTraceIsOfAnotherRun)
{
    const uint64_t born = path_process_born();
    const uint32_t pid = uint32_t(getpid());
    const struct {
        uint32_t pid;
        uint64_t born, run;
        bool kept;
    } rows[] = {{5, born, 0, false},  {pid, born + 1, 0, false}, {5, 1, 78, false},        {5, 1, 77, true},
                {pid, born, 0, true}, {pid, born, 78, true},     {pid, born + 1, 77, true}};
    for (const bool runs : {false, true}) {
        for (const auto &row : rows) {
            ptds::Folder folder;
            const std::string path = folder / "trace";
            finished(path, row.pid, row.born, row.run);
            if (runs)
                setenv("PTDS_RUN", "77:1:", 1);
            const bool kept = row.kept && (runs || row.run != 77);
            ASSERT_EQ(1, trace_file_open(path.c_str()));
            EXPECT_EQ(kept ? path + "." + pid_ : path, trace_file_path()) << row.pid << " " << row.born << " " << row.run;
            EXPECT_EQ(kept || !runs ? 2u : 1u, folder.files().size()) << "a run replaces its file";
            EXPECT_EQ(sizeof(struct ptds_trace_header), ptds::read_file(kept   ? path
                                                                        : runs ? ""
                                                                               : path + "." + std::to_string(row.pid))
                                                                .size() +
                                                            (!kept && runs ? sizeof(struct ptds_trace_header) : 0));
            forked();
        }
    }
}

TEST_F(File, WhereAnotherRunsTraceGoes)
{
    const struct {
        std::deque<int> errors;
        size_t tries;
        std::string last, own;
    } rows[] = {{{}, 1, "link trace.5", ""},
                {{EEXIST, EEXIST}, 3, "link trace.5.3", ""},
                {std::deque<int>(99, EEXIST), 100, "link trace.5.100", ""},
                {std::deque<int>(100, EEXIST), 100, "link trace.5.100", "." + pid_},
                {{EMLINK}, 1, "link trace.5", "." + pid_},
                {{EEXIST, EIO}, 2, "link trace.5.2", "." + pid_}};
    for (const auto &row : rows) {
        ptds::Folder folder;
        const std::string path = folder / "trace";
        finished(path, 5);
        g_asked.clear();
        g_errors["link"] = row.errors;
        EXPECT_EQ(1, trace_file_open(path.c_str()));
        ASSERT_EQ(row.tries, g_asked.size());
        EXPECT_EQ(row.last, g_asked.back());
        EXPECT_EQ(path + row.own, trace_file_path());
        EXPECT_EQ(row.own.empty() ? (Asked{"trace", row.last.substr(5)}) : (Asked{"trace", "trace" + row.own}),
                  folder.files());
        forked();
    }
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program as a user would: its own environment, LD_PRELOAD, a time limit. For tests of whole processes.
 */
#ifndef PTDS_TESTS_RUN_CHILD_H
#define PTDS_TESTS_RUN_CHILD_H

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace ptds
{

struct Command {
    std::vector<std::string> argv; /* argv[0] is a path */
    /* Nothing is inherited but PATH, TMPDIR and the sanitizers' options. */
    std::map<std::string, std::string> env = {};
    std::vector<std::string> preload = {};   /* LD_PRELOAD, first to last */
    std::vector<std::string> libraries = {}; /* LD_LIBRARY_PATH */
    std::vector<std::string> audit = {}; /* LD_AUDIT; the shim's auditor where PTDS_TEST_AUDITED and the shim are there */
    int seconds = 60;
    /* Runs in the child before the program does: limits, closed descriptors. Must be async-signal-safe. */
    std::function<void()> before = {};
};

struct Outcome {
    std::string out, err;
    int exit = -1;  /* the exit status; -1: it did not exit by itself */
    int signal = 0; /* what ended it */
    bool timed_out = false;
    int pid = 0;
};

Outcome run(const Command &command);

/* One that goes on meanwhile; its output goes to files that end() reads. */
class Running
{
public:
    explicit Running(const Command &command);
    ~Running();
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;

    int pid() const
    {
        return pid_;
    }
    /* What it has written to stdout, to stderr so far. */
    std::string out() const;
    std::string err() const;
    /* Waits until stdout contains the text; false after the command's time limit or its end. */
    bool wait_for(const std::string &text);
    void kill(int signal) const;
    Outcome end();

private:
    Command command_;
    int pid_ = 0, out_ = -1, err_ = -1;
    bool ended_ = false;
};

std::ostream &operator<<(std::ostream &stream, const Outcome &outcome);

/* A file that the test's target names in its data, by its path from the top of the repository. */
std::string data_file(const std::string &path);

/* The shim, its auditor, and the folder of the fake driver (empty, "cuda12" or "cuda11"). */
std::string shim();
std::string auditor();
/* Whether this machine's loader is one that the auditor works in: glibc's, from 2.35 on. */
bool auditor_works();
std::string fake_driver(const std::string &version = "");

/* A folder of the test's own, gone with it. */
class Folder
{
public:
    Folder();
    ~Folder();
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string operator/(const std::string &name) const
    {
        return path_ + "/" + name;
    }
    const std::string &path() const
    {
        return path_;
    }
    std::vector<std::string> files() const;

private:
    std::string path_;
};

std::string read_file(const std::string &path);
std::vector<std::string> lines_of(const std::string &text);

} // namespace ptds

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * fork, exec, wait; output through unlinked files, so that a child that writes much or leaves children of its own behind
 * blocks nobody.
 */
#include "tests/support/run_child.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <gnu/libc-version.h>
#include <sstream>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptds
{
namespace
{

std::string join(const std::vector<std::string> &parts)
{
    std::string all;
    for (const std::string &part : parts)
        all += (all.empty() ? "" : ":") + part;
    return all;
}

std::vector<std::string> environment_of(const Command &command)
{
    std::map<std::string, std::string> all = command.env;
    for (const char *name : {"PATH", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
        if (const char *value = getenv(name))
            all.insert({name, value});
    }
    if (!command.preload.empty())
        all["LD_PRELOAD"] = join(command.preload);
    if (!command.libraries.empty())
        all["LD_LIBRARY_PATH"] = join(command.libraries);
    bool audited = getenv("PTDS_TEST_AUDITED") && std::count(command.preload.begin(), command.preload.end(), shim());
    if (!command.audit.empty() || audited)
        all["LD_AUDIT"] = command.audit.empty() ? auditor() : join(command.audit);
    std::vector<std::string> lines;
    for (const auto &[name, value] : all)
        lines.push_back(name + "=" + value);
    return lines;
}

std::vector<char *> pointers(std::vector<std::string> &texts)
{
    std::vector<char *> all;
    for (std::string &text : texts)
        all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

int unlinked_file()
{
    std::string path = std::string(getenv("TEST_TMPDIR") ? getenv("TEST_TMPDIR") : "/tmp") + "/output.XXXXXX";
    int file = mkostemp(path.data(), O_CLOEXEC);
    if (file < 0)
        throw std::runtime_error("mkostemp: " + path + ": " + strerror(errno));
    unlink(path.c_str());
    return file;
}

std::string contents(int file)
{
    std::string text;
    char piece[65536];
    for (ssize_t size; (size = pread(file, piece, sizeof piece, static_cast<off_t>(text.size()))) > 0;)
        text.append(piece, static_cast<size_t>(size));
    return text;
}

} // namespace

Running::Running(const Command &command) : command_(command), out_(unlinked_file()), err_(unlinked_file())
{
    std::vector<std::string> argv = command_.argv, environment = environment_of(command_);
    std::vector<char *> arguments = pointers(argv), variables = pointers(environment);
    pid_ = fork();
    if (pid_ < 0)
        throw std::runtime_error(std::string("fork: ") + strerror(errno));
    if (pid_ == 0) {
        setpgid(0, 0);
        for (int number : {SIGHUP, SIGINT, SIGQUIT}) /* whoever runs the tests in the background ignores them */
            signal(number, SIG_DFL);
        int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(out_, STDOUT_FILENO);
        dup2(err_, STDERR_FILENO);
        if (command_.before)
            command_.before();
        execve(arguments[0], arguments.data(), variables.data());
        _exit(127);
    }
}

Running::~Running()
{
    if (!ended_) {
        kill(SIGKILL);
        end();
    }
    close(out_);
    close(err_);
}

std::string Running::out() const
{
    return contents(out_);
}

std::string Running::err() const
{
    return contents(err_);
}

bool Running::wait_for(const std::string &text)
{
    for (int i = 0; i < command_.seconds * 1000; i++) {
        if (out().find(text) != std::string::npos)
            return true;
        siginfo_t info = {};
        if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
            return out().find(text) != std::string::npos;
        usleep(1000);
    }
    return false;
}

void Running::kill(int signal) const
{
    ::kill(pid_, signal);
}

Outcome Running::end()
{
    Outcome outcome;
    int status = 0;
    auto until = std::chrono::steady_clock::now() + std::chrono::seconds(command_.seconds);
    while (waitpid(pid_, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > until && !outcome.timed_out) {
            outcome.timed_out = true;
            ::kill(-pid_, SIGKILL);
        }
        usleep(500);
    }
    ended_ = true;
    outcome.pid = pid_;
    outcome.out = contents(out_);
    outcome.err = contents(err_);
    if (WIFEXITED(status))
        outcome.exit = WEXITSTATUS(status);
    else
        outcome.signal = WTERMSIG(status);
    return outcome;
}

Outcome run(const Command &command)
{
    return Running(command).end();
}

std::ostream &operator<<(std::ostream &stream, const Outcome &outcome)
{
    stream << "exit " << outcome.exit << ", signal " << outcome.signal << (outcome.timed_out ? ", timed out" : "");
    return stream << "\n-- stdout:\n" << outcome.out.substr(0, 4000) << "\n-- stderr:\n" << outcome.err.substr(0, 4000);
}

std::string data_file(const std::string &path)
{
    char *absolute = realpath(path.c_str(), nullptr);
    if (!absolute)
        throw std::runtime_error("no such data: " + path);
    std::string found = absolute;
    free(absolute);
    return found;
}

std::string shim()
{
    return data_file("interpose/libptds.so");
}

std::string auditor()
{
    return data_file("interpose/libptds_audit.so");
}

bool auditor_works()
{
    unsigned minor = 0;
    return sscanf(gnu_get_libc_version(), "2.%u", &minor) == 1 && minor >= 35;
}

std::string fake_driver(const std::string &version)
{
    std::string file = data_file("tests/support/fake_driver/" + (version.empty() ? "" : version + "/") + "libcuda.so.1");
    return file.substr(0, file.rfind('/'));
}

Folder::Folder()
{
    path_ = std::string(getenv("TEST_TMPDIR") ? getenv("TEST_TMPDIR") : "/tmp") + "/folder.XXXXXX";
    if (!mkdtemp(path_.data()))
        throw std::runtime_error("mkdtemp: " + path_);
}

Folder::~Folder()
{
    for (const std::string &file : files())
        unlink((path_ + "/" + file).c_str());
    rmdir(path_.c_str());
}

std::vector<std::string> Folder::files() const
{
    std::vector<std::string> names;
    DIR *folder = opendir(path_.c_str());
    while (const dirent *entry = folder ? readdir(folder) : nullptr) {
        if (entry->d_name[0] != '.')
            names.push_back(entry->d_name);
    }
    if (folder)
        closedir(folder);
    std::sort(names.begin(), names.end());
    return names;
}

std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

} // namespace ptds

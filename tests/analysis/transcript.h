/* SPDX-License-Identifier: Apache-2.0
 *
 * The command as it is typed: transcripts/NAME.txt holds command lines (after "$ "), and below each what it says: what goes
 * to stderr behind "! ", an exit status that is not 0 in brackets. Below a line after "% " stands the same in short: of a
 * report its first and last line and its findings, of a check which rules fail, and how many more lines there are; the exit
 * status ends the last line. The commands run one after the other in a folder with the traces that are made here. What is
 * said now is among the test's outputs.
 */
#ifndef PTDS_TESTS_ANALYSIS_TRANSCRIPT_H
#define PTDS_TESTS_ANALYSIS_TRANSCRIPT_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "tests/analysis/checked.h"
#include "tests/support/expected.h"

namespace ptds
{
class Transcript : public testing::TestWithParam<const char *>
{
protected:
    Transcript()
    {
        const std::string shown = "tests/analysis/shown/", compared = "tests/analysis/compared/";
        /* What watches a process is not to find one of this machine. */
        const std::string verbs = GetParam(), pid = verbs == "watch" || verbs == "usage" ? "pid 4194305\n" : "";
        for (const char *name : {"observed", "wrong", "guarded", "lacking", "nothing", "crowd", "timed"})
            Write(std::string(name) + ".ptds", BuildTrace(pid + read_file(data_file(shown + name + ".trace"))));
        for (const char *name : {"thrice.before.json", "thrice.after.json", "once.before.json"})
            Write(name, read_file(data_file(compared + name)));
        for (const char *name : {"good", "more", "bin", "empty", "mixed"})
            EXPECT_EQ(0, mkdir((folder_ / name).c_str(), 0700));
        for (unsigned i = 0; i < 3; i++) {
            Write("good/" + std::to_string(i) + ".ptds",
                  AtHour(BuildTrace(CallsOf({4, 10000 + 100 * static_cast<int>(i)})), i));
            Write("more/" + std::to_string(i) + ".ptds", AtHour(BuildTrace(CallsOf({8, 10000})), i + 5));
        }
        std::string text = read_file(folder_ / "observed.ptds");
        Write("cut.ptds", text.substr(0, text.size() - 5000));
        Write("mixed/cut.ptds", text.substr(0, text.size() - 5000));
        Write("mixed/observed.ptds", text);
        Write("mixed/notes.txt", "no trace");
        size_t at = TraceBuilder().header.header_size + 2 * PTDS_CHUNK_SIZE + sizeof(ptds_chunk);
        text[at + 2] = 3;
        text[at + 3] = 0;
        Write("damaged.ptds", text);
        text[at - PTDS_CHUNK_SIZE + 2] = 3;
        text[at - PTDS_CHUNK_SIZE + 3] = 0;
        Write("damages.ptds", text);
        Write("pidless.ptds", BuildTrace("pid 0\nkilled\n1@0 launch s=L k=a site=a\nin-flight 1@80 ctx-sync site=hangs\n"
                                         "in-flight 2@85 sync s=N1 twin site=hangs\n"));
        Write("steps.ptds", BuildTrace(steps));
        Write("text.ptds", "no trace at all");
        /* By a clock that goes on at each look, who looks for leaks looks too often. */
        std::string command = std::string(GetParam()) == "progress" ? "analysis/ptds" : "analysis/ptds_leaks";
        EXPECT_EQ(0, symlink(Real(command).c_str(), (folder_ / "bin/ptds").c_str()));
        Write("bin/tty",
              "#!/bin/sh\nTERM=${TERM-xterm} script -qec \"stty rows ${ROWS-50} cols 80; $1\" /dev/null </dev/null | "
              "tr -d '\\r' | cat -v\n");
        EXPECT_EQ(0, chmod((folder_ / "bin/tty").c_str(), 0700));
        /* A driver that hardly does anything, and is no more than a library where one is to be preloaded. */
        for (const char *driver : {"fake", "fake_old"}) {
            EXPECT_EQ(0, mkdir((folder_ / driver).c_str(), 0700));
            Write(driver + std::string("/libcuda.so.1"),
                  read_file(data_file("tests/analysis/" + std::string(driver) + "/libcuda.so.1")));
        }
        /* Of its own, where that is allowed: a broken command must not break this machine's. */
        std::string full = folder_ / "full";
        if (mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0 || close(open(full.c_str(), O_WRONLY)) != 0) {
            unlink(full.c_str());
            EXPECT_EQ(0, symlink("/dev/full", full.c_str()));
        }
        Write("lib.so", read_file(data_file("tests/analysis/fake/libcuda.so.1")));
        EXPECT_EQ(0, symlink(Real("tests/analysis/quick_clock.so").c_str(), (folder_ / "quick_clock.so").c_str()));
        if (std::string(GetParam()) == "progress")
            WriteLong();
        if (std::string(GetParam()) == "watch")
            WriteHanging();
        if (std::string(GetParam()) == "probe")
            WriteProbed();
    }

    /* "FAIL: sync-copy 2x mixed-build": of lines "FAIL sync-copy ..." and of such lines beside each other. */
    static void AddFailure(const std::string &line, std::string *last, size_t *times, std::string *fails)
    {
        std::istringstream words(line);
        std::string state, what, of;
        words >> state >> what;
        if (what == "region" || what == "implicit-order")
            words >> of;
        std::string word = (state == "maybe" ? " ?" : " ") + what + (of.empty() ? "" : "-" + of);
        *times = word == *last ? *times + 1 : 1;
        if (*times > 1)
            fails->resize(fails->rfind(*last) + word.size());
        *fails += (*times > 1 ? "" : word) + (*times > 1 ? "(" + std::to_string(*times) + "x)" : "");
        *last = word;
    }
    /* The first and the last line, those of findings, what fails, and how many others there are. */
    static std::string InShort(const std::string &out)
    {
        std::string said, fails, last;
        size_t others = 0, times = 0;
        std::vector<std::string> lines = lines_of(out);
        for (size_t i = 0; i < lines.size(); i++) {
            const std::string &line = lines[i];
            if (line.compare(0, 5, "FAIL ") == 0 || line.compare(0, 6, "maybe ") == 0)
                AddFailure(line, &last, &times, &fails);
            else if (i == 0 || line.compare(0, 1, "#") == 0 || i + 1 == lines.size())
                said += line + "\n";
            else
                others++;
        }
        return (fails.empty() ? "" : "FAIL:" + fails + "\n") +
               (others != 0 ? "... " + std::to_string(others) + " more\n" : "") + said;
    }

    std::string Run(const std::string &line, bool whole = true)
    {
        Command command = {{"/bin/sh", "-c", "cd " + folder_.path() + " && " + line}};
        command.env["PATH"] = folder_ / "bin:/usr/bin:/bin";
        command.env["HOME"] = folder_.path();
        Outcome ran = run(command);
        std::string said = (whole ? "$ " : "% ") + line + "\n" + (whole ? ran.out : InShort(ran.out));
        said += said.back() != '\n' ? "\n" : "";
        for (const std::string &complaint : lines_of(ran.err))
            said += whole || complaint.compare(0, 4, "Try ") != 0 ? "! " + complaint + "\n" : "";
        for (size_t at; (at = said.find(folder_.path())) != std::string::npos;)
            said.replace(at, folder_.path().size(), "HERE");
        bool apart = whole || said.find('\n') + 1 == said.size();
        if (!apart && ran.exit != 0)
            said.pop_back();
        return said + (ran.exit != 0 ? (apart ? "(" : " (") + std::to_string(ran.exit) + ")\n" : "");
    }

    static std::string Real(const std::string &name)
    {
        char path[4096] = "";
        EXPECT_NE(nullptr, realpath(data_file(name).c_str(), path));
        return path;
    }

    /* Runs them all. */
    void Expect()
    {
        std::string path = data_file(std::string("tests/analysis/transcripts/") + GetParam() + ".txt"), said;
        for (const std::string &line : lines_of(read_file(path)))
            if (line.compare(0, 2, "$ ") == 0 || line.compare(0, 2, "% ") == 0)
                said += Run(line.substr(2), line[0] == '$');
        ExpectAllOf(path, said);
    }

private:
    /* Waits within regions, beside them, and in one that is left: of one place several, one of these short, and one
     * untimed. */
    static constexpr const char *steps =
        "1@0 region epoch\n1@10 region step\n1@20+5 launch s=N1 k=a\n1@30+3000 sync s=N1 site=wait\n1@3100 region-end\n"
        "1@3200 region step\n1@3210+5 launch s=N1 k=a\n1@3220+9000 sync s=N1 site=wait\n1@12300+5 launch s=N1 k=a\n"
        "1@12310+1000 sync s=N1 site=wait\n1@13400+5 launch s=N1 k=a\n1@13410+2500 ctx-sync site=wait\n"
        "1@16000+5 launch s=N1 k=a\n1@16010+2100 sync s=N1 site=other\n1@18200 region-end\n1@18300+5 launch s=N1 k=a\n"
        "1@18310+4000 sync s=N1 site=between\n1@22400 region-end\n1@22500+5 launch s=N1 k=a\n"
        "1@22510+5000 sync s=N1 site=outside\n1@28000 region step\n1@28010+5 launch s=N1 k=a\n1@28020 sync s=N1 site=late\n"
        "1@28100 region-end\n1@30000+3 sync s=N1\n";
    void Write(const std::string &name, const std::string &bytes)
    {
        std::ofstream(folder_ / name) << bytes;
    }
    /* Some that take long to read: of many calls, and of many chunks, most of them not used or (small.ptds) all. `slow MS
     * VERB...` runs ptds on a terminal, by a clock that is so much further at each look; a line of progress that is written
     * anew begins one. */
    void WriteLong()
    {
        std::string text;
        for (int i = 0; i < 9000; i++)
            text += "1@" + std::to_string(10 * i) + " launch s=N1 k=a site=here\n";
        for (const char *name : {"long-one-whose-name-has-forty-characters-and-more.ptds", "other.ptds"}) {
            Write(name, BuildTrace(text));
            std::filesystem::resize_file(folder_ / name, TraceBuilder().header.header_size + 1800u * PTDS_CHUNK_SIZE);
        }
        Write("small.ptds", BuildTrace("chunk-size 512\n" + text));
        Write("bin/slow",
              "#!/bin/sh\nTERM=xterm script -qec \"LD_PRELOAD=./quick_clock.so CLOCK_STEP_MS=$1 ptds $2\" /dev/null "
              "</dev/null | cat -v | sed 's/\\^M$//; s/\\^M\\^\\[\\[K/\\n/g'\n");
        EXPECT_EQ(0, chmod((folder_ / "bin/slow").c_str(), 0700));
    }
    /* Of programs that were killed while threads were in calls, and of one that lives: this one. `live LAST OPTIONS TRACE`
     * watches it, a thousand seconds after tick 0, until it has said the last line. */
    void WriteHanging()
    {
        const std::string begin = "thread 2=loader\n"
                                  "1@0 launch s=B1 k=_Z4gemmPf site=start<-step:/app/train.py:41<-main:/app/train.py:7\n"
                                  "2@5 launch s=N1 k=spin site=spins@libspin.so\n",
                          more = "2@12 record s=N1 e=E\n1@15 copy s=N2 from=pinned to=device bytes=64\n"
                                 "3@20 launch s=L k=spin\n";
        std::string many = begin;
        for (int i = 3; i < 20; i++)
            many += "1@" + std::to_string(10 * i) + " launch s=B" + std::to_string(i) + " k=a site=loop\n";
        Write("hangs.ptds", BuildTrace("pid 0\nkilled\n" + begin + more +
                                       "in-flight 1@80 ctx-sync site=start<-step:/app/train.py:41<-main:/app/train.py:7\n"
                                       "in-flight 2@85 event-sync e=E site=spins@libspin.so\n"
                                       "in-flight 3@90 sync s=N1 twin\nin-flight 4@95 module-load site=loads\n"));
        Write("done.ptds", BuildTrace("pid 0\nkilled\n" + begin + "1@10+100 ctx-sync\nin-flight 1@120 ctx-sync\n"));
        Write("many.ptds", BuildTrace("pid 0\nkilled\nrecycled\n" + many + "in-flight 2@500 ctx-sync site=waits\n"));
        Write("lost.ptds", BuildTrace("pid 0\nkilled\nrefused\n" + begin + "in-flight 1@500 sync s=B1 site=waits\n"));
        std::string live =
            BuildTrace("pid " + std::to_string(getpid()) + "\nkilled\n" + begin + more +
                       "in-flight 1@985000000 ctx-sync site=waits\nin-flight 2@999000000 sync s=N1 twin site=start\n"
                       "in-flight 3@997000000 free\n");
        memset(&live[offsetof(ptds_trace_header, born)], 0,
               sizeof(ptds_trace_header::born)); /* this process, whenever begun */
        Write("live.ptds", live);
        Write("shorn.ptds", live.substr(0, live.size() - PTDS_CHUNK_SIZE - 1));
        Write("bin/live", "#!/bin/sh\nlast=$1\nshift\n: >said\nLD_PRELOAD=./quick_clock.so ptds watch \"$@\" 2>said &\n"
                          "while kill -0 $! && ! grep -q \"$last\" said; do sleep 0.05; done\nkill $!\ncat said\n");
        EXPECT_EQ(0, chmod((folder_ / "bin/live").c_str(), 0700));
    }
    /* `app COMMAND` does that, with its policy and which run it is at hand ($policy, $run). It leaves what the shim would
     * where it is asked to: a trace (of-POLICY, if there is such) and the moments of 10 ms of CUDA work. `wallless ptds
     * probe` shows no times but these, and what is left in the folder for temporary files. */
    void WriteProbed()
    {
        std::string moments(4096, '\0');
        const uint64_t words[] = {0x31746e656d6f6d70, 1}, last = 10000001;
        memcpy(&moments[0], words, sizeof words);
        memcpy(&moments[64], &last, sizeof last);
        Write("moments", moments);
        Write("bin/app", "#!/bin/sh\nrun=0 policy=${PTDS_POLICY-bare} record=steps.ptds\n"
                         "[ ! -e count ] || read run <count\nrun=$((run + 1))\necho $run >count\n"
                         "echo $policy${PTDS_LANES+ of $PTDS_LANES lanes} >>runs\n"
                         "[ ! -e of-$policy ] || record=of-$policy\n"
                         "[ -z \"$PTDS_TRACE\" ] || cp $record \"${PTDS_TRACE%/*}/1.ptds\"\n"
                         "[ -z \"$PTDS_MOMENTS\" ] || cp moments \"$PTDS_MOMENTS/1\"\neval \"$1\"\n");
        Write(
            "bin/wallless",
            "#!/bin/sh\nrm -rf runs count tmp/*\nTMPDIR=$PWD/tmp PTDS_LIBRARY=lib.so \"$@\" >said 2>complaints\nstatus=$?\n"
            "sed -E '1,/Of that|not known/s/ *[0-9][0-9.]* [mun]?s\\b/ TIME/g; s/ptds-probe-....../FOLDER/' said\n"
            "ls -A tmp | sed 's/......$/......, left behind/'\nsed 's/-[0-9]*$/-PID/' complaints >&2\nexit $status\n");
        for (const char *name : {"bin/app", "bin/wallless"})
            EXPECT_EQ(0, chmod((folder_ / name).c_str(), 0700));
        EXPECT_EQ(0, mkdir((folder_ / "tmp").c_str(), 0700));
    }
    Folder folder_;
};

inline std::string TranscriptName(const testing::TestParamInfo<const char *> &name)
{
    return name.param;
}

} // namespace ptds

#endif

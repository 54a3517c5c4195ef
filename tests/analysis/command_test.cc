// SPDX-License-Identifier: Apache-2.0
//
// The command as its users meet it: exit statuses, what goes to which stream, and what `ptds run` hands to the program.
#include <gtest/gtest.h>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "analysis/findings/identity.h"
#include "tests/analysis/support.h"

extern "C" char __executable_start; /* the linker's */

namespace ptds
{
namespace
{

const char command[] = "analysis/ptds";

struct Ran {
    int status;
    std::string out;
};

Ran Shell(const std::string &line)
{
    Ran ran = {-1, ""};
    FILE *pipe = popen(line.c_str(), "r");
    if (pipe == nullptr)
        return ran;
    char text[4096];
    for (size_t size; (size = fread(text, 1, sizeof text, pipe)) != 0;)
        ran.out.append(text, size);
    int status = pclose(pipe);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

Ran Ptds(const std::string &arguments, const std::string &environment = "")
{
    return Shell(environment + " " + command + " " + arguments + " 2>&1");
}

bool Has(const Ran &ran, const std::string &part)
{
    return ran.out.find(part) != std::string::npos;
}

class TraceFile
{
public:
    explicit TraceFile(const std::string &bytes) : path(WriteTemporary(bytes))
    {
    }
    ~TraceFile()
    {
        unlink(path.c_str());
    }
    TraceFile(const TraceFile &) = delete;
    const std::string path;
};

const char with_finding[] = "1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" GOES_ON;
const char without[] = "1@0 launch s=N1 k=a\n";

TEST(Command, HelpAndVersion)
{
    EXPECT_EQ(0, Ptds("--help").status);
    Ran version = Ptds("--version");
    EXPECT_EQ(0, version.status);
    EXPECT_TRUE(Has(version, "ptds ")) << version.out;
    for (const char *verb : {"probe", "run", "report", "watch", "doctor"}) {
        Ran ran = Ptds(std::string(verb) + " --help");
        EXPECT_EQ(0, ran.status);
        EXPECT_TRUE(Has(ran, "Example")) << ran.out;
    }
}

TEST(Command, UsageErrorsAreTwo)
{
    for (const char *wrong : {"",
                              "frobnicate",
                              "report",
                              "report --format xml x",
                              "report --frob x",
                              "run",
                              "run --policy",
                              "report --summary --format json x",
                              "report --schema x",
                              "doctor now",
                              "watch",
                              "watch a b",
                              "run --watchdog soon true",
                              "report --format html x",
                              "report --all --format json x",
                              "report --all --summary x",
                              "report --all --finding 1 x",
                              "report --from 1 x",
                              "report --from -1s x",
                              "report --to 1h x",
                              "report --from 2s --to 1s x",
                              "report --stream L x",
                              "report --stream 0 x",
                              "report --stream 5x x",
                              "report --stream '#' x",
                              "report --stream -3 x",
                              "report --stream +3 x",
                              "report --stream ' 3' x",
                              "report --stream '' x",
                              "report --stream :3 x",
                              "report --stream 4294967296 x",
                              "report --stream 99999999999999999999 x",
                              "report --summary --thread 1 x",
                              "report --finding= x",
                              "report --floor 1 x",
                              "report --floor 1h x",
                              "report --floor 101% x",
                              "report --floor 1%, x",
                              "report --repair --summary x",
                              "report --repair --what-if x",
                              "report --repair --thread 1 x",
                              "report --thread 1 x y",
                              "report --finding 1 /tmp"})
        EXPECT_EQ(2, Ptds(wrong).status) << wrong;
}

TEST(Watch, OfAFolderIsSaidInALine)
{
    Ran ran = Ptds("watch /tmp");
    EXPECT_EQ(2, ran.status);
    EXPECT_EQ("ptds watch: /tmp: is a folder; one process is watched, by its trace\n", ran.out);
    EXPECT_EQ(3, Ptds("watch /nowhere/at/all").status);
}

TEST(Report, ExitStatusSaysWhetherItCouldReport)
{
    TraceFile bad(BuildTrace(with_finding)), good(BuildTrace(without)), broken("no trace at all");
    EXPECT_EQ(0, Ptds("report " + good.path).status);
    EXPECT_EQ(0, Ptds("report " + bad.path).status) << "what it says is no failure; check is the gate";
    EXPECT_EQ(0, Ptds("report " + good.path + " " + bad.path).status);
    EXPECT_EQ(3, Ptds("report " + broken.path).status);
    EXPECT_EQ(3, Ptds("report /nowhere/at/all").status);
    Ran both = Ptds("report " + broken.path + " " + bad.path);
    EXPECT_EQ(3, both.status);
    EXPECT_TRUE(Has(both, "sync-copy")) << "the other trace is reported all the same";
    EXPECT_TRUE(Has(both, broken.path + ": offset 0")) << both.out;
}

TEST(Report, Forms)
{
    TraceFile trace(BuildTrace(with_finding));
    EXPECT_TRUE(Has(Ptds("report " + trace.path), "Findings: 1 of 1, which save up to 5.0 ms"));
    EXPECT_TRUE(Has(Ptds("report --all " + trace.path), "Findings, by what they would save"));
    EXPECT_TRUE(Has(Ptds("report --summary " + trace.path), "ptds: next: ptds report "));
    EXPECT_TRUE(Has(Ptds("report --format json " + trace.path), "\"ptds_report_version\": 1"));
    EXPECT_TRUE(Has(Ptds("report --schema"), "https://json-schema.org/"));
}

TEST(Report, RepairByCallSite)
{
    std::string text = "1@1+1 alloc ptr=0x100000 bytes=4096 m=A\n";
    for (unsigned i = 0; i < 12; i++)
        text += std::to_string(1 + i % 2) + "@" + std::to_string(i + 5) + " memset s=L dst=A bytes=64 site=s" +
                std::to_string(i) + "\n";
    TraceFile trace(BuildTrace(text));
    Ran ran = Ptds("report --repair " + trace.path);
    EXPECT_EQ(0, ran.status);
    EXPECT_TRUE(Has(ran, "11 waits needed, between 11 pairs of call sites") && Has(ran, "#10 ") && !Has(ran, "#11 ") &&
                Has(ran, "and 1 pair more of call sites: --all"))
        << ran.out;
    EXPECT_TRUE(Has(Ptds("report --repair --all " + trace.path), "#11 "));
    EXPECT_TRUE(Has(Ptds("report --repair --format json " + trace.path), "\"repair\": {"));
    EXPECT_TRUE(Has(Ptds("report --format json " + trace.path), "\"repair\": null"));
    TraceFile again(BuildTrace(text));
    const std::string both = trace.path + " " + again.path;
    ran = Ptds("report --repair " + both);
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "22 waits needed, between 11 pairs of call sites; needed in 2 of 2 traces")) << ran.out;
    EXPECT_TRUE(Has(Ptds("report --repair --all " + both), "#11 needed, 2 of 2 times, in 2 of 2 traces"));
    EXPECT_TRUE(Has(Ptds("report --repair --format json " + both), "\"traces_needing\": 2"));
    EXPECT_TRUE(Has(Ptds("report --format json " + both), "\"repair\": null"));
    for (const std::string &asked : {std::string(""), std::string("--repair ")})
        for (const std::string &traces : {trace.path, both}) {
            ran = Ptds("report " + asked + "--format html -o " + trace.path + ".html " + traces);
            EXPECT_EQ(0, ran.status) << ran.out;
            std::ifstream file(trace.path + ".html");
            std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
            EXPECT_NE(std::string::npos, page.find("\"repair\":{\"needed\":")) << asked << traces;
            unlink((trace.path + ".html").c_str());
        }
}

TEST(Report, DetailsOnDemand)
{
    TraceFile trace(BuildTrace(with_finding));
    Ran one = Ptds("report --finding 1 " + trace.path);
    EXPECT_EQ(0, one.status);
    EXPECT_TRUE(Has(one, "#1 sync-copy: ") && Has(one, "Advice: ")) << one.out;
    size_t at = one.out.find("\n    id ");
    ASSERT_NE(std::string::npos, at);
    at = one.out.find_first_of("0123456789abcdef", at + 8);
    std::string id = one.out.substr(at, 16);
    EXPECT_EQ(one.out, Ptds("report --finding " + id.substr(0, 10) + " " + trace.path).out);
    for (const char *none : {"2", "0", "ffffffffffffffffff", "x"}) {
        Ran ran = Ptds(std::string("report --finding ") + none + " " + trace.path);
        EXPECT_EQ(3, ran.status) << none;
        EXPECT_TRUE(Has(ran, "no finding \"" + std::string(none) + "\"")) << ran.out;
    }
    EXPECT_TRUE(Has(Ptds("report --thread 1 " + trace.path), "Selected: thread 1; 4 of 4 recorded calls"));
    EXPECT_TRUE(Has(Ptds("report --stream '#1' --from 5us --to 1s " + trace.path), "1 of 4 recorded calls"));
    EXPECT_TRUE(Has(Ptds("report --stream 1 " + trace.path), "Selected: legacy stream; 2 of 4 recorded calls"))
        << Ptds("report --stream 1 " + trace.path).out;
    EXPECT_TRUE(Has(Ptds("report --stream 4294967295 " + trace.path), "no stream 4294967295; "))
        << Ptds("report --stream 4294967295 " + trace.path).out;
    Ran nobody = Ptds("report --thread nobody " + trace.path);
    EXPECT_EQ(3, nobody.status);
    EXPECT_TRUE(Has(nobody, "no thread \"nobody\"")) << nobody.out;
}

/* Up to six digits are a number; more are the beginning of an id, which may have none but digits. */
TEST(Report, AFindingByAnIdOfDigits)
{
    for (int i = 0; i < 10000; i++) {
        std::string text = "1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=c@n" +
                           std::to_string(i) + ".so\n" GOES_ON;
        Built built(BuildTrace(text));
        ASSERT_EQ(1u, built->findings.count);
        std::string id = identity_of(&built->trace, built->findings.items[0]).text, begin = id.substr(0, 7);
        if (begin.find_first_not_of("0123456789") != std::string::npos)
            continue;
        TraceFile trace(BuildTrace(text));
        EXPECT_EQ(0, Ptds("report --finding " + begin + " " + trace.path).status) << id;
        EXPECT_EQ(3, Ptds("report --finding " + begin.substr(0, 6) + " " + trace.path).status) << id;
        EXPECT_EQ(3, Ptds("report --finding 0000000 " + trace.path).status) << id;
        EXPECT_EQ(0, Ptds("report --finding 000001 " + trace.path).status) << id;
        return;
    }
    FAIL() << "no id begins with seven digits";
}

TEST(Report, APageInAFile)
{
    TraceFile trace(BuildTrace(with_finding));
    std::string page = trace.path + ".html";
    Ran ran = Ptds("report --format html -o " + page + " " + trace.path);
    EXPECT_EQ(0, ran.status);
    EXPECT_EQ("", ran.out);
    Ran text = Shell("cat " + page);
    for (const char *part : {"<!DOCTYPE html>", "sync-copy", "data-columns", "</html>"})
        EXPECT_TRUE(Has(text, part)) << part;
    EXPECT_FALSE(Has(text, "http:")) << "nothing to load from anywhere";
    EXPECT_FALSE(Has(text, "@SCRIPT@"));
    unlink(page.c_str());
}

TEST(Report, AnOutputThatCannotBeWrittenIsAnError)
{
    TraceFile trace(BuildTrace(with_finding));
    for (const char *form : {"html", "json", "text"}) {
        std::string report = std::string("report --format ") + form + " -o ";
        Ran nowhere = Ptds(report + "/nowhere/at/all " + trace.path);
        EXPECT_EQ(3, nowhere.status) << form;
        EXPECT_TRUE(Has(nowhere, "/nowhere/at/all: No such file")) << nowhere.out;
        Ran full = Ptds(report + "/dev/full " + trace.path);
        EXPECT_EQ(3, full.status) << form;
        EXPECT_TRUE(Has(full, "/dev/full: No space left")) << full.out;
    }
    EXPECT_EQ(3, Shell(std::string(command) + " report " + trace.path + " 2>&1 >/dev/full").status);
    /* What a verb says of itself, and what argp writes before it ends the program. */
    for (const std::string verb : {"help", "help report", "help --man", "--help", "--version", "--usage", "report --help",
                                   "doctor", "completion zsh", "check --usage", "export --version"})
        for (const char *to : {">/dev/full", ">&-"}) {
            Ran ran = Shell(command + (" " + verb + " 2>&1 ") + to);
            EXPECT_EQ(3, ran.status) << verb << to;
            EXPECT_EQ(1, std::count(ran.out.begin(), ran.out.end(), '\n')) << verb << to << ran.out;
            EXPECT_TRUE(Has(ran, ": stdout: ")) << verb << to << ran.out;
        }
    Ran itself = Ptds("report -o " + trace.path + " " + trace.path);
    EXPECT_EQ(2, itself.status) << "a report does not overwrite the trace that it is of";
    EXPECT_EQ(0, Ptds("report " + trace.path).status);
}

TEST(Report, SeveralTracesAreOne)
{
    TraceFile one(BuildTrace(with_finding)), two(BuildTrace(with_finding)), out("");
    std::string both = one.path + " " + two.path;
    EXPECT_TRUE(Has(Ptds("report " + both), "2 processes, ran 11.0 ms each"));
    EXPECT_TRUE(Has(Ptds("report --all " + both), "report on 2 processes"));
    EXPECT_EQ(0, Ptds("report --format html -o " + out.path + " " + both).status);
    Ran page = Shell("cat " + out.path);
    for (const char *part : {"<!DOCTYPE html>", "sync-copy", "\"host_ns_by_process\"", "</html>"})
        EXPECT_TRUE(Has(page, part)) << part;
    EXPECT_EQ(0, Ptds("report --format json -o " + out.path + " " + both).status);
    Ran json = Shell("cat " + out.path);
    size_t first = json.out.find("\"ptds_report_version\"");
    ASSERT_NE(std::string::npos, first) << json.out;
    EXPECT_EQ(first, json.out.rfind("\"ptds_report_version\"")) << "one document";
    Ran summaries = Ptds("report --summary " + both);
    EXPECT_NE(summaries.out.find("ptds: next"), summaries.out.rfind("ptds: next")) << "each its own: " << summaries.out;
    Ran over = Ptds("report -o " + two.path + " " + one.path);
    EXPECT_EQ(2, over.status) << "a trace is not overwritten, not even another one";
    EXPECT_EQ(0, Ptds("report " + two.path).status);
}

TEST(Report, EmptyAndDamagedTraces)
{
    TraceFile empty(TraceBuilder().Bytes());
    Ran nothing = Ptds("report " + empty.path);
    EXPECT_EQ(0, nothing.status);
    EXPECT_TRUE(Has(nothing, "No findings: nothing was recorded")) << nothing.out;
    std::string bytes = BuildTrace(std::string(with_finding) + "2@20000 launch s=N1 k=b\n");
    size_t at = TraceBuilder().header.header_size + 2 * PTDS_CHUNK_SIZE + sizeof(ptds_chunk);
    bytes[at + 2] = 3;
    bytes[at + 3] = 0;
    TraceFile damaged(bytes);
    std::string said = "ptds report: " + damaged.path + ": offset " + std::to_string(at) + ": damaged: ";
    for (const char *form :
         {"", "--all ", "--thread 1 ", "--format json ", "--summary ", "/dev/null ", "--all /dev/null "}) {
        Ran ran = Ptds("report " + std::string(form) + damaged.path);
        EXPECT_EQ(3, ran.status) << form;
        size_t others = std::string(form).find("/dev/null") != std::string::npos ? ran.out.find('\n') + 1 : 0;
        EXPECT_EQ(others, ran.out.find(said)) << "the error comes first: " << ran.out;
        EXPECT_TRUE(Has(ran, "sync-copy")) << form;
    }
    TraceFile out("");
    EXPECT_EQ(3, Ptds("export --to folded -o " + out.path + " " + damaged.path).status);
    EXPECT_TRUE(Has(Shell("cat " + out.path), "cuMemcpyDtoH_v2")) << "what could be read is there";
    EXPECT_TRUE(Has(Ptds("export --to folded " + damaged.path), "ptds export: " + damaged.path + ": offset "));
    Ran check = Ptds("check " + damaged.path);
    EXPECT_EQ(3, check.status);
    EXPECT_EQ(0u, check.out.find("ptds check: " + damaged.path + ": offset ")) << check.out;
}

/* A terminal: util-linux's script gives the command one. */
Ran Terminal(const std::string &line)
{
    return Shell("script -qec '" + line + "' /dev/null 2>&1 </dev/null");
}

TEST(Report, APagerOnATerminalOnly)
{
    if (Shell("command -v script").status != 0)
        GTEST_SKIP() << "no command script here (util-linux): no terminal to be had";
    TraceFile trace(BuildTrace(with_finding));
    std::string report = std::string(command) + " report ";
    Ran paged = Terminal("PAGER=\"sed s/^/PAGED:/\" " + report + trace.path);
    EXPECT_TRUE(Has(paged, "PAGED:Findings: ")) << paged.out;
    EXPECT_EQ(0, paged.status);
    EXPECT_FALSE(Has(Terminal("PAGER=\"sed s/^/PAGED:/\" " + report + "--no-pager " + trace.path), "PAGED:"));
    EXPECT_FALSE(Has(Ptds("report " + trace.path, "PAGER='sed s/^/PAGED:/'"), "PAGED:"));
    Ran missing = Terminal("PAGER=/nowhere/pager " + report + trace.path);
    EXPECT_EQ(3, missing.status);
    EXPECT_TRUE(Has(missing, "could not be run")) << missing.out;
    EXPECT_EQ(0, Terminal("PAGER=true " + report + "--all " + trace.path).status)
        << "a pager that was quit early is no error";
    Ran small = Terminal("stty rows 24 cols 80; NO_COLOR=1 PAGER=cat " + report + trace.path);
    EXPECT_TRUE(Has(small, "Findings: ")) << small.out;
}

/* Without its escape sequences and the terminal's carriage returns. */
std::string Plain(const std::string &text)
{
    std::string plain;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '\033')
            i = text.find('m', i);
        else if (text[i] != '\r')
            plain += text[i];
    }
    return plain;
}

TEST(Command, ColoursOnATerminalOnly)
{
    if (Shell("command -v script").status != 0)
        GTEST_SKIP() << "no command script here (util-linux): no terminal to be had";
    TraceFile trace(BuildTrace(with_finding));
    std::string report = std::string(command) + " report --no-pager " + trace.path;
    std::string set = "stty rows 50 cols 80; TERM=xterm ", plain = Shell(report).out;
    Ran shown = Terminal(set + report);
    EXPECT_EQ(0, shown.status);
    EXPECT_EQ(plain, Plain(shown.out)) << "nothing but colours is added";
    EXPECT_EQ(std::string::npos, plain.find('\033'));
    for (const char *part : {"\033[32mRight:\033[0m ", "\033[1mFindings:\033[0m 1 of 1", "\033[1m#1   sync-copy\033[0m ",
                             "  \033[33mwarning\033[0m", "\033[36mNext: ptds report"})
        EXPECT_TRUE(Has(shown, part)) << part << "\n" << shown.out;
    EXPECT_TRUE(Has(Terminal(set + std::string(command) + " check " + trace.path), "\033[1;31mFAIL \033[0m"));
    for (const char *none : {"NO_COLOR=1 ", "TERM=dumb ", "PAGER=\"sed s/x/x/\" "}) {
        std::string paged = std::string(none).find("PAGER") == 0 ? "" : "--no-pager ";
        Ran ran = Terminal(set + none + std::string(command) + " report " + paged + trace.path);
        EXPECT_FALSE(Has(ran, "\033")) << none << ran.out;
        EXPECT_TRUE(Has(ran, "Right: ")) << none << ran.out;
    }
    EXPECT_TRUE(Has(Terminal(set + "NO_COLOR= " + report), "\033[32mRight:")) << "empty: not set";
    Ran less = Terminal(set + "LESS= " + std::string(command) + " report --all " + trace.path);
    EXPECT_EQ(0, less.status) << less.out;
}

TEST(Report, NamesSitesOfObjectsThatAreThere)
{
    /* This test itself is the object: its main has a symbol. */
    char self[4096];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    ASSERT_GT(size, 0);
    self[size] = 0;
    TraceBuilder builder;
    uint64_t base = reinterpret_cast<uint64_t>(&__executable_start);
    builder.Object(1, self, base, base + 0x10000000);
    builder.Stack(1, {reinterpret_cast<uint64_t>(&at_exit_summary) + 4});
    builder.Stream(1, PTDS_STREAM_LEGACY);
    for (uint32_t thread = 1; thread <= 2; thread++) {
        CallSpec call;
        call.thread = thread;
        call.enter = thread;
        call.op = PTDS_OP_LAUNCH;
        call.stream = call.stack = 1;
        call.flags = PTDS_CALL_LEGACY;
        builder.Call(call);
    }
    TraceFile trace(builder.Bytes());
    Ran ran = Ptds("report --all " + trace.path);
    EXPECT_EQ(0, ran.status);
    EXPECT_TRUE(Has(ran, " at_exit_summary")) << ran.out;
}

/* As built: analysis/ptds finds interpose/libptds.so by itself; its real path is what the program gets. */
std::string Library()
{
    char path[4096] = "";
    EXPECT_NE(nullptr, realpath("interpose/libptds.so", path));
    return path;
}

TEST(RunVerb, SetsTheEnvironmentAndGivesTheProgramsStatus)
{
    NEEDS_A_PLAIN_SHIM();
    std::string library = Library();
    Ran ran = Ptds("run --policy observe --trace t.ptds --report off --log stderr -- sh -c "
                   "'echo $PTDS_POLICY $PTDS_TRACE $PTDS_REPORT $PTDS_LOG $LD_PRELOAD; exit 7'",
                   "PTDS_POLICY=none");
    EXPECT_EQ(7, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "observe /")) << ran.out;
    EXPECT_TRUE(Has(ran, "/t.ptds off stderr " + library)) << ran.out;
}

TEST(RunVerb, KeepsAnotherPreload)
{
    NEEDS_A_PLAIN_SHIM();
    std::string library = Library();
    Ran ran = Ptds("run sh -c 'echo $LD_PRELOAD'", "LD_PRELOAD=libm.so.6");
    EXPECT_TRUE(Has(ran, "libm.so.6:" + library)) << ran.out;
}

TEST(RunVerb, LanesAndPoliciesAreTheShimsVariables)
{
    NEEDS_A_PLAIN_SHIM();
    EXPECT_TRUE(Has(Ptds("run --lanes 4 --report off sh -c 'echo lanes $PTDS_LANES'"), "lanes 4\n"));
    EXPECT_TRUE(Has(Ptds("run --help"), "guarded, per-thread, stream, strict, observe or\n"));
    EXPECT_NE(0, Ptds("run --openmp true").status);
}

/* Whether `ptds run --audit` is to be had here. */
bool LoaderTakesAuditors()
{
    unsigned minor = 0;
    return sscanf(gnu_get_libc_version(), "2.%u", &minor) == 1 && minor >= 35;
}

TEST(RunVerb, AuditIsSaidLastInItsVariable)
{
    NEEDS_A_PLAIN_SHIM();
    std::string auditor = Library();
    auditor.replace(auditor.rfind('/') + 1, std::string::npos, "libptds_audit.so");
    if (!LoaderTakesAuditors()) {
        EXPECT_TRUE(Has(Ptds("run --audit true"), "--audit needs glibc 2.35 or later"));
        return;
    }
    EXPECT_TRUE(Has(Ptds("run --audit sh -c 'echo is $LD_AUDIT'"), "is " + auditor + "\n"));
    Ran ran = Ptds("run --audit sh -c 'echo is $LD_AUDIT'", "LD_AUDIT=/nowhere/libother.so");
    EXPECT_TRUE(Has(ran, "is /nowhere/libother.so:" + auditor + "\n")) << ran.out;
    EXPECT_TRUE(Has(Ptds("run sh -c 'echo is $LD_AUDIT'"), "is\n")) << "only where it is asked for";
}

TEST(RunVerb, AuditNeedsTheAuditorBesideTheLibrary)
{
    NEEDS_A_PLAIN_SHIM();
    std::string alone = testing::TempDir() + "libptds.so";
    std::ofstream(alone, std::ios::binary) << std::ifstream(Library(), std::ios::binary).rdbuf();
    Ran ran = Ptds("run --audit true", "PTDS_LIBRARY=" + alone);
    EXPECT_EQ(2, ran.status);
    EXPECT_TRUE(Has(ran, "libptds_audit.so, which --audit needs: No such file")) << ran.out;
    Ran doctor = Ptds("doctor", "PTDS_LIBRARY=" + alone);
    EXPECT_EQ(0, doctor.status) << doctor.out;
    EXPECT_TRUE(Has(doctor, "note   auditor ")) << doctor.out;
}

TEST(RunVerb, FailsLoudly)
{
    EXPECT_EQ(2, Ptds("run true", "PTDS_LIBRARY=/nowhere/libptds.so").status);
    EXPECT_EQ(127, Ptds("run /nowhere/program").status);
    EXPECT_EQ(126, Ptds("run /etc/passwd").status);
}

TEST(Doctor, SaysWhenTheLibraryIsMissing)
{
    Ran ran = Ptds("doctor", "PTDS_LIBRARY=/nowhere/libptds.so");
    EXPECT_EQ(1, ran.status);
    EXPECT_TRUE(Has(ran, "NOT usable")) << ran.out;
}

TEST(Doctor, WorksWithoutADriver)
{
    NEEDS_A_PLAIN_SHIM();
    if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr)
        GTEST_SKIP() << "this machine has a driver";
    Ran ran = Ptds("doctor");
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "none here, so the ways to it were not tried")) << ran.out;
    EXPECT_EQ(LoaderTakesAuditors(), Has(ran, "ok     auditor ")) << ran.out;
}

TEST(Doctor, TriesTheDoorsOfADriver)
{
    NEEDS_A_PLAIN_SHIM();
    Ran ran = Ptds("doctor", "LD_LIBRARY_PATH=$PWD/tests/analysis/fake");
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "CUDA 13.0")) << ran.out;
    for (const char *door :
         {"calls linked to the driver ", "calls found by dlsym ", "by cuGetProcAddress ", "by cuGetProcAddress_v2 "})
        EXPECT_TRUE(Has(ran, std::string("ok     ") + door)) << ran.out;
}

/* What programs are to do says nothing about what the machine can do. */
TEST(Doctor, AsksWithoutWhatTheCallerHasSet)
{
    NEEDS_A_PLAIN_SHIM();
    const std::string fake = "LD_LIBRARY_PATH=$PWD/tests/analysis/fake ";
    std::string plain = Ptds("doctor", fake).out;
    EXPECT_EQ(plain, Ptds("doctor", fake + "PTDS_POLICY=frob PTDS_REPORT=frob PTDS_TRACE=/nowhere/t PTDS_LOG=/nowhere/l "
                                           "PTDS_EXCLUDE='*' PTDS_INCLUDE=nothing")
                         .out);
    size_t last = plain.find("  note   permissions");
    ASSERT_NE(std::string::npos, last) << plain;
    EXPECT_EQ(std::string(plain).insert(last, "  note   PTDS_DISABLE is set          programs run without libptds\n"),
              Ptds("doctor", fake + "PTDS_DISABLE=1").out);
}

TEST(Doctor, NamesTheGpusAndWhatTheyRead)
{
    NEEDS_A_PLAIN_SHIM();
    const std::string simulated = "LD_LIBRARY_PATH=$PWD/tests/sim ";
    Ran ran = Ptds("doctor", simulated + "SIM_DEVICES=2");
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "ok     GPU 0 ")) << ran.out;
    EXPECT_TRUE(Has(ran, "ok     GPU 1                        Simulated CUDA device\n")) << ran.out;
    EXPECT_FALSE(Has(ran, "malloc")) << ran.out;
    ran = Ptds("doctor", simulated + "SIM_DEVICES=1 SIM_PAGEABLE=1");
    EXPECT_TRUE(Has(ran, "note   GPU 0                        reads memory of malloc")) << ran.out;
    ran = Ptds("doctor", simulated + "SIM_DEVICES=0");
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "note   GPU                          error 100\n")) << ran.out;
}

TEST(Doctor, ADoorThatTheDriverLacksIsNoFault)
{
    NEEDS_A_PLAIN_SHIM();
    Ran ran = Ptds("doctor", "LD_LIBRARY_PATH=$PWD/tests/analysis/fake_old");
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "CUDA 11.8")) << ran.out;
    EXPECT_TRUE(Has(ran, "ok     by cuGetProcAddress ")) << ran.out;
    EXPECT_TRUE(Has(ran, "note   by cuGetProcAddress_v2 ")) << ran.out;
}

TEST(Doctor, TellsALibraryThatDoesNotLoad)
{
    /* A program is no library: the loader says so and goes on without it. */
    char path[4096] = "";
    ASSERT_NE(nullptr, realpath("analysis/ptds", path));
    Ran ran = Ptds("doctor", std::string("LD_LIBRARY_PATH=$PWD/tests/analysis/fake PTDS_LIBRARY=") + path);
    EXPECT_EQ(1, ran.status);
    EXPECT_TRUE(Has(ran, "FAILED a process with libptds")) << ran.out;
}

} // namespace
} // namespace ptds

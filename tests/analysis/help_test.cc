// SPDX-License-Identifier: Apache-2.0
//
// What is made of the table of verbs: help, the man page, the completions. Nothing that --help shows is missing in them,
// and what reads them can.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

Outcome Ptds(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), data_file("analysis/ptds"));
    return run({arguments});
}

std::string Said(const std::vector<std::string> &arguments)
{
    Outcome ran = Ptds(arguments);
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ("", ran.err);
    return ran.out;
}

/* The verbs that `ptds --help` names. */
std::vector<std::string> Verbs()
{
    std::vector<std::string> verbs;
    bool listed = false;
    for (const std::string &line : lines_of(Said({"--help"}))) {
        listed = line == "Verbs:" || (listed && !line.empty());
        if (listed && line != "Verbs:")
            verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return verbs;
}

/* The options in a verb's --help that are not argp's own. */
std::set<std::string> Options(const std::string &verb)
{
    std::set<std::string> options;
    for (const std::string &line : lines_of(Said({verb, "--help"}))) {
        size_t at = line.find("--");
        if (at != 6 || line.find_first_not_of(' ') > 6)
            continue;
        std::string name = line.substr(at, line.find_first_of(" =[", at) - at);
        if (name != "--usage" && name != "--version")
            options.insert(name);
    }
    return options;
}

/* From a line that begins so to the next that begins with one of these ends. */
std::string Part(const std::string &text, const std::string &begin, const std::vector<std::string> &ends)
{
    std::string part;
    bool in = false;
    for (const std::string &line : lines_of(text)) {
        if (line == begin)
            in = true;
        else
            for (const std::string &end : ends)
                in = in && line.compare(0, end.size(), end) != 0;
        part += in ? line + "\n" : "";
    }
    return part;
}

/* The option, and not a longer one. */
bool Names(const std::string &text, const std::string &option)
{
    for (size_t at = text.find(option); at != std::string::npos; at = text.find(option, at + 1)) {
        char next = text[at + option.size()];
        if (next != '-' && !isalnum(next))
            return true;
    }
    return false;
}

std::string Unescaped(std::string text)
{
    for (size_t at; (at = text.find("\\-")) != std::string::npos;)
        text.erase(at, 1);
    return text;
}

TEST(Help, OfAVerbIsItsHelp)
{
    std::vector<std::string> verbs = Verbs();
    ASSERT_LE(8u, verbs.size());
    EXPECT_EQ(Said({"--help"}), Said({"help"}));
    for (const std::string &verb : verbs) {
        std::string help = Said({"help", verb});
        EXPECT_EQ(Said({verb, "--help"}), help);
        EXPECT_NE(std::string::npos, help.find("Usage: ptds " + verb)) << help;
        EXPECT_NE(std::string::npos, help.find("Example")) << help;
    }
    EXPECT_EQ(2, Ptds({"help", "frobnicate"}).exit);
    EXPECT_EQ(2, Ptds({"help", "run", "report"}).exit);
    EXPECT_EQ(2, Ptds({"completion"}).exit);
    EXPECT_EQ(2, Ptds({"completion", "csh"}).exit);
    EXPECT_EQ(2, Ptds({"completion", "bash", "zsh"}).exit);
}

/* Half a command is another one. */
TEST(Help, ExamplesAreNotBroken)
{
    for (const std::string &verb : Verbs()) {
        bool example = false;
        for (const std::string &line : lines_of(Said({"help", verb}))) {
            EXPECT_TRUE(!example || line.empty() || line.compare(0, 2, "  ") == 0) << verb << ": " << line;
            example |= line.compare(0, 7, "Example") == 0;
        }
    }
}

TEST(Help, TheManPageNamesEveryOption)
{
    std::string page = Unescaped(Said({"help", "--man"}));
    for (const std::string &verb : Verbs()) {
        std::string part = Part(page, ".SS " + verb, {".SS ", ".SH "});
        ASSERT_NE("", part) << verb;
        for (const std::string &option : Options(verb))
            EXPECT_TRUE(Names(part, option)) << verb << " " << option;
    }
    for (const char *part : {".TH PTDS 1", ".SH NAME", ".SH EXIT STATUS", ".B PTDS_POLICY", ".B PTDS_TRACE_LIMIT"})
        EXPECT_NE(std::string::npos, page.find(part)) << part;
    EXPECT_LT(30u, Options("run").size() + Options("report").size() + Options("check").size()) << "the test sees options";
}

TEST(Help, GroffReadsTheManPage)
{
    if (run({{"/bin/sh", "-c", "command -v groff"}}).exit != 0)
        GTEST_SKIP() << "no groff here";
    Outcome ran = run({{"/bin/sh", "-c", data_file("analysis/ptds") + " help --man | groff -man -ww -Tascii"}});
    EXPECT_EQ(0, ran.exit);
    EXPECT_EQ("", ran.err);
    EXPECT_NE(std::string::npos, ran.out.find("PTDS(1)")) << ran.out;
}

TEST(Completion, EveryShellsNamesEveryOption)
{
    std::string bash = Said({"completion", "bash"}), zsh = Said({"completion", "zsh"}), fish = Said({"completion", "fish"});
    for (const std::string &verb : Verbs()) {
        std::string in_bash = Part(bash, "    " + verb + ")", {"        ;;"});
        std::string in_zsh = Part(zsh, "    " + verb + ")", {"        ;;"});
        for (const std::string &option : Options(verb)) {
            EXPECT_TRUE(Names(in_bash, option)) << verb << " " << option;
            EXPECT_TRUE(Names(in_zsh, option)) << verb << " " << option;
            EXPECT_TRUE(Names(fish, "__fish_seen_subcommand_from " + verb + "' -l " + option.substr(2)))
                << verb << " " << option;
        }
    }
}

/* What bash offers for a line that ends here; words are split as bash splits them. */
std::string Offered(const std::vector<std::string> &words)
{
    std::string line = "source <(" + data_file("analysis/ptds") + " completion bash); COMP_WORDS=(";
    for (const std::string &word : words)
        line += "'" + word + "' ";
    line += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; _ptds; echo \"${COMPREPLY[@]}\"";
    Outcome ran = run({{"/bin/bash", "-c", line}});
    EXPECT_EQ("", ran.err);
    return ran.out.substr(0, ran.out.find('\n'));
}

TEST(Completion, Bash)
{
    std::string script = data_file("analysis/ptds") + " completion bash";
    EXPECT_EQ(0, run({{"/bin/bash", "-c", "bash -n <(" + script + ")"}}).exit);
    EXPECT_EQ("run report", Offered({"ptds", "r"}));
    EXPECT_EQ("run", Offered({"ptds", "help", "ru"}));
    EXPECT_EQ("bash zsh fish", Offered({"ptds", "completion", ""}));
    EXPECT_EQ("--format --floor --finding --from", Offered({"ptds", "report", "--f"}));
    EXPECT_EQ("text json html", Offered({"ptds", "report", "-f", ""}));
    EXPECT_EQ("html", Offered({"ptds", "report", "--format", "=", "h"}));
    EXPECT_EQ("text json html", Offered({"ptds", "report", "--format", "="}));
    EXPECT_EQ("guarded", Offered({"ptds", "run", "--policy", "g"}));
    EXPECT_EQ("--trace --trace-limit", Offered({"ptds", "run", "--policy", "guarded", "--trac"}));
    EXPECT_EQ("--trace --trace-limit", Offered({"ptds", "run", "--policy", "=", "guarded", "--trac"}));
    EXPECT_EQ("", Offered({"ptds", "run", "--policy", "guarded", "ls", "--pol"})) << "the program's, not ours";
    EXPECT_EQ("", Offered({"ptds", "run", "--", "none", "--pol"}));
    EXPECT_EQ("", Offered({"ptds", "report", "--floor", ""}));
    Folder folder;
    std::ofstream(folder / "a b.ptds") << "";
    EXPECT_EQ(folder / "a b.ptds", Offered({"ptds", "report", folder / "a"}));
}

TEST(Completion, Zsh)
{
    if (run({{"/bin/sh", "-c", "command -v zsh"}}).exit != 0)
        GTEST_SKIP() << "no zsh here";
    Folder folder;
    std::ofstream(folder / "_ptds") << Said({"completion", "zsh"});
    Outcome ran = run({{"/bin/sh", "-c", "zsh -n " + (folder / "_ptds")}});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ("", ran.err);
}

TEST(Completion, Fish)
{
    if (run({{"/bin/sh", "-c", "command -v fish"}}).exit != 0)
        GTEST_SKIP() << "no fish here";
    Folder folder;
    std::ofstream(folder / "ptds.fish") << Said({"completion", "fish"});
    Command command = {{"/bin/sh", "-c",
                        "fish -n " + (folder / "ptds.fish") + " && fish -N -c 'source " + (folder / "ptds.fish") +
                            "; complete -C \"ptds report --format \"; complete -C \"ptds run --poli\"'"}};
    command.env["HOME"] = folder.path();
    Outcome ran = run(command);
    EXPECT_EQ(0, ran.exit) << ran;
    for (const char *part : {"json\t", "html\t", "--policy\t"})
        EXPECT_NE(std::string::npos, ran.out.find(part)) << ran;
}

} // namespace
} // namespace ptds

// SPDX-License-Identifier: Apache-2.0
//
// What fits on a screen: for terminals of every height how many lines and findings there are, for names of every length
// what of them is shown. A row or a column that is counted wrong shows in one of these.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "analysis/report/floor.h"
#include "analysis/report/residual.h"
#include "analysis/views/text/many_screen.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/text/report_screen.h"
#include "tests/analysis/exported.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

class Shown
{
public:
    explicit Shown(const std::string &text, struct floor floor = {1, 100000}) : trace_(BuildTrace(text))
    {
        char message[TRACE_ERROR_SIZE] = "";
        EXPECT_EQ(0, report_build(report_.get(), trace_.source(), message)) << message;
        rank_findings(report_.get(), floor);
        residual_find(report_.get());
    }
    ~Shown()
    {
        report_end(report_.get());
    }
    Shown(const Shown &) = delete;
    std::string Screen(unsigned rows, struct site_namer *namer = nullptr) const
    {
        TextOf out;
        report_screen(report_.get(), namer, rows, &out);
        return out.text;
    }

private:
    MemoryTrace trace_;
    std::unique_ptr<struct report> report_{new struct report};
};

std::string TraceNamed(const std::string &name)
{
    return read_file(data_file("tests/analysis/shown/" + name + ".trace"));
}

/* "24:22/1 ": of 24 rows 22 are used, by one finding. */
std::string Heights(const std::function<std::string(unsigned rows)> &screen)
{
    std::string seen;
    for (unsigned rows = 23; rows <= 41; rows++) {
        std::vector<std::string> lines = lines_of(screen(rows));
        size_t findings = 0;
        for (const std::string &line : lines) {
            findings += line.size() > 1 && line[0] == '#' && isdigit(line[1]);
            EXPECT_TRUE(line.size() <= SCREEN_COLUMNS || line.compare(0, 5, "Next:") == 0) << line;
        }
        EXPECT_LE(lines.size(), std::max(rows, 24u) - 1);
        seen += std::to_string(rows) + ":" + std::to_string(lines.size()) + "/" + std::to_string(findings) + " ";
    }
    return seen;
}

TEST(ScreenFits, EveryHeight)
{
    auto heights = [](const std::string &trace, struct floor floor) {
        Shown shown(TraceNamed(trace), floor);
        return Heights([&](unsigned rows) { return shown.Screen(rows); });
    };
    EXPECT_EQ("23:21/2 24:21/2 25:24/3 26:24/3 27:24/3 28:24/3 29:24/3 30:24/3 31:24/3 32:29/3 "
              "33:29/3 34:29/3 35:29/3 36:29/3 37:29/3 38:29/3 39:29/3 40:29/3 41:29/3 ",
              heights("crowd", {1, 100000}));
    EXPECT_EQ("23:23/2 24:23/2 25:23/2 26:23/2 27:26/3 28:26/3 29:26/3 30:26/3 31:26/3 32:31/3 "
              "33:31/3 34:31/3 35:31/3 36:31/3 37:31/3 38:31/3 39:38/4 40:38/4 41:38/4 ",
              heights("crowd", {0, 1}));
    EXPECT_EQ("23:18/1 24:18/1 25:24/2 26:24/2 27:24/2 28:24/2 29:28/3 30:28/3 31:28/3 32:31/3 "
              "33:31/3 34:31/3 35:31/3 36:31/3 37:31/3 38:37/4 39:37/4 40:37/4 41:37/4 ",
              heights("observed", {0, 1}));
    EXPECT_EQ("23:22/1 24:22/1 25:22/1 26:22/1 27:22/1 28:27/2 29:27/2 30:27/2 31:27/2 32:31/2 "
              "33:31/2 34:31/2 35:31/2 36:31/2 37:31/2 38:37/3 39:37/3 40:37/3 41:37/3 ",
              heights("wrong", {0, 1}));
    EXPECT_EQ("23:20/1 24:20/1 25:20/1 26:20/1 27:26/2 28:26/2 29:26/2 30:26/2 31:26/2 32:30/2 "
              "33:30/2 34:30/2 35:30/2 36:30/2 37:36/3 38:36/3 39:36/3 40:36/3 41:36/3 ",
              heights("guarded", {0, 1}));
    EXPECT_EQ("23:19/1 24:19/1 25:19/1 26:19/1 27:19/1 28:19/1 29:19/1 30:19/1 31:19/1 32:26/1 "
              "33:26/1 34:26/1 35:26/1 36:26/1 37:26/1 38:26/1 39:26/1 40:26/1 41:26/1 ",
              heights("lacking", {0, 1}));
    EXPECT_EQ("23:23/1 24:23/1 25:23/1 26:23/1 27:26/1 28:26/1 29:26/1 30:26/1 31:26/1 32:26/1 "
              "33:26/1 34:26/1 35:34/1 36:34/1 37:34/1 38:34/1 39:34/1 40:39/2 41:39/2 ",
              heights("full", {0, 1}));
    EXPECT_EQ("23:22/1 24:22/1 25:22/1 26:25/1 27:25/1 28:25/1 29:25/1 30:25/1 31:25/1 32:25/1 "
              "33:25/1 34:25/1 35:25/1 36:25/1 37:36/1 38:36/1 39:36/1 40:36/1 41:36/1 ",
              heights("wide", {0, 1}));
}

TEST(ScreenFits, EveryHeightOfSeveral)
{
    std::vector<std::string> traces;
    for (const char *name : {"crowd", "observed", "wrong", "lacking", "guarded", "nothing"})
        traces.push_back(BuildTrace(TraceNamed(name)));
    Opened opened(traces);
    EXPECT_EQ("23:20/5 24:20/5 25:20/5 26:20/5 27:20/5 28:20/5 29:20/5 30:20/5 31:20/5 32:23/5 "
              "33:23/5 34:23/5 35:23/5 36:23/5 37:23/5 38:23/5 39:23/5 40:23/5 41:23/5 ",
              Heights([&](unsigned rows) {
                  TextOf out;
                  many_screen(&opened.traces, &opened.folds, opened.namer, rows, &out);
                  return out.text;
              }));
}

/* Function names of every length, behind a call whose name is short and one whose name is long. */
struct Long : site_namer {
    Long() : site_namer{}
    {
        data = this;
        name = [](site_namer *own, const object_def *, uint64_t, char *out, size_t room) {
            snprintf(out, room, "%s(int)+0x1f (step.cu:12)",
                     std::string(static_cast<Long *>(own->data)->length, 'f').c_str());
            return true;
        };
    }
    size_t length = 0;
};

/* From which length of the function's name on there is how much of it: all, without the object, without arguments. */
std::string Lengths(const char *api, const char *kernel)
{
    std::string last, seen;
    Shown shown(std::string("setting policy=observe\n1@0+5 launch s=L site=l k=") + kernel +
                    "\n1@10+3000 copy s=L implicit from=device to=pageable bytes=4 site=f api=" + api +
                    "\n1@4000+5 launch s=L k=a site=l\n1@9000+3 sync s=L\n",
                {0, 1});
    Long namer;
    for (namer.length = 1; namer.length < 90; namer.length++) {
        std::string screen = shown.Screen(40, &namer), now;
        std::vector<std::string> lines = lines_of(screen);
        size_t at = 0;
        while (at < lines.size() && lines[at].compare(0, 1, "#") != 0)
            at++;
        for (at++; at < lines.size() && lines[at].find("no policy") == std::string::npos; at++) {
            std::string line = lines[at];
            for (size_t from; (from = line.find("ff")) != std::string::npos;)
                line.erase(from, 1);
            now += line.substr(line.find_first_not_of(' ')) + "|";
        }
        if (now != last)
            seen += std::to_string(namer.length) + " " + now + "\n";
        last = now;
    }
    return seen;
}

TEST(ScreenFits, EveryLengthOfAName)
{
    EXPECT_EQ("1 cuA at prog+0x20 f(int)+0x1f (step.cu:12), behind k|\n"
              "25 cuA at prog+0x20 f(int)+0x1f (step.cu:12)|behind k|\n"
              "35 cuA at f(int)+0x1f (step.cu:12)|behind k|\n"
              "45 cuA at f (step.cu:12)|behind k|\n"
              "55 cuA|at f (step.cu:12)|behind k|\n"
              "59 cuA|at f ...|behind k|\n",
              Lengths("cuA", "k"));
    EXPECT_EQ("1 cuMemcpyDtoH_v2 at prog+0x20 f(int)+0x1f (step.cu:12)|behind kernel_with_a_name|\n"
              "23 cuMemcpyDtoH_v2 at f(int)+0x1f (step.cu:12)|behind kernel_with_a_name|\n"
              "33 cuMemcpyDtoH_v2 at f (step.cu:12)|behind kernel_with_a_name|\n"
              "43 cuMemcpyDtoH_v2|at f (step.cu:12)|behind kernel_with_a_name|\n"
              "59 cuMemcpyDtoH_v2|at f ...|behind kernel_with_a_name|\n",
              Lengths("cuMemcpyDtoH_v2", "kernel_with_a_name"));
    EXPECT_EQ("1 cuFunctionWithAVeryLongNameThatTakesMostOfItsLine_v2 at f (step.cu:12)|behind other|\n"
              "6 cuFunctionWithAVeryLongNameThatTakesMostOfItsLine_v2|at f (step.cu:12), behind other|\n"
              "45 cuFunctionWithAVeryLongNameThatTakesMostOfItsLine_v2|at f (step.cu:12)|behind other|\n"
              "59 cuFunctionWithAVeryLongNameThatTakesMostOfItsLine_v2|at f ...|behind other|\n",
              Lengths("cuFunctionWithAVeryLongNameThatTakesMostOfItsLine_v2", "_ZN2ns5otherIiEEvT_"));
}

/* The next command is whole, and a shell reads it, whatever the path is; what else could be asked follows where it fits. */
TEST(ScreenFits, EveryLengthOfAPath)
{
    Opened opened({BuildTrace("1@0 launch s=N1 k=a\n"), BuildTrace("1@0 launch s=N1 k=b\n")});
    auto next = [&](const std::string &path) {
        for (size_t i = 0; i < 2; i++)
            opened.traces.list.items[i]->report.trace.source.file = path.c_str();
        TextOf out;
        many_screen(&opened.traces, &opened.folds, opened.namer, 40, &out);
        return lines_of(out.text).back();
    };
    std::string folder(20, 'd');
    for (size_t length = 1; length < 170; length++) {
        std::string name(length, 'f'), path = folder + "/" + name;
        EXPECT_EQ("Next: ptds report " + (path.size() <= 160 ? path : name) +
                      (path.size() <= 33 ? ", or all processes with --all" : ""),
                  next(path));
    }
    EXPECT_EQ("Next: ptds report 'a b', or all processes with --all", next("a b"));
}

} // namespace
} // namespace ptds

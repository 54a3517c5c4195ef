// SPDX-License-Identifier: Apache-2.0
//
// What the page shows, in a real browser, against what the text says of the same traces: numbers as they are written, the
// opening, every finding with its severity, cost and verdicts, causes, gaps. Without a browser these tests are skipped.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "analysis/base/text.h"
#include "analysis/repair/merge_traces.h"
#include "analysis/repair/repair.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/views/repair/repair_words.h"
#include "analysis/views/text/many_screen.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/text/whatif_text.h"
#include "tests/analysis/exported.h"
#include "tests/analysis/page_browser.h"

namespace ptds
{
namespace
{

/* Thousands are set apart by a space in text, by a narrow one on the page; all white space is one space. */
std::string Plain(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        bool narrow = text.compare(i, 3, "\u202f") == 0;
        if (narrow)
            i += 2;
        bool space = narrow || text[i] == ' ' || text[i] == '\n' || text[i] == '\t';
        if (!space)
            out += text[i];
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    return out;
}

/* What a script says, decoded. */
std::string Said(Browser *browser, const std::string &script)
{
    json_error_t error;
    json_t *value = json_loads(browser->Run(script).c_str(), JSON_DECODE_ANY, &error);
    std::string text = json_is_string(value) ? json_string_value(value) : "(nothing was said)";
    json_decref(value);
    return text;
}

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

const char two_kernels[] =
    "setting policy=guarded\n1@0 launch s=L to=P1 k=a site=a\n1@10+400 copy s=L implicit from=device "
    "to=pageable bytes=4 site=b target=P1\n2@20+12250 free ptr=0x1000 site=c\n1@13000+0 copy s=L "
    "implicit from=device to=pageable bytes=4 site=b\n" GOES_ON;

/* Traces by name: made up ones, and recordings of programs on the simulated driver. */
std::string TraceNamed(const std::string &name)
{
    if (name == "nothing")
        return BuildTrace("1@0 launch s=N1 k=a\n");
    if (name == "made_up")
        return BuildTrace(two_kernels);
    if (name == "on_gpu")
        return BuildTrace(
            "setting policy=observe\n1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
            "1@100+2 launch s=L k=_Z1aPf args=A\n2@101+2 launch s=L k=_Z1bPf args=B\n"
            "1@110+10000 sync s=L\n2@111+20000 sync s=L\n"
            "device-run 1@100 105+10000\ndevice-run 2@101 10106+10000\n");
    if (name == "untimed")
        return BuildTrace("1@0 launch s=L k=a site=a\n1@10 copy s=L implicit from=device to=pageable bytes=4 site=b\n"
                          "1@50 sync s=L\n");
    if (name == "past")
        return BuildTrace("setting policy=guarded\nuntabled cuNewThingAsync\nbypass 1:/opt/other/libcuda.so\n"
                          "bypass 5:/space/lib<b>plugin</b>.so\nbypass 7:/deep/libasks.so\n1@0 launch s=N1 k=a\n");
    if (name == "crowd") { /* more lanes than orders are followed of, and more streams than anything is */
        std::string text = "setting policy=observe\n";
        for (int i = 1; i <= 4200; i++)
            text += "1@" + std::to_string(i) + " launch k=a s=B" + std::to_string(i) + "\n";
        return BuildTrace(text + "1@5000 launch k=a s=L\n");
    }
    if (name == "held") /* one call that cost two others their time */
        return BuildTrace("2@0+4 copy s=N1 from=device to=pinned bytes=4\n2@20+4 sync s=N1\n"
                          "3@30+4 memset s=N2 to=device bytes=4\n1@100+30000 module-load site=load\n"
                          "2@200+29903 copy s=N1 from=device to=pinned bytes=4\n"
                          "3@20100+10004 memset s=N3 to=device bytes=4\n");
    if (name == "killed")
        return BuildTrace(std::string("killed\n") + two_kernels);
    std::ifstream file("tests/analysis/recorded/" + name + ".ptds", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    EXPECT_TRUE(file.good()) << name;
    return bytes.str();
}

TEST(PageAgree, NumbersAreWrittenAsInText)
{
    NEEDS_A_BROWSER();
    Page page(TraceNamed("made_up"), nullptr);
    Browser browser(1280, 900);
    ASSERT_NE("failed", browser.Open(page.path));
    std::string asked, times, counts, shares;
    uint64_t chance = 88172645463325252u;
    std::vector<uint64_t> all = {0,     1,      999,    1000,    1049,      1050,      1250,       1350,       12250,
                                 12750, 999949, 999950, 999999,  1000000,   1250000,   999950000,  1000000000, 1005000000,
                                 99999, 10000,  9999,   1000000, 123456789, 125000000, 1125000000, 1375000000};
    for (int i = 0; i < 2000; i++) {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        all.push_back((chance >> 20) % (uint64_t{1} << (chance % 40)) / 50 * 50);
    }
    for (uint64_t one : all) {
        asked += (asked.empty() ? "" : ",") + std::to_string(one);
        times += std::string(text_ns(one).text) + "\n";
        counts += std::string(text_count(one).text) + "\n";
        shares += std::string(text_share(one, 1000000).text) + "\n";
    }
    auto page_says = [&](const std::string &how) {
        std::string said = Said(&browser, "[" + asked + "].map((one) => " + how + " + '\\n').join('')");
        for (size_t at; (at = said.find("\u202f")) != std::string::npos;)
            said.replace(at, 3, " ");
        return said;
    };
    EXPECT_EQ(times, page_says("ptds.time(one)"));
    EXPECT_EQ(counts, page_says("ptds.count(one)"));
    EXPECT_EQ(shares, page_says("ptds.percent(one, 1000000)"));
}

/* What the command does for text and page same_but_for_numbers. */
void Replay(struct report *report)
{
    whatif_text_opening(report);
}

class AgreeOn : public testing::TestWithParam<const char *>
{
protected:
    static void SetUpTestSuite()
    {
        if (!Browser::Find().empty())
            browser = std::make_unique<Browser>(1280, 900);
    }
    static void TearDownTestSuite()
    {
        browser.reset();
    }
    void SetUp() override
    {
        NEEDS_A_BROWSER();
        page = std::make_unique<Page>(TraceNamed(GetParam()), nullptr, TIMELINE_MOST, true, Replay);
        ASSERT_EQ(0, page->status);
        ASSERT_NE("failed", browser->Open(page->path));
        TextOf out;
        report_text(page->get(), nullptr, &out);
        text = out.text;
    }

    static std::unique_ptr<Browser> browser; /* one for all: starting it takes longest */
    std::unique_ptr<Page> page;
    std::string text;
};
std::unique_ptr<Browser> AgreeOn::browser;

/* {"severity": "warning, class H3", ...} of the finding with this number: the lines below its title. */
std::map<std::string, std::string> InText(const std::string &text, size_t number)
{
    std::map<std::string, std::string> said;
    size_t from = text.find("\n#" + std::to_string(number) + " ");
    if (from == std::string::npos)
        return said;
    std::istringstream lines(text.substr(from + 1));
    std::string line, title;
    std::getline(lines, title);
    said["title"] = title;
    while (std::getline(lines, line) && line.compare(0, 4, "    ") == 0)
        if (line.size() > 26 && line[4] != ' ' && line[25] == ' ')
            said[line.substr(4, line.find("  ", 4) - 4)] = line.substr(26);
    return said;
}

TEST_P(AgreeOn, EveryFinding)
{
    size_t count = (*page)->findings.count;
    EXPECT_EQ(std::to_string(count),
              browser->Run("ptds.openFinding(1), document.querySelectorAll('#list tr.finding').length"));
    for (size_t number = 1; number <= count; number++) {
        auto said = InText(text, number);
        ASSERT_NE("", said["title"]) << number << "\n" << text;
        browser->Run("ptds.openFinding(" + std::to_string(number) + ")");
        auto cell = [&](const std::string &which) {
            return Plain(Said(browser.get(), "document.querySelector('#finding-" + std::to_string(number) + "')." + which));
        };
        auto detail = [&](const std::string &name) {
            return Plain(Said(browser.get(), "(() => { const dt = [...document.querySelectorAll('#finding-" +
                                                 std::to_string(number) +
                                                 " + tr dt')].find((one) => one.textContent === '" + name +
                                                 "'); return dt ? dt.nextSibling.textContent : ''; })()"));
        };
        std::string title = said["title"], rule = title.substr(title.find(' ') + 1);
        EXPECT_EQ(rule.substr(0, rule.find(": ")), cell("cells[1].textContent")) << title;
        EXPECT_EQ(rule.substr(rule.find(": ") + 2),
                  Plain(Said(browser.get(),
                             "document.querySelector('#finding-" + std::to_string(number) + " + tr strong').textContent")));
        EXPECT_EQ(said["severity"], detail("severity")) << title;
        EXPECT_EQ(said["severity"], cell("cells[2].textContent") + said["severity"].substr(said["severity"].find(',')));
        EXPECT_EQ(Plain(said["saves at most"]), detail("saves at most")) << title;
        EXPECT_EQ(0u, Plain(said["saves at most"]).find(cell("cells[3].textContent.split(' (')[0]"))) << title;
        EXPECT_EQ(said["case"], detail("case")) << title;
        EXPECT_EQ(said["by policy"], detail("by policy")) << title;
        EXPECT_EQ(said["id"], detail("id")) << title;
        if (said.count("call") != 0) {
            EXPECT_TRUE(Has(Plain(said["call"]), ", " + cell("cells[4].textContent") + " time")) << said["call"];
        }
        if (said.count("implicit orders here") != 0) {
            for (const std::string &one : {std::string("needed"), std::string("maybe needed"), std::string("not needed")})
                EXPECT_EQ(Has(said["implicit orders here"], " " + one), Has(detail("implicit orders here"), " " + one))
                    << said["implicit orders here"] << " / " << detail("implicit orders here");
        }
    }
    EXPECT_EQ("", Errors(*browser));
}

/* The screen names small causes in one line, the page gives each a row. */
void ExpectNames(const std::string &shown, const std::string &names)
{
    std::istringstream words(names);
    for (std::string name; words >> name;) {
        name.resize(name.find_last_not_of(',') + 1);
        EXPECT_TRUE(name == "..." || Has(shown, name)) << name << "\n" << shown;
    }
}

TEST_P(AgreeOn, OpeningTotalsAndGaps)
{
    std::string shown = Plain(Said(browser.get(), "document.querySelector('main').innerText"));
    TextOf screen;
    report_screen(page->get(), nullptr, 100, &screen);
    std::istringstream lines(screen.text);
    std::string line;
    size_t compared = 0;
    for (bool causes = false; std::getline(lines, line);) {
        bool opens = false;
        for (const char *begin :
             {"Right", "May be wrong: ", "WRONG: ", "Default stream", "Under guarded: ", "Blocked: ", "Start-up: "})
            opens |= line.compare(0, strlen(begin), begin) == 0;
        causes = causes ? !line.empty() : line.compare(0, 8, "The rest") == 0;
        bool cause = causes && line.compare(0, 2, "  ") == 0, names = cause && line.compare(0, 6, "  and ") == 0;
        if (!opens && !cause)
            continue;
        compared++;
        if (names)
            ExpectNames(shown, line.substr(line.find(": ") + 2));
        else
            EXPECT_TRUE(Has(shown, Plain(cause ? line.substr(2) : line))) << line << "\n" << shown;
    }
    EXPECT_LE(3u, compared) << screen.text;
    EXPECT_EQ(std::string(GetParam()) == "on_gpu", Has(screen.text, "\nUnder guarded: 1.90x to 2.10x faster, by a replay"));
    const struct report_totals &totals = (*page)->totals;
    std::string calls = text_count(totals.calls).text, stream = text_count(totals.default_stream).text;
    EXPECT_TRUE(Has(Plain(text), "driver calls " + calls));
    EXPECT_TRUE(Has(shown, calls + " driver calls")) << shown;
    EXPECT_TRUE(Has(shown, stream + " default-stream operations: " + text_count(totals.remapped).text + " moved")) << shown;
    size_t at = text.find("\nWhat could not be analysed\n");
    ASSERT_NE(std::string::npos, at);
    std::istringstream gaps(text.substr(at + 28));
    while (std::getline(gaps, line) && line.size() > 2 && line.compare(0, 2, "  ") == 0)
        if (!Has(line, "nothing: ") && !Has(line, "of what the shim saw, ")) {
            EXPECT_TRUE(Has(shown, Plain(line.substr(2)))) << line << "\n" << shown;
        }
    for (const char *limit : {"  3073 calls on streams too many to say what depends on their order\n",
                              "  105 calls on streams beyond the first 4096 alive at a time\n"}) {
        EXPECT_EQ(std::string(GetParam()) == "crowd", Has(text, limit)) << limit << text;
    }
    bool past = std::string(GetParam()) == "past";
    EXPECT_EQ(past, Has(text, "  /deep/libasks.so: opened by name with RTLD_DEEPBIND, may look the driver up")) << text;
    EXPECT_EQ(past, Has(text, "  /space/lib<b>plugin</b>.so: uses the driver of a dlmopen namespace")) << text;
    if (past) {
        EXPECT_FALSE(Has(shown, "Nothing: the records are complete")) << shown;
    }
}

INSTANTIATE_TEST_SUITE_P(Traces, AgreeOn,
                         testing::Values("nothing", "made_up", "on_gpu", "untimed", "killed", "past", "held", "crowd",
                                         "mixed_streams", "mixed_threads", "overlap", "stream_handover"),
                         [](const auto &param) { return std::string(param.param); });

/* All of a repair's text is in the page's table, place by place. */
void ExpectRepair(Browser *browser, const std::string &text)
{
    browser->Run("document.getElementById('all-repairs').click()");
    std::istringstream lines(text);
    std::string line, row, shown = Plain(Said(browser, "document.getElementById('repair').innerText"));
    EXPECT_EQ("false", browser->Run("document.getElementById('repair').hidden"));
    size_t compared = 0;
    for (unsigned number = 0; std::getline(lines, line);) {
        if (line.empty())
            continue;
        compared++;
        if (line[0] == '#') {
            number++;
            row = Plain(Said(browser, "document.querySelectorAll('#repairs > tbody > tr')[" + std::to_string(number - 1) +
                                          "].innerText"));
            EXPECT_TRUE(Has(row, Plain(std::to_string(number) + " " + line.substr(line.find(' ') + 1)))) << line << "\n"
                                                                                                         << row;
        } else if (number != 0) {
            EXPECT_TRUE(Has(row, Plain(line.substr(28)))) << line << "\n" << row;
            EXPECT_TRUE(Has(row, Plain(line.substr(4, 24).substr(0, line.substr(4, 24).find_last_not_of(' ') + 1))))
                << line;
        } else {
            EXPECT_TRUE(Has(shown, Plain(line[0] == ' ' ? line.substr(2) : line))) << line << "\n" << shown;
        }
    }
    EXPECT_LE(10u, compared) << text;
    EXPECT_EQ("", Errors(*browser));
}

std::string HandedOver(int sites)
{
    std::string text = "setting policy=observe\n1@0+1 alloc ptr=0x100000 bytes=4096 m=A site=make\n";
    for (int i = 0; i < sites; i++)
        text += std::to_string(1 + i % 2) + "@" + std::to_string(10 + i * 10) + " memset s=L dst=A bytes=64 site=s" +
                std::to_string(i) + "\n";
    return BuildTrace(text);
}

std::string AsPage(const std::string &html)
{
    std::string path = WriteTemporary(html), named = path + ".html";
    EXPECT_EQ(0, rename(path.c_str(), named.c_str()));
    return named;
}

TEST(PageAgree, TheRepairOfOneTrace)
{
    NEEDS_A_BROWSER();
    Built report(HandedOver(14));
    struct repair repair;
    TextOf text, html;
    ASSERT_EQ(0, repair_of(&repair, report.get(), ORDER_PER_THREAD));
    repair_text(report.get(), &repair, nullptr, SIZE_MAX, &text);
    static const struct timeline nothing = {};
    static const struct edge_list no_edges = {};
    ASSERT_EQ(0, report_html_repaired(report.get(), &nothing, &no_edges, &repair, nullptr, &html));
    repair_end(&repair);
    std::string path = AsPage(html.text);
    Browser browser(1280, 900);
    ASSERT_NE("failed", browser.Open(path));
    EXPECT_EQ("5", browser.Run("document.querySelectorAll('#repairs > tbody > tr').length"));
    ExpectRepair(&browser, text.text);
    EXPECT_EQ("13", browser.Run("document.querySelectorAll('#repairs > tbody > tr').length"));
    EXPECT_TRUE(browser.Picture("repair.png", true));
    unlink(path.c_str());
    html.text.clear();
    ASSERT_EQ(0, report_html(report.get(), &nothing, &no_edges, nullptr, &html));
    path = AsPage(html.text);
    ASSERT_NE("failed", browser.Open(path));
    EXPECT_EQ("true", browser.Run("document.getElementById('repair').hidden")) << "none was made";
    unlink(path.c_str());
}

TEST(PageAgree, TheRepairOfSeveralTraces)
{
    NEEDS_A_BROWSER();
    Opened opened({HandedOver(14), HandedOver(5)});
    struct repairs repairs;
    TextOf text, html;
    ASSERT_EQ(0, merge_traces_repairs(&repairs, &opened.traces, ORDER_PER_THREAD));
    repair_text_many(&repairs, &opened.traces, opened.namer, SIZE_MAX, &text);
    EXPECT_TRUE(Has(text.text, "in 2 of 2 traces") && Has(text.text, "in 1 of 2 traces")) << text.text;
    ASSERT_EQ(0, report_html_many_repaired(&opened.traces, &opened.folds, nullptr, &repairs, opened.namer, &html));
    merge_traces_end(&repairs);
    std::string path = AsPage(html.text);
    Browser browser(1280, 900);
    ASSERT_NE("failed", browser.Open(path));
    ExpectRepair(&browser, text.text);
    unlink(path.c_str());
}

TEST(PageAgree, SeveralTracesAsOnTheScreen)
{
    NEEDS_A_BROWSER();
    for (const std::vector<std::string> &names : std::vector<std::vector<std::string>>{
             {"made_up", "killed", "past"}, {"mixed_threads", "overlap", "stream_handover"}}) {
        std::vector<std::string> bytes;
        for (const std::string &name : names)
            bytes.push_back(TraceNamed(name));
        Opened opened(bytes);
        TextOf html, screen;
        ASSERT_EQ(0, report_html_many(&opened.traces, &opened.folds, nullptr, opened.namer, &html));
        many_screen(&opened.traces, &opened.folds, opened.namer, 100, &screen);
        std::string path = WriteTemporary(html.text), named = path + ".html";
        ASSERT_EQ(0, rename(path.c_str(), named.c_str()));
        Browser browser(1280, 900);
        EXPECT_NE("failed", browser.Open(named));
        std::string shown = Plain(Said(&browser, "document.body.innerText"));
        std::istringstream lines(screen.text);
        std::string line;
        size_t compared = 0;
        while (std::getline(lines, line)) {
            for (const char *begin : {"Default stream", "Blocked: ", "Start-up: "})
                if (line.compare(0, strlen(begin), begin) == 0 && ++compared != 0) {
                    EXPECT_TRUE(Has(shown, Plain(line))) << line << "\n" << shown;
                }
            unsigned number = 0, processes = 0;
            char rule[60], cost[20], unit[20], severity[20];
            unsigned long long calls = 0;
            if (sscanf(line.c_str(), "#%u %59s %19s %19s %llux %19[^,], %u", &number, rule, cost, unit, &calls, severity,
                       &processes) != 7)
                continue;
            compared++;
            std::string row =
                Plain(Said(&browser, "document.querySelector('#finding-" + std::to_string(number) + "').innerText"));
            for (const std::string &part : {std::string(rule), std::string(severity), std::string(cost) + " " + unit})
                EXPECT_TRUE(Has(row, part)) << line << "\n" << row;
        }
        EXPECT_LE(2u, compared) << screen.text;
        TextOf full;
        many_text(&opened.traces, &opened.folds, opened.namer, &full);
        size_t at = full.text.find("/deep/libasks.so: opened by name with RTLD_DEEPBIND, may look the driver up");
        EXPECT_EQ(names.back() == "past", at != std::string::npos) << full.text;
        if (at != std::string::npos) {
            size_t from = full.text.rfind('\n', at) + 1; /* "  process 1: ..." */
            EXPECT_TRUE(Has(shown, Plain(full.text.substr(from, full.text.find('\n', from) - from)))) << shown;
        }
        EXPECT_EQ("", Errors(browser));
        unlink(named.c_str());
    }
}

} // namespace
} // namespace ptds

// SPDX-License-Identifier: Apache-2.0
//
// How fast the HTML page of a long trace opens and draws: page [OPERATIONS 1000000] [REDRAWS 20]. Run by scripts/bench
// page. The trace is made_up_program.c's; the second column is the same with a made-up time on the GPU for each operation.
// Exit status 3 without a browser.
//
//   first    from navigation to the first timeline on the screen, as the page's own clock has it
//   heap     of JavaScript, arrays included, after that and a collection of garbage
//   draw     what one redraw of the timeline takes, the median and the slowest of steps to the right at that zoom
//   frame    from the key press to the frame after it, which is also what painting takes, and up to a frame's 17 ms of
//   waiting
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/sink.h"
#include "analysis/report/edges/edge_feed.h"
#include "analysis/views/html/report_html.h"
#include "tests/support/browser.h"
#include "tests/support/run_child.h"

extern "C" {
#include "tests/bench/made_up.h"
}

namespace
{

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point began)
{
    return std::chrono::duration<double>(Clock::now() - began).count();
}

double Number(const std::string &json)
{
    return strtod(json.c_str() + (json[0] == '"'), nullptr);
}

/* As if all work had been measured: begun some 20 us after its call, done before the next of its thread was begun. */
void MeasureAll(timeline *timeline)
{
    uint64_t chance = 88172645463325252u;
    for (uint32_t i = 0; i < timeline->best_count; i++)
        for (uint32_t j = 0; j < timeline->best[i]->count; j++) {
            timeline_op &op = timeline->best[i]->ops[j];
            if (op.flags & TIMELINE_WORK) {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                op.ran_after_ns = 20000 + chance % 1000;
                op.ran_ns = 500 + chance / 1000 % 1500;
            }
        }
}

bool WritePage(const std::string &path, uint64_t operations, bool measured)
{
    trace_source source = made_up_begin(&program_workload, operations);
    std::unique_ptr<report> built(new report);
    char error[TRACE_ERROR_SIZE];
    timeline timeline;
    edge_list edges;
    edge_list_begin(&edges);
    timeline_begin(&timeline, TIMELINE_MOST);
    bool sound = report_build_watched(built.get(), &source, nullptr, &timeline.watch, error) == 0;
    timeline_decide(&timeline);
    if (measured)
        MeasureAll(&timeline);
    edge_feed *feed = edge_feed_of_build();
    sound = sound && feed->run(feed, built.get(), &edges.sink) == 0;
    text_sink sink = {};
    FILE *file = fopen(path.c_str(), "w");
    sink.data = file;
    sink.write = [](text_sink *to, const char *text, size_t size) { fwrite(text, 1, size, static_cast<FILE *>(to->data)); };
    sound = sound && file != nullptr && report_html(built.get(), &timeline, &edges, nullptr, &sink) == 0;
    sound = file != nullptr && fclose(file) == 0 && sound;
    report_end(built.get());
    timeline_end(&timeline);
    edge_list_end(&edges);
    return sound;
}

/* A process can make up one trace only, so another one makes the page. */
bool MakePage(const std::string &path, uint64_t operations, bool measured)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(WritePage(path, operations, measured) ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

struct Column {
    double mb = 0, made = 0, first = 0, heap = 0;
    struct Zoom {
        double draw, slowest, frame;
    };
    std::vector<Zoom> zooms;
};

/* Of one key press: what drawing took, and how long until the frame after. */
const char press[] = "new Promise((done) => { const c = document.getElementById('canvas'), t = performance.now(); "
                     "c.dispatchEvent(new KeyboardEvent('keydown', {key: '%s', bubbles: true})); "
                     "requestAnimationFrame(() => "
                     "requestAnimationFrame(() => done(+c.dataset.drawMs * 1e4 + Math.round(performance.now() - t)))); })";

std::pair<double, double> Press(ptds::Browser *browser, const char *key)
{
    char script[600];
    snprintf(script, sizeof script, press, key);
    double both = Number(browser->Run(script)), draw = static_cast<double>(static_cast<long>(both / 1e3)) / 10;
    return {draw, both - draw * 1e4};
}

enum { ZOOMS = 7, KEYS_A_ZOOM = 5 /* 0.6 to the power of it: some 13 times closer */ };
enum { FEWEST_ZOOMS = 3 /* later ones may end at the closest there is */ };

Column::Zoom Pan(ptds::Browser *browser, int redraws)
{
    std::vector<double> draws, frames;
    for (int i = 0; i < redraws; i++) {
        auto one = Press(browser, i % 8 < 4 ? "ArrowRight" : "ArrowLeft");
        draws.push_back(one.first);
        frames.push_back(one.second);
    }
    std::sort(draws.begin(), draws.end());
    std::sort(frames.begin(), frames.end());
    return {draws[draws.size() / 2], draws.back(), frames[frames.size() / 2]};
}

/* Of the run, what is in view. */
double InView(ptds::Browser *browser)
{
    return Number(browser->Run("(({ from, to }) => to - from)(document.getElementById('canvas').dataset)"));
}

/* Closer by KEYS_A_ZOOM keys; false: the keys did nothing, so there would be no redraw to measure. */
bool ZoomIn(ptds::Browser *browser)
{
    double before = InView(browser);
    for (int i = 0; i < KEYS_A_ZOOM; i++)
        Press(browser, "+");
    return InView(browser) < before / 2;
}

bool Measure(ptds::Browser *browser, const std::string &path, uint64_t operations, bool measured, int redraws, Column *out)
{
    auto began = Clock::now();
    if (!MakePage(path, operations, measured))
        return false;
    out->made = Since(began);
    struct stat file;
    if (stat(path.c_str(), &file) != 0 || browser->Open(path) == "failed")
        return false;
    out->mb = static_cast<double>(file.st_size) / 1e6;
    browser->Run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    out->first = Number(browser->Run("document.getElementById('canvas').dataset.firstMs"));
    out->heap = browser->HeapBytes() / 1e6;
    for (int zoom = 0; zoom < ZOOMS; zoom++) {
        if (zoom != 0 && !ZoomIn(browser) && zoom < FEWEST_ZOOMS)
            return false;
        out->zooms.push_back(Pan(browser, redraws));
    }
    return browser->errors.empty() && out->first > 0;
}

void Print(const char *name, const char *unit, const Column (&columns)[2], double Column::*value)
{
    printf("%-22s %-3s %20.1f %20.1f\n", name, unit, columns[0].*value, columns[1].*value);
}

void PrintAll(const Column (&columns)[2])
{
    Print("page", "MB", columns, &Column::mb);
    Print("made in", "s", columns, &Column::made);
    Print("first", "ms", columns, &Column::first);
    Print("heap", "MB", columns, &Column::heap);
    double part = 1;
    for (size_t zoom = 0; zoom < ZOOMS; zoom++, part /= 0.6 * 0.6 * 0.6 * 0.6 * 0.6) {
        printf("draw, 1/%-14.0f ms ", part);
        for (const Column &column : columns)
            printf("   %5.1f (%5.1f) %3.0f", column.zooms[zoom].draw, column.zooms[zoom].slowest, column.zooms[zoom].frame);
        printf("\n");
    }
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t operations = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000000;
    int redraws = argc > 2 ? atoi(argv[2]) : 20;
    if (operations < 1000 || redraws < 1) {
        fprintf(stderr, "page [OPERATIONS, at least 1000] [REDRAWS]\n");
        return 2;
    }
    if (ptds::Browser::Find().empty()) {
        fprintf(stderr, "page: no browser here: install Debian's chromium\n");
        return 3;
    }
    ptds::Folder folder;
    Column columns[2];
    bool sound = true;
    std::string path = folder / "page.html", version;
    for (int i = 0; i < 2 && sound; i++) {
        ptds::Browser browser(1280, 900);
        version = browser.Version();
        sound = browser.alive && Measure(&browser, path, operations, i == 1, redraws, &columns[i]);
    }
    if (!sound) {
        fprintf(stderr, "page: the page could not be made or measured\n");
        return 1;
    }
    printf("%llu operations, %s; draw: median (slowest) frame\n", static_cast<unsigned long long>(operations),
           version.c_str());
    printf("%-26s %20s %20s\n", "", "host times only", "GPU times too");
    PrintAll(columns);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * The program with known call sites, places.cc, and names of code as the command has them. For symbols_test.cc and
 * perf_map_test.cc.
 */
#ifndef PTDS_TESTS_ANALYSIS_NAMED_H
#define PTDS_TESTS_ANALYSIS_NAMED_H

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "analysis/symbols/symbolizer.h"
#include "analysis/trace/frames.h"
#include "tests/analysis/support.h"
#include "tests/support/run_child.h"

namespace ptds
{

inline std::string FromHex(const std::string &hex)
{
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

/* The program's one call site, as a trace would have it. */
struct Site {
    Site() : path(data_file("tests/analysis/places"))
    {
        Outcome ran = run({{path}});
        std::istringstream words(ran.out);
        std::string hex;
        words >> std::hex >> offset >> hex >> assembled;
        build_id = FromHex(hex);
        EXPECT_EQ(20u, build_id.size()) << ran;
    }
    std::string path, build_id;
    uint64_t offset = 0, assembled = 0;
};

const uint64_t base = 0x555500000000;

class Named
{
public:
    Named(const std::string &path, const std::string &build_id, uint64_t pc) : pc_(pc)
    {
        TraceBuilder builder;
        builder.Object(1, path, base, base + 0x100000, build_id);
        builder.Stack(1, {pc});
        Build(builder);
    }
    explicit Named(TraceBuilder builder, uint64_t pc) : pc_(pc)
    {
        Build(builder);
    }
    ~Named()
    {
        symbolizer_end(namer);
    }
    Named(const Named &) = delete;

    std::string Text()
    {
        char text[400];
        report_words_frame(built_->get(), namer, pc_, text, sizeof text);
        return text;
    }
    std::vector<site_place> Places()
    {
        std::vector<site_place> places(8);
        for (site_place &place : places) { /* nothing of it is to be seen */
            strcpy(place.function, "as it was");
            strcpy(place.file, "as it was");
            place.line = -1;
        }
        const object_def *object = frames_object_at(&built_->get()->trace.defs, pc_);
        places.resize(namer->places(namer, object, pc_, places.data(), places.size()));
        return places;
    }
    const char *Trouble()
    {
        return Trouble(pc_);
    }
    const char *Trouble(uint64_t pc)
    {
        return namer->trouble(namer, frames_object_at(&built_->get()->trace.defs, pc));
    }

    site_namer *namer = nullptr;

private:
    void Build(const TraceBuilder &builder)
    {
        built_ = std::make_unique<Built>(builder.Bytes());
        namer = symbolizer_begin();
        symbolizer_of(namer, &built_->get()->trace);
    }
    uint64_t pc_;
    std::unique_ptr<Built> built_;
};

} // namespace ptds

#endif

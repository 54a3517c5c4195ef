/* SPDX-License-Identifier: Apache-2.0
 *
 * The table against CUDA's headers: fails when cuda.h, the stub made from it, or a driver that is installed here knows a
 * per-thread twin that the table does not. And the library against its promises: what it exports, and what it needs.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* GCC's own regex header, with a sanitizer */
#endif
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/interpose/shim_test.h"

extern "C" {
#include "interpose/api/api.h"
#include "interpose/base/first_glibc.h"
}

namespace ptds
{
namespace
{

using Names = std::set<std::string>;

Names table(bool twins_only)
{
    Names names;
    for (const api_row &row : api_rows) {
        if (row.twin_symbol)
            names.insert(row.twin_symbol);
        if (!twins_only)
            names.insert(row.symbol);
    }
    return names;
}

void expect_in_table(const Names &twins, const std::string &where)
{
    Names known = table(true);
    for (const std::string &twin : twins)
        EXPECT_TRUE(known.count(twin)) << twin << " of " << where << " has no row in interpose/api/api.def";
}

Names twins_in_header(const std::string &path)
{
    Names twins;
    std::string text = read_file(path);
    std::regex declared("\\bcu[A-Z]\\w*_pt[sd][sz]\\b"), renamed("__CUDA_API_PT(DS|SZ)\\((cu\\w+)\\)");
    for (std::sregex_iterator at(text.begin(), text.end(), declared), end; at != end; ++at)
        twins.insert(at->str());
    for (std::sregex_iterator at(text.begin(), text.end(), renamed), end; at != end; ++at)
        twins.insert((*at)[2].str() + ((*at)[1] == "DS" ? "_ptds" : "_ptsz"));
    twins.erase("cuGetProcAddress_v2_ptsz"); /* an inline function of the header's, which sets a flag */
    return twins;
}

TEST(Table, KnowsEveryTwinOfTheHeaders)
{
    Names all = twins_in_header(data_file("external/cuda/include/cuda.h"));
    EXPECT_GE(all.size(), 85u);
    for (const char *header : {"cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaTypedefs.h"})
        all.merge(twins_in_header(data_file(std::string("external/cuda/include/") + header)));
    expect_in_table(all, "the toolkit's headers");
}

/* One dynamic symbol, as readelf shows it. */
struct Symbol {
    std::string name, version, section, binding;
    bool defined() const
    {
        return section != "UND";
    }
};

std::vector<Symbol> dynamic_symbols(const std::string &path)
{
    std::vector<Symbol> symbols;
    Outcome outcome = run({{"/usr/bin/readelf", "-W", "--dyn-syms", path}});
    EXPECT_EQ(outcome.exit, 0) << outcome;
    for (const std::string &line : lines_of(outcome.out)) {
        std::istringstream words(line);
        std::string number, value, size, type, visibility, name;
        Symbol symbol;
        words >> number >> value >> size >> type >> symbol.binding >> visibility >> symbol.section >> name;
        if (number.empty() || !isdigit(number[0]) || name.empty())
            continue;
        size_t at = name.find('@');
        symbol.name = name.substr(0, at);
        symbol.version = at == std::string::npos ? "" : name.substr(name.find_last_of('@') + 1);
        symbols.push_back(symbol);
    }
    return symbols;
}

Names twins_in_library(const std::string &path)
{
    Names twins;
    for (const Symbol &symbol : dynamic_symbols(path)) {
        std::string ending = symbol.name.size() > 5 ? symbol.name.substr(symbol.name.size() - 5) : "";
        if (symbol.defined() && (ending == "_ptsz" || ending == "_ptds"))
            twins.insert(symbol.name);
    }
    return twins;
}

TEST(Table, KnowsEveryTwinOfTheStub)
{
    Names twins = twins_in_library(data_file("external/cuda/lib/stubs/libcuda.so"));
    EXPECT_GE(twins.size(), 97u);
    expect_in_table(twins, "the driver stub");
}

TEST(Table, KnowsEveryTwinOfAnInstalledDriver)
{
    for (const char *folder :
         {"/usr/lib/x86_64-linux-gnu/", "/usr/lib64/", "/usr/lib/wsl/lib/", "/usr/lib/aarch64-linux-gnu/"}) {
        std::string path = std::string(folder) + "libcuda.so.1";
        if (std::ifstream(path))
            expect_in_table(twins_in_library(path), path);
    }
}

/* Every row names something that exists: an entry of the stub, or one that only the driver has, or a newer one. */
TEST(Table, NamesWhatTheDriverExports)
{
    Names exported, newer;
    for (const api_row &row : api_rows)
        if (row.since > 13000) /* of the oldest toolkit that the shim is built with */
            for (const char *name : {row.symbol, row.twin_symbol})
                newer.insert(name ? name : "");
    for (const Symbol &symbol : dynamic_symbols(data_file("external/cuda/lib/stubs/libcuda.so")))
        exported.insert(symbol.name);
    for (const std::string &name : table(false)) {
        bool graphics =
            name.rfind("cuGL", 0) == 0 || name.rfind("cuEGL", 0) == 0 || name == "cuGraphicsResourceGetMappedEglFrame";
        EXPECT_TRUE(graphics || newer.count(name) || exported.count(name)) << name;
    }
}

/* --- the library --- */

TEST(Library, ExportsTheTableAndLittleElse)
{
    Names expected = table(false), seen;
    for (const char *name :
         {"dlopen", "dlsym", "dlvsym", "ptds_api_use_stream", "ptds_api_use_stream_in_thread", "ptds_api_region_push",
          "ptds_api_region_pop", "ptds_api_flush", "ptds_audited", "ptds_audit_answer", "InitializeInjectionNvtx2"})
        expected.insert(name);
    const Names linkers = {"__bss_start", "_edata", "_end"};
    for (const Symbol &symbol : dynamic_symbols(shim())) {
        if (symbol.defined() && symbol.section != "ABS" && symbol.binding != "LOCAL" && !linkers.count(symbol.name))
            seen.insert(symbol.name);
    }
    for (const std::string &name : expected)
        EXPECT_TRUE(seen.count(name)) << name << " is not exported";
    for (const std::string &name : seen)
        EXPECT_TRUE(expected.count(name)) << name << " is exported";
}

TEST(Library, HasBothVersionsOfTheLookups)
{
    Names versions;
    for (const Symbol &symbol : dynamic_symbols(shim())) {
        if (symbol.defined() && (symbol.name == "dlsym" || symbol.name == "dlvsym" || symbol.name == "dlopen"))
            versions.insert(symbol.name + " " + symbol.version);
    }
    EXPECT_EQ(versions, (Names{"dlsym " FIRST_GLIBC, "dlsym GLIBC_2.34", "dlvsym " FIRST_GLIBC, "dlvsym GLIBC_2.34",
                               "dlopen " FIRST_GLIBC, "dlopen GLIBC_2.34"}));
}

TEST(Library, NeedsNoGlibcNewerThan2_17)
{
    for (const Symbol &symbol : dynamic_symbols(shim())) {
        if (symbol.defined() || symbol.version.rfind("GLIBC_", 0) != 0)
            continue;
        int major = 0, minor = 0;
        ASSERT_GE(sscanf(symbol.version.c_str(), "GLIBC_%d.%d", &major, &minor), 2) << symbol.version;
        EXPECT_TRUE(major == 2 && minor <= 17) << symbol.name << "@" << symbol.version;
    }
}

TEST(Library, NeedsOnlyLibcsOwnLibraries)
{
    Outcome outcome = run({{"/usr/bin/readelf", "-W", "-d", shim()}});
    std::regex needed("\\(NEEDED\\).*\\[(.*)\\]"),
        own("(libc|libdl|libpthread|libm|librt|ld-linux[-a-z0-9_]*)\\.so\\.[0-9]+");
    int libraries = 0;
    for (std::sregex_iterator at(outcome.out.begin(), outcome.out.end(), needed), end; at != end; ++at) {
        if ((*at)[1].str().find("san.so") != std::string::npos)
            GTEST_SKIP() << "built with a sanitizer";
        EXPECT_TRUE(std::regex_match((*at)[1].str(), own)) << (*at)[1];
        libraries++;
    }
    EXPECT_GE(libraries, 1) << outcome;
    EXPECT_EQ(outcome.out.find("TEXTREL"), std::string::npos);
}

} // namespace
} // namespace ptds

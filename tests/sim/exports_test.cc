// SPDX-License-Identifier: Apache-2.0
//
// Every row of the table is exported, base and twin, and cuGetProcAddress reaches all of them by the measured rules.
#include <set>
#include <string>
#include <vector>

#include "interpose/api/cuda_abi.h"
#include "tests/sim/child.h"

namespace
{

struct Row {
    const char *symbol;
    int since;
    bool twin;
};

const std::vector<Row> &Rows()
{
    static const std::vector<Row> rows = {
#define API_PTSZ(symbol, since, twin_since, route, klass, timing, told, params, args, before, after) \
    {#symbol, since, false}, {#symbol "_ptsz", twin_since, true},
#define API_PTDS(symbol, since, twin_since, form, klass, timing, told, params, args, before, after) \
    {#symbol, since, false}, {#symbol "_ptds", twin_since, true},
#define API(symbol, since, route, klass, timing, told, params, args, before, after) {#symbol, since, false},
#include "interpose/api/api.def"
    };
    return rows;
}

std::string Base(std::string symbol, bool twin)
{
    if (twin)
        symbol.resize(symbol.size() - 5);
    size_t n = symbol.size();
    if (n > 3 && symbol[n - 3] == '_' && symbol[n - 2] == 'v')
        symbol.resize(n - 3);
    return symbol;
}

using GetProcAddress = CUresult(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

TEST(Exports, EveryRowAndTwin)
{
    InChild({{"SIM_DRIVER_VERSION", "13050"}}, [](Library library) -> std::string {
        for (const Row &row : Rows())
            if (!dlsym(library, row.symbol))
                return row.symbol;
        return "";
    });
}

TEST(Exports, EveryAddressIsReachedByItsBareName)
{
    InChild({{"SIM_DRIVER_VERSION", "13050"}}, [](Library library) -> std::string {
        auto *get = Symbol<GetProcAddress>(library, "cuGetProcAddress_v2");
        for (const Row &row : Rows()) {
            void *found = nullptr;
            get(Base(row.symbol, row.twin).c_str(), &found, row.since, row.twin ? 2 : 1, nullptr);
            if (found != dlsym(library, row.symbol))
                return row.symbol;
        }
        return "";
    });
}

// Bare names that a driver of that version gives two addresses for. The GL twins aside, which the measurement's list of
// names did not have.
void DifferentAnswers(const char *driver, int version, size_t expected)
{
    InChild({{"SIM_DRIVER_VERSION", driver}}, [=](Library library) -> std::string {
        auto *get = Symbol<GetProcAddress>(library, "cuGetProcAddress_v2");
        auto *symbols = Symbol<int(const char **, int)>(library, "sim_symbols");
        std::vector<const char *> all(2000);
        all.resize(static_cast<size_t>(symbols(all.data(), 2000)));
        std::set<std::string> differ;
        for (const char *symbol : all) {
            std::string s = symbol;
            bool twin =
                s.size() > 5 && (s.compare(s.size() - 5, 5, "_ptsz") == 0 || s.compare(s.size() - 5, 5, "_ptds") == 0);
            std::string name = Base(s, twin);
            void *legacy = nullptr, *per_thread = nullptr;
            get(name.c_str(), &legacy, version, 1, nullptr);
            get(name.c_str(), &per_thread, version, 2, nullptr);
            if (legacy != per_thread && name.compare(0, 4, "cuGL") != 0)
                differ.insert(name);
        }
        return differ.size() == expected ? "" : std::to_string(differ.size());
    });
}

TEST(Exports, AnswersDifferForExactly84Names)
{
    DifferentAnswers("13000", 13000, 84);
}

/* cuLaunchHostFunc has two versions now, the other seven are new names. */
TEST(Exports, AndForSevenMoreNamesOfThe13_5Driver)
{
    DifferentAnswers("13050", 13050, 91);
}

TEST(Exports, VersionsAndFlags)
{
    InChild({}, [](Library library) -> std::string {
        auto *get = Symbol<GetProcAddress>(library, "cuGetProcAddress_v2");
        CUdriverProcAddressQueryResult status;
        void *found = nullptr;
        REQUIRE(get("cuMemcpyHtoD", &found, 3020, 2, &status) == CUDA_SUCCESS && !found);
        REQUIRE(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
        REQUIRE(get("cuMemcpyHtoD_v2", &found, 12000, 0, &status) == CUDA_SUCCESS && !found);
        REQUIRE(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
        REQUIRE(get("cuMemcpyHtoD", &found, 7000, 3, nullptr) == CUDA_SUCCESS);
        REQUIRE(found == dlsym(library, "cuMemcpyHtoD_v2_ptds"));
        REQUIRE(get("cuLaunchKernel", &found, 12000, 7, nullptr) == CUDA_ERROR_INVALID_VALUE);
        REQUIRE(get("", &found, 0, 0, &status) == CUDA_SUCCESS && !found);
        REQUIRE(get("cuGetProcAddress", &found, 12000, 0, nullptr) == CUDA_SUCCESS && found == (void *)get);
        REQUIRE(get("cuLaunchKernel", &found, 99999, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
        return "";
    });
}

TEST(Exports, AnOlderDriverLacksWhatCameLater)
{
    InChild({{"SIM_DRIVER_VERSION", "11040"}}, [](Library library) -> std::string {
        auto *get = Symbol<CUresult(const char *, void **, int, cuuint64_t)>(library, "cuGetProcAddress");
        void *found = nullptr;
        int version = 0;
        REQUIRE(Symbol<CUresult(int *)>(library, "cuDriverGetVersion")(&version) == CUDA_SUCCESS && version == 11040);
        for (const Row &row : Rows())
            if ((dlsym(library, row.symbol) != nullptr) != (row.since <= 11040))
                return row.symbol;
        REQUIRE(get("cuStreamGetId", &found, 12000, 0) == CUDA_ERROR_NOT_FOUND);
        REQUIRE(get("cuLaunchKernel", &found, 99999, 2) == CUDA_SUCCESS);
        REQUIRE(found == dlsym(library, "cuLaunchKernel_ptsz"));
        REQUIRE(get("cuStreamGetCaptureInfo", &found, 12030, 0) == CUDA_SUCCESS);
        REQUIRE(found == dlsym(library, "cuStreamGetCaptureInfo_v2"));
        return "";
    });
}

} // namespace

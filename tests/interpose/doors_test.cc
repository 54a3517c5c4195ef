/* SPDX-License-Identifier: Apache-2.0
 *
 * The door matrix: each function with a per-thread twin, the twin, and each other function that uses a stream, through each
 * door with each kind of stream, under each policy: what the driver sees, and what the doors hand out. What is expected is
 * worked out here from the design, not from the shim.
 */
#include <sstream>

#include "interpose/trace/format.h"
#include "tests/interpose/handed.h"
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

/* The functions whose stream is implicit: the form that the guard gives them, and whether the original returns only
 * when its work is done, with device memory where the name does not say (measured). */
struct Implicit {
    const char *symbol, *async;
    bool blocks;
};
const Implicit implicit_rows[] = {
    {"cuGLMapBufferObject_v2", "cuGLMapBufferObjectAsync_v2", true},
    {"cuMemcpy", "cuMemcpyAsync", false},
    {"cuMemcpy2DUnaligned_v2", "cuMemcpy2DAsync_v2", false},
    {"cuMemcpy2D_v2", "cuMemcpy2DAsync_v2", false},
    {"cuMemcpy3DPeer", "cuMemcpy3DPeerAsync", false},
    {"cuMemcpy3D_v2", "cuMemcpy3DAsync_v2", false},
    {"cuMemcpyAtoA_v2", "cuMemcpy3DAsync_v2", false},
    {"cuMemcpyAtoD_v2", "cuMemcpy3DAsync_v2", false},
    {"cuMemcpyAtoH_v2", "cuMemcpyAtoHAsync_v2", true},
    {"cuMemcpyDtoA_v2", "cuMemcpy3DAsync_v2", false},
    {"cuMemcpyDtoD_v2", "cuMemcpyDtoDAsync_v2", false},
    {"cuMemcpyDtoH_v2", "cuMemcpyDtoHAsync_v2", true},
    {"cuMemcpyHtoA_v2", "cuMemcpyHtoAAsync_v2", true},
    {"cuMemcpyHtoD_v2", "cuMemcpyHtoDAsync_v2", true},
    {"cuMemcpyPeer", "cuMemcpyPeerAsync", false},
    {"cuMemsetD16_v2", "cuMemsetD16Async", false},
    {"cuMemsetD2D16_v2", "cuMemsetD2D16Async", false},
    {"cuMemsetD2D32_v2", "cuMemsetD2D32Async", false},
    {"cuMemsetD2D8_v2", "cuMemsetD2D8Async", false},
    {"cuMemsetD32_v2", "cuMemsetD32Async", false},
    {"cuMemsetD8_v2", "cuMemsetD8Async", false},
};

const Implicit *implicit(const std::string &symbol)
{
    for (const Implicit &row : implicit_rows) {
        if (symbol == row.symbol)
            return &row;
    }
    return nullptr;
}

std::string streams(const api_row &row, const std::string &stream)
{
    if (row.route == ROUTE_IMPLICIT || row.route == ROUTE_LEGACY)
        return "";
    return "(" + stream + (row.route == ROUTE_STREAM2 ? "," + stream : "") +
           (strstr(row.symbol, "cuEventRecord") ? ";e" : "") + (strstr(row.symbol, "WaitEvent") ? ";e" : "") + ")";
}

bool copies_to_host(const std::string &symbol)
{
    bool to_host = symbol.rfind("cuMemcpyDtoH", 0) == 0 || symbol.rfind("cuMemcpyAtoH", 0) == 0;
    return to_host && symbol.find("_v2") != std::string::npos;
}

/* A copy to pageable memory waits inside the driver (measured); the guard lets the host wait before it. */
std::string settled(const Config &setup, const std::string &symbol, const std::string &target)
{
    return setup.guards() && copies_to_host(symbol) ? "cuStreamSynchronize(" + (target == "0" ? "legacy" : target) + ") "
                                                    : "";
}

/* A blocking form that stays as it is blocks in nobody's turn: the host waits first, once. */
std::string waits_before(const Config &setup, const api_row &row, const std::string &target)
{
    return setup.guards() && (copies_to_host(row.symbol) || implicit(row.symbol)->blocks)
               ? "cuStreamSynchronize(" + target + ") "
               : "";
}

/* The driver's view of an implicit call at the base entry. */
std::string implicit_call(const Config &setup, const api_row &row)
{
    const Implicit &is = *implicit(row.symbol);
    if (setup.guards() && !setup.remaps())
        return waits_before(setup, row, "legacy") + row.symbol;
    if (!setup.remaps())
        return row.symbol;
    if (setup.guards())
        return settled(setup, row.symbol, "L1") + is.async + "(L1)" + (is.blocks ? " cuStreamSynchronize(L1)" : "");
    return row.twin_symbol;
}

/* What asks or changes a stream: it gets the one that the program named. */
bool is_about_the_stream(const api_row &row)
{
    std::string symbol = row.symbol;
    bool is_work = symbol == "cuStreamWaitEvent" || symbol == "cuStreamSynchronize" || symbol == "cuStreamAttachMemAsync";
    return symbol == "cuGraphInstantiateWithParams" ||
           (!is_work && (row.class_ == PTDS_CLASS_STREAM || row.class_ == PTDS_CLASS_CAPTURE));
}

/* What is set on the default stream reaches the streams that stand for it. */
std::string set_on_lanes(const Config &setup, const std::string &symbol, const std::string &stream)
{
    if (symbol != "cuStreamSetAttribute" && symbol != "cuStreamCopyAttributes")
        return "";
    return setup.guards() ? " " + symbol + "(L1" + (symbol == "cuStreamCopyAttributes" ? "," + stream : "") + ")" : "";
}

std::string expected_call(const Config &setup, const api_row &row, bool twin, std::string stream)
{
    std::string symbol = twin ? row.twin_symbol : row.symbol;
    if (row.route == ROUTE_IMPLICIT)
        return twin ? waits_before(setup, row, "ptds") + symbol : implicit_call(setup, row);
    if (row.route == ROUTE_LEGACY && setup.guards())
        return "cuStreamSynchronize(legacy) " + symbol;
    bool is_explicit = stream == "legacy", legacy = is_explicit || (stream == "0" && !twin);
    if (legacy && setup.remaps() && row.route != ROUTE_LEGACY && !refuses_legacy(row) &&
        (!is_explicit || setup.remap_explicit) && !(setup.guards() && is_about_the_stream(row)))
        stream = setup.guards() ? "L1" : "ptds";
    std::string target = twin && stream == "0" ? "ptds" : stream;
    return settled(setup, symbol, target) + symbol + streams(row, stream) +
           (legacy ? set_on_lanes(setup, row.symbol, stream) : "");
}

/* In place of base(0x2) there may be twin(0): the same to the driver. */
std::string as_handed(const Config &setup, const api_row &row, bool twin, const std::string &stream)
{
    if (!setup.hands_out_twins() || !row.twin || row.route == ROUTE_IMPLICIT || refuses_legacy(row) ||
        (!twin && row.route == ROUTE_KEEP_IF))
        return expected_call(setup, row, twin, stream);
    return row.twin_symbol + streams(row, stream);
}

/* Results of captures as the fake driver gives them: only created streams and 0x2 can begin one, none is open otherwise. */
std::string result(const Config &setup, const api_row &row, bool twin, const std::string &stream)
{
    std::string symbol = row.symbol;
    if (!setup.force_result.empty() && row.twin)
        return " =" + setup.force_result;
    if ((symbol.rfind("cuStreamBeginCapture", 0) == 0 || symbol.rfind("cuStreamBeginRecapture", 0) == 0) &&
        (stream == "legacy" || (stream == "0" && !twin)))
        return " =900";
    return symbol == "cuStreamEndCapture" ? " =401" : "";
}

/* The guard's events are guarded_test's business. */
std::string without_edges(const std::string &entries)
{
    std::istringstream words(entries);
    std::string kept;
    for (std::string word; words >> word;) {
        bool edge = (word.rfind("cuEventRecord", 0) == 0 || word.rfind("cuStreamWaitEvent", 0) == 0) &&
                    word.find(";E") != std::string::npos;
        edge = edge || word == "cuEventCreate";
        if (!edge)
            kept += (kept.empty() ? "" : " ") + word;
    }
    return kept;
}

std::vector<std::string> expected_lines(const Config &setup)
{
    static const char *const doors[] = {"elf", "dlsym", "dlvsym", "gpa1", "gpa2"};
    static const char *const handles[] = {"0", "legacy", "ptds", "blocking", "nonblocking"};
    std::vector<std::string> lines;
    for (const api_row &row : api_rows) {
        for (const char *door : doors) {
            for (int twin = 0; row.route != ROUTE_NO_STREAM && twin <= (row.twin != API_TWIN_NONE); twin++) {
                std::string symbol = twin ? row.twin_symbol : row.symbol, name = std::string(door) + " " + symbol + " ";
                std::string what = strcmp(door, "elf") == 0 ? std::string("wrapper-") + (twin ? "twin" : "base")
                                                            : handed(setup, row, twin);
                lines.push_back("addr " + name + what);
                for (const char *stream : handles)
                    lines.push_back("call " + name + stream + " : " + as_handed(setup, row, twin, stream) +
                                    result(setup, row, twin, stream));
            }
        }
    }
    return lines;
}

class Doors : public testing::TestWithParam<Config>
{
};

TEST_P(Doors, EveryFunctionThroughEveryDoor)
{
    const Config &setup = GetParam();
    Folder folder;
    Settings settings = {{"PTDS_POLICY", setup.policy}};
    if (setup.recording)
        settings["PTDS_TRACE"] = folder / "trace";
    if (setup.remap_explicit)
        settings["PTDS_EXPLICIT_LEGACY"] = "remap";
    if (setup.excluded)
        settings["PTDS_EXCLUDE"] = "libelse.so,doors_*";
    if (setup.disabled)
        settings["PTDS_DISABLE"] = "1";
    if (!setup.force_errno.empty())
        settings["FAKE_ERRNO"] = setup.force_errno;
    if (!setup.force_result.empty())
        settings["FAKE_RESULT"] = setup.force_result;
    Outcome run = ptds::run(shimmed("doors_child", {}, settings));
    ASSERT_EQ(run.exit, 0) << run;
    EXPECT_EQ(run.err, "");
    std::vector<std::string> seen = lines_of(run.out), expected = expected_lines(setup);
    ASSERT_EQ(seen.size(), expected.size());
    int differences = 0;
    for (size_t i = 0; i < seen.size() && differences < 20; i++) {
        size_t colon = seen[i].find(" : ");
        std::string line =
            colon == std::string::npos ? seen[i] : seen[i].substr(0, colon + 3) + without_edges(seen[i].substr(colon + 3));
        EXPECT_EQ(line, expected[i]);
        differences += line != expected[i];
    }
}

const Config setups[] = {
    {"disabled", "guarded", false, false, "", "", true},
    {"none", "none"},
    {"observe", "observe"},
    {"observe_recorded", "observe", true},
    {"per_thread", "per-thread"},
    {"per_thread_recorded", "per-thread", true},
    {"per_thread_remap_explicit", "per-thread", false, true},
    {"per_thread_recorded_remap_explicit", "per-thread", true, true},
    {"guarded", "guarded"},
    {"ordered_recorded", "guarded", true},
    {"ordered_remap_explicit", "guarded", true, true},
    {"stream", "stream"},
    {"stream_recorded", "stream", true},
    {"stream_remap_explicit", "stream", true, true},
    {"per_thread_driver_sets_errno", "per-thread", true, false, "12"},
    {"ordered_driver_sets_errno", "guarded", true, false, "12"},
    {"stream_driver_sets_errno", "stream", true, false, "12"},
    {"per_thread_excluded", "per-thread", false, false, "", "", false, true},
    {"per_thread_recorded_excluded", "per-thread", true, false, "", "", false, true},
    {"ordered_excluded", "guarded", false, false, "", "", false, true},
    {"stream_excluded", "stream", false, false, "", "", false, true},
    {"observe_driver_fails", "observe", true, false, "", "719"},
    {"per_thread_driver_fails", "per-thread", true, false, "", "719"},
};

INSTANTIATE_TEST_SUITE_P(Every, Doors, testing::ValuesIn(setups), [](const auto &of) { return of.param.name; });

TEST(DoorTable, HasTheImplicitFunctions)
{
    int rows = 0, twins = 0;
    for (const api_row &row : api_rows) {
        twins += row.twin != API_TWIN_NONE;
        rows += row.route == ROUTE_IMPLICIT;
        EXPECT_EQ(row.route == ROUTE_IMPLICIT, implicit(row.symbol) != nullptr) << row.symbol;
    }
    EXPECT_EQ(rows, 21);
    EXPECT_EQ(twins, 107);
}

} // namespace
} // namespace ptds

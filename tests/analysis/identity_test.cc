// SPDX-License-Identifier: Apache-2.0
//
// What stays of a finding's identity when the policy, the build or the address is another: no frame of the shim's counts,
// and the function that called CUDA is found by its name.
#include <cstring>
#include <map>

#include "analysis/findings/caller.h"
#include "analysis/findings/identity.h"
#include "tests/analysis/exported.h"

namespace ptds
{
namespace
{

constexpr uint64_t program = 0x400000, shim = 0x7f0000000000, runtime = 0x7e0000000000;

/* A copy that waited 5 ms, called from this stack. */
std::string TraceOf(const std::vector<uint64_t> &stack, const std::string &build_id = "12345678901234567890")
{
    TraceBuilder builder;
    strcpy(builder.header.host, "node1");
    builder.Clock(0, 1000000, 5000000000);
    builder.Clock(1000000000, 1001000000, 6000000000);
    builder.Api(1, "cuMemcpyDtoH_v2");
    builder.Api(2, "cuLaunchKernel");
    builder.Object(1, "/opt/app/prog", program, program + 0x100000, build_id);
    builder.Object(2, "/usr/lib/ptds/libptds.so", shim, shim + 0x100000, "98765432109876543210");
    builder.Object(3, "/usr/lib/libcudart.so.12", runtime, runtime + 0x100000, "55555555555555555555");
    builder.Stack(1, stack);
    builder.Stream(1, PTDS_STREAM_LEGACY);
    CallSpec call;
    call.stream = 1;
    auto launch = [&](uint64_t enter) {
        call = {};
        call.enter = enter;
        call.stream = 1;
        call.api = 2;
        call.op = PTDS_OP_LAUNCH;
        call.flags = PTDS_CALL_LEGACY;
        builder.Call(call);
    };
    launch(1000);
    call.enter = 10000;
    call.leave = 5010000;
    call.api = 1;
    call.op = PTDS_OP_COPY;
    call.kinds = PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4;
    call.words = {0x1000, 0x2000, 4, 1, 0, 0};
    call.flags = PTDS_CALL_LEGACY | PTDS_CALL_IMPLICIT | PTDS_CALL_TIMED;
    call.stack = 1;
    builder.Call(call);
    launch(5020000);
    call.api = 3;
    call.op = PTDS_OP_STREAM_SYNC;
    call.enter = 12000000;
    builder.Call(call);
    return builder.Bytes();
}

/* Names by address. */
struct Names : site_namer {
    explicit Names(const std::map<uint64_t, std::string> &all) : names(all)
    {
        name = [](site_namer *, const object_def *, uint64_t, char *, size_t) { return false; };
        trouble = [](site_namer *, const object_def *) -> const char * { return nullptr; };
        data = this;
        places = [](site_namer *namer, const object_def *, uint64_t pc, site_place *out, size_t) -> size_t {
            const auto &known = static_cast<Names *>(namer->data)->names;
            *out = {};
            if (known.count(pc) == 0)
                return 0;
            strcpy(out->function, known.at(pc).c_str());
            return 1;
        };
    }
    std::map<uint64_t, std::string> names;
};

std::string IdOf(const std::vector<uint64_t> &stack)
{
    Opened opened({TraceOf(stack)});
    EXPECT_EQ(1u, opened.folds.list.count);
    return opened.folds.list.count != 0 ? opened.folds.list.items[0].id.text : "none";
}

std::string PlaceOf(const std::vector<uint64_t> &stack, const std::map<uint64_t, std::string> &names,
                    const std::string &build_id = "12345678901234567890")
{
    Opened opened({TraceOf(stack, build_id)});
    Names namer(names);
    EXPECT_EQ(1u, opened.folds.list.count);
    if (opened.folds.list.count == 0)
        return "no finding";
    return identity_of_place(&opened.traces.list.items[0]->report.trace, &namer, opened.folds.list.items[0].finding).text;
}

TEST(Identity, TheShimsOwnFramesDoNotCount)
{
    std::string bare = IdOf({program + 0x1234, program + 0x2000});
    EXPECT_EQ("7a0454db0d0eec41", bare) << "users keep ids in files: as many_test.cc has it";
    EXPECT_EQ(bare, IdOf({program + 0x1234, shim + 0x500, program + 0x2000})) << "a library that dlopen loaded, say";
    EXPECT_EQ(bare, IdOf({shim + 0x80, program + 0x1234, program + 0x2000, shim + 0x900})) << "the thread began in it";
    EXPECT_NE(bare, IdOf({program + 0x1234, runtime + 0x500, program + 0x2000})) << "other libraries are places";
}

TEST(Identity, NoFlameGraphHasAFrameOfTheShims)
{
    Opened opened({TraceOf({program + 0x1234, shim + 0x500, program + 0x2000, shim + 0x900})});
    std::string folded = TakeFile(opened.Export("folded"));
    EXPECT_EQ("prog (node1 pid 4242);prog 1;prog+0x2000;prog+0x1234;cuMemcpyDtoH_v2", folded.substr(0, folded.rfind(' ')));
}

TEST(Identity, AStackOfNothingButTheShimsFramesIsNone)
{
    Opened opened({TraceOf({shim + 0x80, shim + 0x900})});
    std::string folded = TakeFile(opened.Export("folded"));
    EXPECT_EQ("prog (node1 pid 4242);prog 1;(call site not recorded);cuMemcpyDtoH_v2", folded.substr(0, folded.rfind(' ')));
}

TEST(Identity, APlaceLastsOverBuildsAndStacks)
{
    std::map<uint64_t, std::string> first = {{program + 0x1234, "copy_back"}, {program + 0x2000, "main"}};
    std::map<uint64_t, std::string> second = {{program + 0x5678, "copy_back"}, {program + 0x9000, "other"}};
    std::string place = PlaceOf({program + 0x1234, program + 0x2000}, first);
    EXPECT_EQ(16u, place.size());
    EXPECT_EQ(place, PlaceOf({program + 0x5678, program + 0x9000}, second, "09876543210987654321"));
    EXPECT_EQ(place, PlaceOf({program + 0x1234}, first)) << "a call that did not block has no whole stack";
    second[program + 0x5678] = "copy_back.constprop.0";
    EXPECT_EQ(place, PlaceOf({program + 0x5678, program + 0x9000}, second));
    second[program + 0x5678] = "copy_back [clone .part.3]";
    EXPECT_EQ(place, PlaceOf({program + 0x5678, program + 0x9000}, second));
    second[program + 0x5678] = "copy_there";
    EXPECT_NE(place, PlaceOf({program + 0x5678, program + 0x9000}, second));
}

TEST(Identity, APlaceIsOutsideOfCudasRuntime)
{
    std::map<uint64_t, std::string> names = {{program + 0x1234, "copy_back"},
                                             {program + 0x10, "cudart::driverHelper::copy(void*)"},
                                             {program + 0x20, "libcudart_static_0123456789abcdef"},
                                             {program + 0x30, "cudaMemcpy"},
                                             {program + 0x40, "__cudaRegister"},
                                             {runtime + 0x10, "cudaMemcpy"}};
    std::string place = PlaceOf({program + 0x1234}, names);
    EXPECT_EQ(place, PlaceOf({runtime + 0x10, program + 0x1234}, names)) << "the shared runtime";
    EXPECT_EQ(place, PlaceOf({program + 0x10, program + 0x20, program + 0x30, program + 0x40, program + 0x1234}, names))
        << "the static one";
    EXPECT_EQ("", PlaceOf({runtime + 0x10}, names)) << "who called it is not known";
    EXPECT_EQ("", PlaceOf({program + 0x10}, names)) << "likewise";
    EXPECT_EQ("", PlaceOf({program + 0x99}, names)) << "a function without a name";
    const std::map<std::string, bool> are_cudas = {
        {"loadModel", false}, {"cuda_copy", false}, {"cudart", false},          {"cudart:", false},    {"cuda", false},
        {"cudaZone_", true},  {"cudaArray", true},  {"cuda@", false},           {"cuda@Array", false}, {"cudaA", true},
        {"cuda[", false},     {"_cudaCopy", false}, {"__cud", false},           {"__cuda", true},      {"__cudb", false},
        {"cudart::", true},   {"CudaCopy", false},  {"libcudart_static", false}};
    for (const auto &own : are_cudas) {
        names[program + 0x50] = own.first;
        EXPECT_EQ(own.second, place == PlaceOf({program + 0x50, program + 0x1234}, names)) << own.first;
    }
}

/* Which of these frames a person is shown, counted from 0. */
uint32_t Shown(const std::vector<uint64_t> &stack, const std::map<uint64_t, std::string> &names)
{
    Opened opened({TraceOf(stack)});
    const struct definitions *defs = &opened.traces.list.items[0]->report.trace.defs;
    Names namer(names);
    return caller_frame(defs, &namer, definitions_stack(defs, opened.folds.list.items[0].finding->stack));
}

TEST(Identity, APersonIsShownTheFunctionThatLaunched)
{
    std::map<uint64_t, std::string> names = {{program + 0x10, "libcudart_static_0123456789abcdef"},
                                             {program + 0x20, "cudaLaunchKernel"},
                                             {program + 0x30, "__device_stub__Z4workPj(unsigned int*)"},
                                             {program + 0x40, "void __wrapper__device_stub_work<int>(int*&)"},
                                             {program + 0x1234, "launch"}};
    const uint64_t launch = program + 0x1234, nameless = program + 0x99;
    EXPECT_EQ(4u, Shown({program + 0x10, program + 0x20, program + 0x30, program + 0x40, launch}, names));
    EXPECT_EQ(1u, Shown({runtime + 0x10, launch}, names)) << "the shared runtime";
    EXPECT_EQ(1u, Shown({program + 0x20, nameless, launch}, names)) << "which may be anybody's";
    EXPECT_EQ(0u, Shown({program + 0x10, program + 0x30}, names)) << "nobody else is known";
    EXPECT_EQ(0u, Shown({program + 0x10, launch}, {})) << "without names";
}

} // namespace
} // namespace ptds

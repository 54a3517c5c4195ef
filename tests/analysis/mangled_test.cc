// SPDX-License-Identifier: Apache-2.0
//
// Signatures from mangled names: names that compilers make, and that anything else is left alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include <cxxabi.h>

#include "analysis/order/arguments/mangled_access.h"
#include "tests/analysis/random_name.h"

namespace ptds
{
namespace
{

/* "w" pointer, "r" pointer to const, "p" pointer to pointer, "." other; "?" not understood */
std::string Kinds(const std::string &name)
{
    uint8_t kinds[16];
    int count = mangled_access_parameters(name.c_str(), kinds, 16);
    std::string text;
    for (int i = 0; i < count; i++)
        text += ".wrp"[kinds[i]];
    return count < 0 ? "?" : text;
}

struct Row {
    const char *name, *kinds;
};

class Mangled : public testing::TestWithParam<Row>
{
};

TEST_P(Mangled, SaysWhatTheSignatureSays)
{
    EXPECT_EQ(GetParam().kinds, Kinds(GetParam().name)) << GetParam().name;
}

const Row rows[] = {
    {"_Z4spinPf", "w"},                          /* spin(float *) */
    {"_Z4axpyfPKfPfi", ".rw."},                  /* axpy(float, float const *, float *, int) */
    {"_Z3addPfS_S_i", "www."},                   /* add(float *, float *, float *, int) */
    {"_Z3addPKfS0_Pf", "rrw"},                   /* add(float const *, float const *, float *) */
    {"_ZN2ns6kernelEPKdPd", "rw"},               /* ns::kernel(double const *, double *) */
    {"_Z3mixP6float2PKS_", "wr"},                /* mix(float2 *, float2 const *) */
    {"_Z4byesv", ""},                            /* byes() */
    {"_Z4copyIfEvPKT_PS0_m", "rw."},             /* void copy<float>(float const *, float *, unsigned long) */
    {"_Z4fillIfLi4EEvPT_S0_", "w."},             /* void fill<float, 4>(float *, float) */
    {"_Z3fooIKfEvPT_", "r"},                     /* void foo<float const>(float const *) */
    {"_Z3fooIPfEvT_", "w"},                      /* void foo<float *>(float *) */
    {"_Z5batchPKPKfPPf", "pp"},                  /* batch(float const * const *, float **) */
    {"_ZN12_GLOBAL__N_16kernelE6Paramsi", ".."}, /* (anonymous namespace)::kernel(Params, int) */
    {"_ZL6kernelPi", "w"},                       /* kernel(int *), static */
    {"_Z4halfPDhPKDh", "wr"},                    /* half(_Float16 *, _Float16 const *) */
    {"_ZN2ns1kINS_1SEEEvPKT_PS1_", "rw"},        /* void ns::k<ns::S>(ns::S const *, ns::S *) */
    {"_Z4rowsPA4_f", "w"},                       /* rows(float (*)[4]) */
    /* k(A *, ..., F *, F **, F * const *, F const *, A *, G const *, G *): what is repeated is counted in base 36 */
    {"_Z2k1P1AP1BP1CP1DP1EP1FPSA_PKSA_PKS9_S0_PK1GPSG_", "wwwwwwpprwrw"},
    /* void k<A, B, int>(A const *, B *, int, int const *, A **, B) */
    {"_Z2k2I1A1BiEvPKT_PT0_T1_PKS7_PPS2_S5_", "rw.rp."},
    /* void k<n::H, n::H const, n::H *>(n::H const *, n::H const *, n::H *, n::H * const *, n::H **, n::H) */
    {"_Z2k2IN1n1HEKS1_PS1_EvPKT_PT0_T1_PKS9_PPS4_S7_", "rrwpp."},
    /* k(float volatile *, float const volatile *, float *, float const *, void *, void const *, void const * const *) */
    {"_Z2k6PVfPVKfPfPKfPvPKvPKS8_", "wrwrwrp"},
    {"_ZNK2ns1kEPf", "w"},   /* ns::k(float *) const */
    {"_ZNVK2ns1kEPKf", "r"}, /* ns::k(float const *) const volatile */
    {"_ZNSt6vectorIfE4fillEPfPS0_PKS0_PKS1_",
     "wwrp"},                                 /* ...::fill(float *, std::vector<float> *, ... const *, float * const *) */
    {"_Z1kIfLin3ELf40adcbefELb1EEvPT_", "w"}, /* void k<float, -3, 5.43f, true>(float *) */
    {"_Z1kPDnPDdPDfPDhPDi", "wwwww"},         /* nullptr_t, decimal and half floats, char32_t */
    {"_Z1fB3tagPf", "?"},                     /* a tag of an ABI */
    {"_Z1fPDc", "?"},
    {"_Z1fPD", "?"},
    {"_Z1fPSaIfE", "?"}, /* std::allocator<float> * */
    {"_Z1fPSzIfE", "?"},
    {"_Z1fP1ASZ_", "?"},
    {"_Z1kIfEvPT0_", "?"}, /* there is one argument */
    {"_Z1kIfEvPT:_", "?"},
    {"_Z1kIfEvPTA_", "?"},
    {"_Z1kIfLi4Pf", "?"},
    {"_ZN2nsPf", "?"},
    {"_ZN2ns1k", "?"},
    {"_ZN2nsE_Pf", "?"},
    {"_Z1fPA4f", "?"},
    {"_Z1fP", "?"},
    {"_Z1fPfP", "?"},
    {"_Z1f", "?"},
    {"_Z9foPf", "?"},
    {"_ZPf", "?"},
    {"_Z1fP9foo", "?"},
    {"_Z1fP3fooB3tag", "?"},
    {"_Z1fP1AP1BP1CPS:_", "?"},
    {"_Z1fP1APS:f", "?"},
    {"_Z1kIfdijhEvPT:_", "?"},
    {"_Z1fPKVf", "r"},
    {"_Z1kIKfEvPVT_", "r"}, /* void k<float const>(float const volatile *) */
    {"_Z1fP1APSa_", "?"},
    {"_Z1fP1APS:_", "?"},
    {"_Z1fP1APS1_", "?"}, /* there is S0_, the pointer, and no other */
    {"_Z1fRf", "?"},
    {"_Z1fDpT_", "?"},
    {"_Z1fPFvvE", "?"},
    {"_Z1fS_", "?"},
    {"_Z9kernelPf", "?"},
    {"_Z", "?"},
    {"kernel", "?"},
    {"", "?"},
    {"_Z3fooILi", "?"},
    {"_Z1fS99999999999999999999_", "?"},
};
INSTANTIATE_TEST_SUITE_P(Table, Mangled, testing::ValuesIn(rows));

TEST(MangledText, AnyCutOfANameIsRead)
{
    const std::string name = "_ZN2ns4copyIfLi4EN3foo3BarEEEvPKT_PS3_NS1_3BarEm";
    for (size_t size = 0; size <= name.size(); size++)
        Kinds(name.substr(0, size));
    EXPECT_EQ("?", Kinds("_Z1f" + std::string(1000, 'P') + "f"));
}

TEST(MangledText, AsMuchAsThereIsRoomFor)
{
    EXPECT_EQ(std::string(16, '.'), Kinds("_Z1f" + std::string(16, 'i')));
    EXPECT_EQ("?", Kinds("_Z1f" + std::string(17, 'i')));
    EXPECT_EQ("p", Kinds("_Z1f" + std::string(23, 'P') + "f"));
    EXPECT_EQ("?", Kinds("_Z1f" + std::string(24, 'P') + "f"));
    EXPECT_EQ("w", Kinds("_Z1kI" + std::string(32, 'f') + "EvPT30_"));
    EXPECT_EQ("?", Kinds("_Z1kI" + std::string(33, 'f') + "EvPT30_"));
    EXPECT_EQ("w", Kinds("_Z1kIN1n1mI" + std::string(32, 'f') + "EEEvPT_"));
    EXPECT_EQ("?", Kinds("_Z1kIN1n1mI" + std::string(33, 'f') + "EEEvPT_"));
    std::string name = "_Z1f"; /* sixteen parameters, each with eight types that later ones could refer to */
    for (char c : std::string("fdihjlmx"))
        name += std::string(8, 'P') + c + "PVK" + std::string(5, 'P') + "V" + c;
    EXPECT_EQ(std::string(16, 'p'), Kinds(name));
    EXPECT_EQ("?", Kinds(name.insert(4, "P"))) << "one more";
}

/* Functions of all kinds with what each of their parameters is (random_name.h). */
TEST(MangledText, NamesAsACompilerMakesThem)
{
    size_t longest = 0;
    for (uint32_t seed = 1; seed <= 3000; seed++) {
        RandomName name(seed);
        int status = -1;
        free(abi::__cxa_demangle(name.mangled.c_str(), nullptr, nullptr, &status));
        ASSERT_EQ(0, status) << name.mangled;
        ASSERT_EQ(name.kinds, Kinds(name.mangled)) << name.mangled;
        longest = std::max(longest, name.remembered);
    }
    EXPECT_LT(40u, longest) << "numbers of two digits";
}

} // namespace
} // namespace ptds

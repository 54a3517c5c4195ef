// SPDX-License-Identifier: Apache-2.0
//
// Signatures from mangled names: names that compilers make, and that anything else is left alone.
#include <gtest/gtest.h>

#include "analysis/order/mangled.h"

namespace ptds
{
namespace
{

/* "w" pointer, "r" pointer to const, "p" pointer to pointer, "." other; "?" not understood */
std::string Kinds(const std::string &name)
{
    uint8_t kinds[16];
    int count = mangled_parameters(name.c_str(), kinds, 16);
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
    EXPECT_EQ("?", Kinds("_Z1f" + std::string(17, 'i'))) << "more than there is room for";
}

} // namespace
} // namespace ptds

/* SPDX-License-Identifier: Apache-2.0
 *
 * What mangled names say of kernels' parameters: names that compilers made, answers by hand.
 */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "interpose/footprint/signature.h"
}

namespace
{

/* A letter a parameter: c a class by value, w a pointer, r one to const, W and R the same to what may hold pointers; "?"
 * not known.
 */
std::string letters(const std::string &name)
{
    uint8_t flags[SIGNATURE_MOST];
    int count = signature_of(name.c_str(), flags);
    if (count < 0)
        return "?";
    std::string text;
    for (int i = 0; i < count; i++) {
        bool reads = flags[i] & SIGNATURE_READS, points = flags[i] & SIGNATURE_POINTS;
        if (flags[i] & SIGNATURE_UNKNOWN)
            text += 'c';
        else
            text += reads ? (points ? 'R' : 'r') : points ? 'W' : '.';
    }
    return text;
}

struct Row {
    const char *name, *letters;
};

const Row rows[] = {
    {"_Z5emptyv", ""},
    {"_Z4fillPjjj", "..."},                      /* fill(unsigned *, unsigned, unsigned) */
    {"_Z9vectorAddPKfS0_Pfi", "rr.."},           /* (const float *, const float *, float *, int) */
    {"_Z3f16PK6__halfPS_", "r."},                /* (const __half *, __half *) */
    {"_Z4vec4PK6float4P5uint2", "r."},           /* (const float4 *, uint2 *) */
    {"_Z4voidPKvPv", "r."},                      /* (const void *, void *) */
    {"_Z8restrictPKfPf", "r."},                  /* __restrict__ leaves no mark */
    {"_Z7volatilPVj", "."},                      /* (volatile unsigned *) */
    {"_Z7volatilPVKj", "r"},                     /* (const volatile unsigned *) */
    {"_Z6gatherPjPPKjjj", ".W.."},               /* (unsigned *, const unsigned **, ...) */
    {"_Z6gatherPKPKfS2_PPf", "RRW"},             /* (const float *const *, same, float **) */
    {"_Z4nodeP4NodePKS_", "WR"},                 /* (Node *, const Node *) */
    {"_Z7byvalue6ParamsPf", "c."},               /* (Params, float *) */
    {"_Z7byvalueN2ns6ParamsEPKNS_4ItemE", "cR"}, /* (ns::Params, const ns::Item *) */
    {"_ZN2ns4kernEPKfPf", "r."},                 /* ns::kern(const float *, float *) */
    {"_ZN12_GLOBAL__N_14kernEPKfPf", "r."},      /* in an anonymous namespace */
    {"_ZL4kernPKfPf", "r."},                     /* static */
    {"_ZN46_GLOBAL__N__141bbfcd_17_overlap_cudart_cu_main10SpinAndAddEyPjj", "..."}, /* nvcc 13 */
    {"_Z1kIfEvPT_PKfi", ".r."},                  /* void k<float>(float *, const float *, int) */
    {"_Z1kIKfEvPT_i", "r."},                     /* void k<const float>(const float *, int) */
    {"_Z1kI4NodeEvPT_S1_", "Wc"},                /* void k<Node>(Node *, Node) */
    {"_Z1kIPfEvPT_S1_", "W."},                   /* void k<float *>(float **, float *) */
    {"_Z1kIPKfEvT_", "r"},                       /* void k<const float *>(const float *) */
    {"_Z1kILi256EfEvPT0_PKS0_", ".r"},           /* void k<256, float>(float *, const float *) */
    {"_Z1kILb1E6__halfEvPKT0_PS1_", "r."},       /* void k<true, __half>(const __half *, __half *) */
    {"_ZN3c104kernINS_4HalfEEEvPKT_PS2_", "r."}, /* c10::kern<c10::Half>(const c10::Half *, c10::Half *) */
    {"_ZN3c104kernINS_7complexIfEEEEvPT_", "."}, /* c10::kern<c10::complex<float>>(...) */
    {"_ZN2my4kernINS_4HalfEEEvPT_", "W"},        /* my::Half may be anything */
    {"_Z3fptPFvvEPf", ".."},                     /* (void (*)(), float *) */
    {"_Z5arrayPA10_Kf", "r"},                    /* (const float (*)[10]) */
    {"_Z5arrayPA4_Pf", "W"},                     /* (float *(*)[4]) */
    {"_Z6lambdaIZ4mainEUlPfE_EvT_S0_", "c."},    /* void lambda<main::{lambda}>(lambda, float *) */
    {"_Z7bfloat1PKDF16bPDF16_", "r."},           /* (const __bf16 *, _Float16 *) */
    {"_Z5boxesP3BoxIfEPKS_IiE", "WR"},           /* (Box<float> *, const Box<int> *) */
    {"_Z5allocSaIfEPf", "c."},                   /* (std::allocator<float>, float *) */
    /* not mangled, and not understood */
    {"fill", "?"},
    {"_Z", "?"},
    {"_Z4fil", "?"},
    {"_Z4fillPjjjQ", "?"},
    {"_Z4packIJfiEEvDpT_", "?"},
    {"_Z4declIfEDTcl1fEET_", "?"},
    {"_Z4fillS_", "?"},
    {"_Z4fillT_", "?"},
    {"_Z99999999999999999999f", "?"},
    /* numbers of what came before: to base 36 there, to base 10 of a template's */
    {"_Z1fP1AS_S0_", "WcW"},
    {"_Z1fP1AS0_S_", "WWc"},
    {"_Z1fI1AEvTA_", "?"},
    {"_Z1fI1AEvT:_", "?"},
    {"_Z1fI1AEvT1_", "?"},
    {"_Z1fI1APS_EvT0_T_", "Wc"},
};

TEST(Signature, OfNames)
{
    for (const Row &row : rows)
        EXPECT_EQ(letters(row.name), row.letters) << row.name;
}

/* Numbers of what came before are to base 36, those of a template's arguments to base 10. */
TEST(Signature, OfWhatIsNumbered)
{
    const std::string many = "_Z1f" + std::string(37, 'P') + "i", types = "_Z1fI" + std::string(13, 'i') + "Ev";
    const std::string pointer = letters(many) + letters("_Z1fPPi");
    ASSERT_EQ(pointer.size(), 2u);
    for (const char *known : {"S0_", "S9_", "SA_", "SY_", "SZ_"})
        EXPECT_EQ(letters(many + known), pointer) << known;
    EXPECT_EQ(letters(many + "S_"), pointer.substr(0, 1) + letters("_Z1fPi")) << "of int";
    for (const char *not_known :
         {"S10_", "Sa_", "Sz_", "S@_", "S:_", "S[_", "S/_", "S$_", "SZ", "S", "S1Z0_", "S99999999999_"})
        EXPECT_EQ(letters(many + not_known), "?") << not_known;
    EXPECT_EQ(letters(many.substr(0, 40) + "iSY_"), pointer) << "the last of 36";
    EXPECT_EQ(letters(many.substr(0, 40) + "iSZ_"), "?");
    for (const char *known : {"T_", "T0_", "T9_", "T10_", "T11_"})
        EXPECT_EQ(letters(types + known), letters("_Z1fi")) << known;
    for (const char *not_known : {"T12_", "TA_", "T:_", "T/_", "T1", "Ta_"})
        EXPECT_EQ(letters(types + not_known), "?") << not_known;
}

TEST(Signature, OfKernelsThatRunFromEnds)
{
    EXPECT_TRUE(signature_has_ends("_Z1kIN6thrust16reverse_iteratorIPfEEEvT_"));
    EXPECT_FALSE(signature_has_ends("_Z1kPf"));
    EXPECT_FALSE(signature_has_ends(nullptr));
}

/* Whatever is cut off or put in, it ends, within the text. */
TEST(Signature, OfDamagedNames)
{
    for (const Row &row : rows) {
        std::string name = row.name;
        for (size_t cut = 0; cut <= name.size(); cut++) {
            letters(name.substr(0, cut));
            for (char c : std::string("_0ZNIESTPKJLXFA"))
                letters(name.substr(0, cut) + c + name.substr(cut));
        }
    }
    letters("_Z1f" + std::string(100000, 'P'));
    letters("_Z1fI" + std::string(100000, 'I'));
    letters("_ZN" + std::string(50000, 'Z'));
    std::string many = "_Z1f";
    for (int i = 0; i < 2000; i++)
        many += "P1a";
    EXPECT_EQ(letters(many), "?");
}

} // namespace

/* SPDX-License-Identifier: Apache-2.0
 *
 * What mangled names say of kernels' parameters: names that compilers made, answers by hand.
 */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "interpose/footprint/modules/guess_by_name.h"
#include "interpose/footprint/modules/signature.h"
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

/* What a name may be made of besides, each before a parameter that says whether it was read to its end. */
const Row parts[] = {
    /* something inside a function: a class, a text, with a number, in a class, without a name */
    {"_Z1fIZ4mainE1AEvPT_T_", "Wc"},
    {"_Z1fIZ4mainEs1AEvPT_T_", "Wc"},
    {"_Z1fIZ4mainEsEvPT_", "W"},
    {"_Z1fIZ4mainE1A_3EvPT_", "W"},
    {"_Z1fIZ4mainE1A__12_EvPT_", "W"},
    {"_Z1fIZ4mainE1A__12EvPT_", "?"},
    {"_Z1fIZ4mainEN1A1BEEvPT_", "W"},
    {"_Z1fIZ4mainEUt_EvPT_", "W"},
    {"_Z1fIZ4mainEUt0_EvPT_", "W"},
    {"_Z1fIZ4mainEUlvE_EvPT_", "W"},
    {"_Z1fIZ4mainEUlPfiE2_EvPT_", "W"},
    {"_Z1fIZ4mainEUx_EvPT_", "?"},
    {"_Z1fIZ1gPE1AEvPT_", "?"},
    {"_Z1fIZ4mainEUlPf_EvPT_", "?"},
    {"_ZZ1gvEN1A1fEPf", "."},
    {"_Z1fI1AEvZ1gIiEvvE1BPT_", "cW"}, /* g's template arguments are its own */
    /* constructors, destructors, operators */
    {"_ZN1AC1EPf", "."},
    {"_ZN1AD0EPf", "."},
    {"_ZN1AC_EPf", "?"},
    {"_ZN1AplEPf", "."},
    {"_ZN1AzzEPf", "."},
    {"_ZN1AaaEPf", "."},
    {"_ZN1AZZEPf", "?"},
    {"_ZN1AcvfEPf", "?"},
    {"_ZN1AliEPf", "?"},
    {"_ZN1ArSEPf", "."},
    {"_ZNK1AclEPKf", "r"},
    {"_ZNVK1AclEPKf", "r"},
    {"_ZNR1AclEPKf", "r"},
    {"_ZNO1AclEPKf", "r"},
    {"_ZplPf", "."},
    {"_ZN1A", "?"},
    /* tags of the ABI */
    {"_Z1fB3abiPf", "."},
    {"_Z1fB3abiB2xyPf", "."},
    {"_Z1fB12abcdefghijklPf", "."},
    {"_ZN1AB3abi1fEPf", "."},
    {"_Z1fB3Pf", "?"},
    {"_Z1fBPf", "?"},
    /* template arguments: values, addresses, packs */
    {"_Z1fILi3EEvPf", "."},
    {"_Z1fILin3EEvPf", "."},
    {"_Z1fIL_Z1gEEvPf", "."},
    {"_Z1fIXadL_Z1gvEEEvPf", "."},
    {"_Z1fIXL_Z1gvEEEvPf", "."},
    {"_Z1fIXadL_Z1gPfEEEvS0_", "."},
    {"_Z1fIJfiEEvPf", "."},
    {"_Z1fIJEEvPf", "."},
    {"_Z1fIJfEiEvPT0_", "."},
    {"_Z1fIL3barE3EvPf", "?"},
    {"_Z1fIXadEEvPf", "?"}, /* of nothing */
    {"_Z1fIXEEvPf", "?"},
    {"_ZN1A1fIiEEvPT_", "."},
    {"_ZN1AIPfE1fIiEEvPT_", "."},
    {"_ZN1AIPfE1fEPf", "."},
    {"_Z1fI1AEvNT_1BEPf", "c."},
    {"_Z1fI1AEvPNT_1BET_", "Wc"},
    {"_Z1fI1AEv1BIiEPT_", "cW"}, /* a class's are not the function's */
    {"_Z1fI1AEvN1B1CIiEEPT_", "cW"},
    {"_Z1fISaIfEEvPT_", "W"},
    /* std */
    {"_Z1fSs", "c"},
    {"_Z1fPSsS_", "WW"},
    {"_Z1fSt4pairIifE", "c"},
    {"_Z1fPSt7complexIfE", "."},
    {"_Z1fPSt7complexIfES1_S0_S_", "...c"},
    {"_Z1fPSt7complexIfES1_S2_", "?"},
    {"_Z1fN4cuda3std7complexIfEE", "."},
    {"_Z1fN6thrust7complexIdEE", "."},
    {"_Z1fNSt1AE", "c"},
    {"_Z1fNSt1AIiEE", "c"},
    {"_Z1fPSt6vectorIfSaIfEE", "W"},
    /* nested ones */
    {"_Z1fN1AIiE1BE", "c"},
    {"_Z1fNS_1BE", "?"},
    {"_Z1fP1ANS_1BE", "Wc"},
    /* types: built in, qualified, functions, arrays */
    {"_Z1fDn", "."},
    {"_Z1fPDfPDdPDePDhPDiPDsPDuPDaPDcPDnPDF16_PDF32xPDF16b", "............."},
    {"_Z1fDF16", "?"},
    {"_Z1fPDb", "?"},
    {"_Z1fPDt", "?"},
    {"_Z1fTs1A", "?"},
    {"_Z1fTu1A", "?"},
    {"_Z1fTe1A", "?"},
    {"_Z1fU8__strongPf", "?"},
    {"_Z1fRKfRf", "r."},
    {"_Z1fOfOKf", ".r"},
    {"_Z1fKPfKPKf", ".r"},
    {"_Z1fKfVPfVKPf", "..."},
    {"_Z1fPVPfPKVP1A", "WR"},
    {"_Z1f1AK1AKPK1A", "ccR"},
    {"_Z1fPFvPfEPKFvvE", ".r"},
    {"_Z1fPFYviE", "."},
    {"_Z1fPFvi", "?"},
    {"_Z1fPFvvES0_S_", "..."},
    {"_Z1fPA_fPKA3_PfA3_Kf", ".R."},
    {"_Z1fPA3f", "?"},
    {"_Z1fPA3_fS0_S_", "..."},
    {"_Z1fPKVfS0_S_", "rr."},
    /* the end: what a compiler has made a part of, and too much */
    {"_Z1kIiEvv", ""},
    {"_Z1fv.part.0", ""},
    {"_Z1fPf.part.0", "."},
    {"_Z1fPfE", "?"},
    /* what holds no pointers, and what only looks like it */
    {"_Z1fP5char1P5char4P6float2P10ulonglong4", "...."},
    {"_Z1fP5char0P5char5P6char44P4char", "WWWW"},
    {"_Z1fP6__halfP7__half2P13__nv_bfloat16P14__nv_bfloat162", "...."},
    {"_Z1fP13__nv_fp8_e4m3P13__nv_fp8_e5m2P4dim3", "..."},
    {"_Z1fP17curandStateXORWOWP24curandStatePhilox4_32_10P19curandStateMRG32k3a", "..."},
    {"_Z1fPN3c108BFloat16EPNS_4HalfEPNS_6BFloatE", "..W"},
};

TEST(Signature, OfParts)
{
    for (const Row &row : parts)
        EXPECT_EQ(letters(row.name), row.letters) << row.name;
}

std::string repeated(const std::string &text, int times)
{
    std::string all;
    while (times-- > 0)
        all += text;
    return all;
}

/* So deep, so many parameters, so many template arguments; and depth is not length. */
TEST(Signature, AsFarAsThereIsRoom)
{
    EXPECT_EQ(letters("_Z1f" + repeated("P", 38) + "i"), "W");
    EXPECT_EQ(letters("_Z1f" + repeated("P", 39) + "i"), "?");
    EXPECT_EQ(letters("_Z1f" + repeated("Pf", 128)), std::string(128, '.'));
    EXPECT_EQ(letters("_Z1f" + repeated("Pf", 129)), "?");
    EXPECT_EQ(letters("_Z1fI" + repeated("i", 64) + "EvPf"), ".");
    EXPECT_EQ(letters("_Z1fI" + repeated("i", 65) + "EvPf"), "?");
    EXPECT_EQ(letters("_Z1f" + repeated("1AIiE", 100)), std::string(100, 'c'));
    EXPECT_EQ(letters("_Z1f" + repeated("Z1gvE1A", 100)), std::string(100, 'c'));
    EXPECT_EQ(letters("_Z1f" + repeated("Z1giE1A", 100)), std::string(100, 'c'));
    EXPECT_EQ(letters("_Z1f" + repeated("1AI", 19) + "i" + repeated("E", 19)), "c");
    EXPECT_EQ(letters("_Z1f" + repeated("1AI", 20) + "i" + repeated("E", 20)), "?");
    const std::string longer = "200" + std::string(200, 'a');
    EXPECT_EQ(letters("_Z1f" + repeated(longer, 81)), std::string(81, 'c')) << "16 kB of names";
    EXPECT_EQ(letters("_Z1f" + repeated(longer, 82)), "?");
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
    EXPECT_TRUE(guess_by_name_has_ends("_Z1kIN6thrust16reverse_iteratorIPfEEEvT_"));
    EXPECT_FALSE(guess_by_name_has_ends("_Z1kPf"));
    EXPECT_FALSE(guess_by_name_has_ends(nullptr));
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

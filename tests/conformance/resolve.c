/* SPDX-License-Identifier: Apache-2.0
 *
 * What cuGetProcAddress finds: versions, flags, names, and that it is the address that dlsym gives. Needs a driver of
 * CUDA 12.0 or newer. Under the shim the addresses are the shim's, and the rules the same.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/conformance/conf.h"

/* The name asked for must give the exported symbol `expected`; NULL: nothing. */
static void expect(const char *name, int version, cuuint64_t flags, const char *expected)
{
    char text[96];
    void *found = NULL;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = cuGetProcAddress_v2(name, &found, version, flags, &status);
    snprintf(text, sizeof text, "%s,%d,%d=%s", name, version, (int)flags, expected ? expected : "nothing");
    if (!expected)
        conf_say_bool("resolve", text, result == CUDA_SUCCESS && !found);
    else
        conf_say_bool("resolve", text, result == CUDA_SUCCESS && found && found == dlsym(RTLD_DEFAULT, expected));
    if (!expected) {
        char code[16];
        snprintf(text, sizeof text, "%s,%d,%d,status", name, version, (int)flags);
        snprintf(code, sizeof code, "%d", (int)status);
        conf_say("resolve", text, code);
    }
}

static void flags(void)
{
    void *found;
    expect("cuLaunchKernel", 12000, 0, "cuLaunchKernel");
    expect("cuLaunchKernel", 12000, 1, "cuLaunchKernel");
    expect("cuLaunchKernel", 12000, 2, "cuLaunchKernel_ptsz");
    expect("cuLaunchKernel", 12000, 3, "cuLaunchKernel_ptsz");
    conf_say_code("resolve", "cuLaunchKernel,12000,7", cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, 7, NULL));
    expect("cuLaunchKernel", 6999, 2, NULL);
    expect("cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz");
    expect("cuLaunchKernel", 4000, 0, "cuLaunchKernel");
}

static void versions(void)
{
    expect("cuMemcpyHtoD", 3020, 2, NULL);
    expect("cuMemcpyHtoD", 7000, 2, "cuMemcpyHtoD_v2_ptds");
    expect("cuMemcpyHtoD", 3020, 0, "cuMemcpyHtoD_v2");
    expect("cuMemcpyHtoD", 2000, 0, "cuMemcpyHtoD");
    expect("cuMemAlloc", 12000, 2, "cuMemAlloc_v2");
    expect("cuMemAlloc", 2000, 0, "cuMemAlloc");
    expect("cuStreamBeginCapture", 10000, 0, "cuStreamBeginCapture");
    expect("cuStreamBeginCapture", 10010, 0, "cuStreamBeginCapture_v2");
    expect("cuStreamBeginCapture", 10010, 2, "cuStreamBeginCapture_v2_ptsz");
    expect("cuStreamGetCaptureInfo", 11030, 2, "cuStreamGetCaptureInfo_v2_ptsz");
    expect("cuGetProcAddress", 11030, 0, "cuGetProcAddress");
    expect("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2");
}

/* Drivers differ here: up to 12.5 any version will do. */
static void above_the_drivers(void)
{
    static const int asked[] = {12090, 13000, 13010, 14000, 99999};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        char text[64];
        void *found = NULL;
        CUdriverProcAddressQueryResult status = 99;
        CUresult v1 = cuGetProcAddress("cuLaunchKernel", &found, asked[i], 0);
        CUresult v2 = cuGetProcAddress_v2("cuLaunchKernel", &found, asked[i], 0, &status);
        snprintf(text, sizeof text, "cuLaunchKernel,%d,0,v1-code,v2-code,status,found %d %d %d", asked[i], v1, v2, status);
        fputs("? ", stdout);
        conf_say_bool("resolve", text, found != NULL);
    }
}

static void names(void)
{
    static char untouched;
    void *found = &untouched;
    expect("cuLaunchKernel_ptsz", 12000, 0, NULL);
    expect("cuMemcpyHtoD_v2", 12000, 0, NULL);
    expect("cuGetProcAddress_v2", 12000, 0, NULL);
    expect("cuNoSuchFunction", 12000, 0, NULL);
    conf_say_code("resolve", "v1,not-found", cuGetProcAddress("cuNoSuchFunction", &found, 12000, 0));
    conf_say_bool("resolve", "v1,not-found,pointer-untouched", found == &untouched);
    conf_say_code("resolve", "v1,found", cuGetProcAddress("cuLaunchKernel", &found, 12000, 0));
    conf_say_bool("resolve", "v1,found,same", found == dlsym(RTLD_DEFAULT, "cuLaunchKernel"));
    fputs("? ", stdout);
    conf_say_code("resolve", "empty-name,v2", cuGetProcAddress_v2("", &found, 0, 0, NULL));
    fputs("? ", stdout);
    conf_say_code("resolve", "empty-name,v1", cuGetProcAddress("", &found, 0, 0));
}

int main(void)
{
    conf_begin();
    flags();
    versions();
    above_the_drivers();
    names();
    return conf_end();
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that opens libaudit_plugin.so, and says what that saw.
 *
 *     audit_child deep FILE        opened with RTLD_DEEPBIND
 *     audit_child plain FILE       opened without
 *     audit_child space FILE       opened in a namespace of its own
 *     audit_child both FILE        the same, and then plainly, too
 *     audit_child next             what dlsym and dlvsym find behind the program, in libc, and by default
 *     audit_child quiet            a call of libc's, no CUDA; errno is what it was
 *
 * With AUDIT_ALSO the program makes a CUDA call itself before it opens one with RTLD_DEEPBIND. With AUDIT_COUNTS, also
 * whether the auditor is there, and whether it has led any reference to the shim.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "interpose/base/audited.h"

namespace
{

const char *home(const void *address)
{
    Dl_info info;
    if (!address || !dladdr(address, &info))
        return "nothing";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

template <class F> F *function(void *library, const char *name)
{
    return reinterpret_cast<F *>(dlsym(library, name));
}

int say(void *library)
{
    if (!library) {
        printf("%s\n", dlerror());
        return 2;
    }
    printf("early: %s\n", function<const char *()>(library, "audit_early")());
    printf("later: %s\n", function<const char *()>(library, "audit_work")());
    auto audited = static_cast<const struct ptds_audited *>(dlsym(RTLD_DEFAULT, "ptds_audited"));
    if (audited && getenv("AUDIT_COUNTS"))
        printf("present %u, bound %s\n", audited->present, audited->bound != 0 ? "some" : "none");
    return 0;
}

/* So that there is a record of something. */
int call()
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = nullptr;
    int device = 0;
    return function<int(unsigned)>(driver, "cuInit")(0) ||
           function<int(void **, unsigned, int)>(driver, "cuCtxCreate_v2")(&context, 0, device);
}

int next()
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    for (const char *name : {"dlsym", "dlvsym", "dlopen", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuNoSuch", "printf"}) {
        for (void *where : {RTLD_DEFAULT, RTLD_NEXT, libc, driver})
            printf("%s %s %s\n", name, home(dlsym(where, name)), home(dlvsym(where, name, "GLIBC_2.34")));
    }
    return 0;
}

/* A driver in a namespace has a libc of its own, and starts threads by it. The program's libc does not hear of them, and
 * the loader, which calls its malloc for their thread-local variables, would do so without locks: glibc's fault, one run of
 * three hundred ended by it. A libc that has started a thread itself locks from then on. */
void *space(const char *file)
{
    std::thread([] {}).join();
    return dlmopen(LM_ID_NEWLM, file, RTLD_NOW);
}

int quiet()
{
    errno = 77;
    int same = getppid() == getppid() && errno == 77;
    printf("%s\n", same ? "quiet" : "errno was lost");
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "", file = argc > 2 ? argv[2] : "";
    if (mode == "next")
        return next();
    if (mode == "quiet")
        return quiet();
    int result = 0;
    if (mode == "space" || mode == "both")
        result = say(space(file.c_str()));
    if (mode == "deep" && getenv("AUDIT_ALSO"))
        result = call();
    if (mode == "deep")
        result |= say(dlopen(file.c_str(), RTLD_NOW | RTLD_DEEPBIND));
    if (mode == "plain" || mode == "both")
        result |= say(dlopen(file.c_str(), RTLD_NOW));
    return result;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What is linked with this looks for leaks when it ends. Of memory that nothing points to any more it says where it came
 * from, and its exit status is 23. That is the leak sanitizer's runtime, which needs no instrumented code. Must not fail a
 * test where leaks can't be looked for.
 */
#include "tests/support/leaks.h"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The runtime stops the process by ptrace: that fails below a debugger, in an emulator, and where a container forbids it.
 */
bool leaks_are_seen(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t child = fork();
    if (child == 0)
        _exit(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0 ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Asked by the runtime at start. The signals are the program's own: it looks at files that others cut. */
__attribute__((visibility("default"))) const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0";
}

/* Asked by the runtime at the end. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return !leaks_are_seen();
}

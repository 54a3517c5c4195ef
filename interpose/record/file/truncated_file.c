/* SPDX-License-Identifier: Apache-2.0
 *
 * The handler for a SIGBUS in the trace's mapping. Installed with PTDS_TRACE alone, and only in the place of the default
 * action, which would end the program; any other SIGBUS still ends it as it would have. Must not lock, allocate or print.
 */
#include "interpose/record/file/truncated_file.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static truncated_file_part *part_of;
static uint32_t happened;

/* The default action, at the same instruction again, or of the same signal once this handler is left. */
static void as_before(const siginfo_t *info)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(SIGBUS, &action, NULL);
    if (info->si_code <= 0)
        raise(SIGBUS);
}

static void on_bus_error(int signal, siginfo_t *info, void *unused)
{
    size_t size = 0;
    int saved = errno;
    void *part = info->si_code == BUS_ADRERR && part_of ? part_of(info->si_addr, &size) : NULL;
    (void)signal;
    (void)unused;
    if (part && mmap(part, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == part)
        __atomic_store_n(&happened, 1, __ATOMIC_RELEASE);
    else
        as_before(info);
    errno = saved;
}

void truncated_file_watch(truncated_file_part *part)
{
    struct sigaction action, there;
    part_of = part;
    if (sigaction(SIGBUS, NULL, &there) != 0 || (there.sa_flags & SA_SIGINFO) != 0 || there.sa_handler != SIG_DFL)
        return;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

int truncated_file_seen(void)
{
    return __atomic_load_n(&happened, __ATOMIC_ACQUIRE) != 0;
}

void truncated_file_after_fork(void)
{
    part_of = NULL;
    happened = 0;
}

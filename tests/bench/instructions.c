/* SPDX-License-Identifier: Apache-2.0
 *
 * instructions [calls all] [runs 3] [warm-up 200]: how many machine instructions a driver call takes, the driver's own
 * included. One line each: `name door instructions`, the median of the runs; by cuGetProcAddress the first call only, since
 * a call goes on alike by either door. Run by budget_test.sh without and with the shim on the empty driver: unlike a time,
 * the difference is the same on every machine. Counts by the processor's trap flag, so it needs no counters and no other
 * process, but some ten microseconds an instruction. What is counted must not block SIGTRAP.
 */
#include <signal.h>
#include <stdio.h>

#include "tests/bench/lane.h"

#ifndef __x86_64__
#error "the trap flag is x86-64's"
#endif

enum { RUNS_MAX = 100 };

static volatile unsigned long counted;

static void on_trap(int signal)
{
    (void)signal;
    counted++;
}

/* Below the red zone, which the flags would be pushed into. */
#define SET_TRAP_FLAG(change) \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change "\n\tpopfq\n\tlea 128(%%rsp), %%rsp" :: \
                         : "memory", "c" \
                                     "c")

static double count(const struct call *call, const struct lane *l)
{
    counted = 0;
    SET_TRAP_FLAG("orq $0x100, (%%rsp)");
    CUresult result = call->run(l);
    SET_TRAP_FLAG("andq $~0x100, (%%rsp)");
    CU(result);
    return (double)counted / call->made;
}

static void measure(const struct call *call, const struct lane *l, unsigned warm_up, unsigned runs)
{
    static double values[RUNS_MAX];
    for (unsigned i = 0; i < warm_up; i++)
        CU(call->run(l));
    for (unsigned i = 0; i < runs; i++)
        values[i] = count(call, l);
    printf("%s %s %.0f\n", call->name, l->door->name, percentile(values, runs, 50));
}

int main(int argc, char **argv)
{
    static struct setting setting;
    struct sigaction action = {.sa_handler = on_trap};
    const char *names = argc > 1 ? argv[1] : NULL;
    unsigned runs = number(argc, argv, 2, 3), warm_up = number(argc, argv, 3, 200);
    if (runs == 0 || runs > RUNS_MAX)
        must(CUDA_ERROR_INVALID_VALUE, "runs");
    make_setting(&setting);
    sigaction(SIGTRAP, &action, NULL);
    for (unsigned d = 0; d < 2; d++) {
        struct lane l = make_lane(&setting, &setting.doors[d]);
        for (unsigned c = 0; c < (d == 0 ? call_count : 1); c++) {
            if (in_list(names, calls[c].name))
                measure(&calls[c], &l, warm_up, runs);
        }
        drop_lane(&l);
    }
    return 0;
}

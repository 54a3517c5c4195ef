/* SPDX-License-Identifier: Apache-2.0
 *
 * How the driver gives streams to the hardware queues of the device, measured: `queues map ...`, `queues first ...`,
 * `queues memory ...`, one line each; `queues all` runs the whole list, each experiment in a process of its own with a
 * limit of time. An ordinary program: it knows nothing of libptds.
 *
 * Options (NAME=VALUE): conn=N CUDA_DEVICE_MAX_CONNECTIONS in the environment of the experiment; setenv=N by setenv before
 * cuInit; late=N after cuInit, before the context; streams=SPEC (n non-blocking, b blocking, h high priority, 0 legacy, t
 * a thread's 0x2; n8,t4); used=c|r|7|- order of first uses; modes: R a kernel runs, D another one behind it, E an event
 * recorded behind it, W waits for an event, K W and a kernel, C W and a copy, V waits for a value, F host function; op:
 * k kernel, c copy, v value written, g graph.
 */
#include "queues.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "CUDA_DEVICE_MAX_CONNECTIONS"

static const char *const experiments[] = {
    "map streams=n40 modes=RDEWKV",
    "map streams=n40 used=7 modes=D",
    "map streams=n40 used=- modes=D",
    "map streams=n40 conn=1 modes=D block=1-1",
    "map streams=n40 conn=32 modes=DK",
    "map streams=n40 late=32 modes=D block=0-7",
    "map streams=b40 modes=DK",
    "map streams=n8,t24 modes=DK",
    "map streams=n40 drop=3 modes=D",
    "map streams=n60,t20 modes=K block=1-4",
    "map streams=n60,t20 modes=K block=1-8",
    "map streams=n60,t20 conn=32 modes=K block=1-31",
    "first",
    "first streams=n32",
    "first streams=n32 used=1",
    "first conn=1",
    "first streams=n8 held=n acts=pebmn",
    "memory streams=n64 events=256",
    "memory streams=b64",
    "memory streams=t40",
    "memory streams=n64 conn=32",
    "map streams=n60,t4,0 modes=D block=0-5",
    "map streams=n60,t4,0 modes=D block=0-6",
    "map streams=n60,t4,0 modes=D block=0-7",
    "map streams=n60,t4,0 modes=D block=0-8",
    "map streams=n60,t4,0 modes=D block=0-14 conn=16",
    "map streams=n60,t4,0 modes=D block=0-15 conn=16",
    "map streams=n60,t4,0 modes=D block=0-30 conn=32",
    "map streams=n60,t4,0 modes=D block=0-31 conn=32",
    "map streams=n40,h4,t4,0 modes=R op=kcvg block=1-12",
    "map streams=n40,h4,t4,0 modes=D op=kcvg block=1-12",
    "map streams=n40,h4,t4,0 modes=E op=kcvg block=1-12",
    "map streams=n40,h4,t4,0 modes=W op=kcvg block=1-12",
    "map streams=n40,h4,t4,0 modes=V op=kcvg block=1-12",
    "map streams=n40,h4,t4,0 modes=C op=kcvg block=1-12",
    "map streams=n40,h4,t4,0 modes=F op=kcvg block=1-12",
    "map streams=n40,h4,t4,0 modes=K op=kcvg block=1-12",
    "map streams=n2,h12,n10,t4,0 modes=DK block=2-12",
    "map streams=n2,h12,n10,t4,0 modes=D op=cvg block=2-12",
    "map streams=n2,h7,n10,t4,0 modes=D block=2-8",
    "map streams=n14,h10,l10,t4,0 modes=DK block=1-12",
    "map streams=n2,l12,n10,h4,t4,0 modes=D block=2-12",
    "map streams=t12,n8,0 modes=D block=0-9",
    "map streams=b12,n8,h4 modes=D block=0-9",
    "map streams=n60,t4 setenv=16 modes=D block=0-12",
    "map streams=n60,t4 setenv=32 modes=D block=0-29",
    "map streams=n2,h40,n10 conn=32 modes=D block=2-33",
    "memory streams=n2 conn=1",
    "memory streams=n2 conn=2",
    "memory streams=n2 conn=4",
    "memory streams=n2 conn=8",
    "memory streams=n2 conn=9",
    "memory streams=n2 conn=10",
    "memory streams=n2 conn=12",
    "memory streams=n2 conn=15",
    "memory streams=n2 conn=16",
    "memory streams=n2 conn=20",
    "memory streams=n2 conn=24",
    "memory streams=n2 conn=32",
    "memory streams=n2 setenv=8",
    "memory streams=n2 setenv=16",
    "memory streams=n150",
    "memory streams=t150",
    "memory streams=n2 events=4096",
    "first streams=n27 acts=tt",
    "first streams=n28 acts=tt",
    "first streams=n29 acts=tt",
    "first streams=n30 acts=tt",
    "first streams=n32 acts=tt",
    "first streams=n33 acts=tt",
    "first streams=n34 acts=tt",
    "first streams=n35 acts=tt",
    "first streams=n36 acts=tt",
    "first streams=n28 held=n acts=nnnnnn",
    "first streams=n30 held=n acts=nnnnnn",
    "first streams=n31 held=n acts=nnnnnn",
    "first streams=n32 held=n acts=nnnnnn",
    "first streams=n33 held=n acts=nnnnnn",
    "first streams=n28 held=t acts=bbbbbbbbbbbb",
    "first streams=n28 held=t acts=tttttttttttt",
    "first streams=n2 held=n acts=nnnnnnnnnnnn",
    "first streams=n2 held=t acts=bbbbbbbbbbbb",
    "first streams=n2 held=n acts=hhhhhh",
    "first streams=n2 held=D acts=tnbtnbtnbtnb",
    "first streams=n30 held=D acts=tnbtnbtnb",
};

static int run(int argc, char **argv)
{
    const char *now = option(argc, argv, "setenv", NULL), *late = option(argc, argv, "late", NULL);
    if (now)
        setenv(VARIABLE, now, 1);
    if (late) {
        CU(cuInit(0));
        setenv(VARIABLE, late, 1);
    }
    if (strcmp(argv[1], "map") == 0)
        map_main(argc, argv);
    else if (strcmp(argv[1], "first") == 0)
        first_main(argc, argv);
    else
        memory_main(argc, argv);
    printf(" END");
    fflush(stdout);
    _Exit(0);
}

static void start(const char *experiment)
{
    char words[256], *arguments[16] = {"queues"};
    int count = 1;
    snprintf(words, sizeof words, "%s", experiment);
    for (char *word = strtok(words, " "); word && count < 15; word = strtok(NULL, " "))
        arguments[count++] = word;
    const char *connections = option(count, arguments, "conn", NULL);
    if (connections)
        setenv(VARIABLE, connections, 1);
    execv("/proc/self/exe", arguments);
    _Exit(127);
}

static void in_process(const char *experiment)
{
    int status = 0;
    double began = now_ms();
    printf("%s |", experiment);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        start(experiment);
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now_ms() - began > 20000)
            kill(child, SIGKILL);
        sleep_ms(1);
    }
    printf(" | %.1fs status=%d\n", (now_ms() - began) / 1e3, status);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") != 0)
        return run(argc, argv);
    for (unsigned i = 0; i < sizeof experiments / sizeof *experiments; i++)
        in_process(experiments[i]);
    return 0;
}

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
    "map streams=n40 used=r modes=D",
    "map streams=n40 used=- modes=D",
    "map streams=n40 conn=8 modes=DK",
    "map streams=n40 conn=1 modes=DK",
    "map streams=n40 conn=32 modes=DKRW",
    "map streams=n40 setenv=32 modes=D",
    "map streams=n40 setenv=8 modes=D",
    "map streams=n40 late=32 modes=D",
    "map streams=n20,h20 modes=D",
    "map streams=n12,h12 conn=32 modes=D",
    "map streams=b40 modes=DK",
    "map streams=n8,t24 modes=DK",
    "map streams=n8,b8,t16 conn=32 modes=D",
    "map streams=n40,0 modes=D block=40-40",
    "map streams=n40,0 modes=DK block=1-1",
    "map streams=n40 drop=3 modes=D",
    "map streams=n16 modes=CF op=kcvg",
    "map streams=n16 modes=DK op=cvg",
    "map streams=n60,t20 modes=K block=1-8",
    "map streams=n60,t20 modes=K block=1-4",
    "map streams=n60,t20 modes=K block=1-31",
    "map streams=n60,t20 conn=32 modes=K block=1-31",
    "map streams=n60,t20 conn=32 modes=K block=1-8",
    "first",
    "first streams=n1",
    "first streams=n4",
    "first streams=n7",
    "first streams=n8",
    "first streams=n16",
    "first streams=n31",
    "first streams=n32",
    "first streams=n40",
    "first streams=n64",
    "first streams=n32 used=1",
    "first streams=n8 used=1",
    "first streams=b32",
    "first streams=b32 used=1",
    "first streams=b8",
    "first streams=b4",
    "first streams=b16",
    "first streams=n32 conn=32",
    "first streams=b32 conn=32",
    "first conn=8",
    "first conn=1",
    "first conn=32",
    "first streams=n40 conn=32",
    "first streams=n4 conn=32 acts=tttttttt",
    "first streams=n4 acts=tttttttttttttttttttt",
    "first streams=n8 held=n acts=pebmn",
    "first streams=b8 held=t acts=pebmn",
    "first streams=n40 held=n acts=pent",
    "first streams=n8 held=n acts=nb",
    "first streams=n8 held=n acts=b",
    "first streams=n8 held=n acts=d",
    "first streams=n40 held=0 acts=ten",
    "first streams=n40 conn=32 held=t acts=petnbm",
    "memory streams=n64 events=256",
    "memory streams=b64",
    "memory streams=h40",
    "memory streams=t40",
    "memory streams=n64 conn=32",
    "memory streams=n64 conn=1",
    "memory streams=b64 conn=32",
    "memory streams=n1 events=2048",
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

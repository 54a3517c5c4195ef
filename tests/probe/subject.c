// SPDX-License-Identifier: Apache-2.0
//
// subject MODE [ARGUMENT]...: programs to be probed, each a little CUDA work and one habit: output that varies, a crash, a
// hang, files. What happens only under a policy asks PTDS_POLICY, which no honest program does; `unordered` is the honest
// one. Run by the tests of this folder.

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/apps/app.h"

enum { WORDS = 1024, BYTES = WORDS * 4, KERNELS = 5 };

// One thread, one stream.
static uint32_t work(const struct app *app)
{
    static uint32_t host[WORDS];
    CUdeviceptr words;
    CU(cuMemAlloc(&words, BYTES));
    CU(cuMemsetD32(words, 1, WORDS));
    for (int i = 0; i < KERNELS; i++)
        CU(app_add_one(app, NULL, words, WORDS));
    CU(cuMemcpyDtoH(host, words, BYTES));
    CU(cuMemFree(words));
    return host[0];
}

// What another blocking stream writes late, the default stream reads: only legacy order makes that right.
static uint32_t unordered(const struct app *app)
{
    static uint32_t host[WORDS];
    CUstream stream;
    CUdeviceptr words;
    struct gate gate;
    gate_make(&gate, 30);
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuMemAlloc(&words, BYTES));
    CU(cuMemsetD32(words, 1, WORDS));
    CU(cuCtxSynchronize());
    gate_shut(app, &gate, stream);
    CU(cuMemsetD32Async(words, 5, WORDS, stream));
    CU(cuMemcpyDtoH(host, words, BYTES));
    gate_join(&gate);
    CU(cuCtxSynchronize());
    return host[0];
}

static int under(const char *policy)
{
    const char *here = getenv("PTDS_POLICY");
    return policy != NULL && strcmp(policy, here != NULL ? here : "bare") == 0;
}

// With a child of its own, which does not listen, and whose number goes into the file.
static void hang(const char *file)
{
    pid_t child = fork();
    if (child == 0)
        signal(SIGTERM, SIG_IGN);
    FILE *out = child > 0 && file != NULL ? fopen(file, "a") : NULL;
    if (out != NULL) {
        fprintf(out, "%d\n%d\n", (int)getpid(), (int)child);
        fclose(out);
    }
    for (;;)
        pause();
}

static void print_letters(unsigned number)
{
    for (; number != 0; number /= 26)
        putchar('a' + (int)(number % 26));
    putchar('\n');
}

static void vary(const char *how)
{
    unsigned number = (unsigned)getpid();
    if (strcmp(how, "numbers") == 0)
        printf("took %10u ms\n", number);
    else if (strcmp(how, "words") == 0)
        print_letters(number);
    else if (strcmp(how, "lines") == 0)
        for (unsigned i = 0; i <= number % 64; i++)
            printf("line\n");
    else if (strcmp(how, "errors") == 0)
        for (unsigned i = 0; i <= number % 64; i++)
            fprintf(stderr, "line\n");
}

// The number of runs so far, divided: what varies more slowly than one run.
static void print_age(const char *file, unsigned each)
{
    FILE *in = fopen(file, "r");
    unsigned runs = 0;
    if (in != NULL && fscanf(in, "%u", &runs) == 1)
        printf("age %u\n", runs / each);
    else
        printf("age 0\n");
    if (in != NULL)
        fclose(in);
    FILE *out = fopen(file, "w");
    fprintf(out, "%u\n", runs + 1);
    fclose(out);
}

// Adds to a file, which so tells whether every run finds it as the first did.
static void append(const char *file, const char *text)
{
    FILE *out = fopen(file, "a");
    fprintf(out, "%s\n", text);
    fclose(out);
}

static void read_input(void)
{
    char text[100];
    while (fgets(text, sizeof text, stdin) != NULL)
        printf("read %s", text);
    printf("read all\n");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "", *first = argc > 2 ? argv[2] : NULL, *second = argc > 3 ? argv[3] : NULL;
    struct app app;
    app_start(&app);
    uint32_t sum = strcmp(mode, "unordered") == 0 ? unordered(&app) : work(&app);
    if (strcmp(mode, "silent") != 0)
        printf("sum %" PRIu32 "\n", sum);
    if (strcmp(mode, "varies") == 0)
        vary(first);
    else if (strcmp(mode, "age") == 0)
        print_age(first, (unsigned)atoi(second));
    else if (strcmp(mode, "append") == 0)
        append(first, second);
    else if (strcmp(mode, "reads") == 0)
        read_input();
    else if (strcmp(mode, "prints") == 0)
        printf("%s\n", under(first) ? second : "usual");
    fflush(stdout);
    if (strcmp(mode, "crash") == 0 && under(first))
        raise(SIGSEGV);
    if (strcmp(mode, "slow") == 0 && under(first))
        app_sleep_ms(300);
    if (strcmp(mode, "fail") == 0 && under(first)) {
        fprintf(stderr, "no such device\n");
        return 7;
    }
    if (strcmp(mode, "hang") == 0 && under(first))
        hang(second);
    return 0;
}

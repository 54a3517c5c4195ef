/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds doctor`: is everything in place on this machine? What needs the driver is asked in children, with and without the
 * shim preloaded, so that whatever goes wrong there goes wrong in them. Works without a driver, and says so.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/text.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/shim_library.h"
#include "analysis/cmd/verbs/doctor_probe.h"

static const char manual[] = "Looks whether libptds.so is found and loads, which driver is here, and whether calls reach "
                             "libptds on every way to the driver.\v"
                             "Exit status: 0 usable, or in place where there is no driver to ask; 1 not usable.\n"
                             "\n"
                             "Example:\n"
                             "  ptds doctor";

enum { MOST_LINES = 256, LINE_SIZE = 1024, PROBE_KEY = 256, GPUS_KEY };

/* What a child wrote. */
struct answer {
    char lines[MOST_LINES][LINE_SIZE];
    size_t count;
    bool ended_well;
};

/* It is one of the children. */
struct asked {
    bool probe, gpus;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct asked *asked = state->input;
    switch (key) {
    case ARGP_KEY_ARG: argp_error(state, "no argument \"%s\" is known", arg); return 0;
    case PROBE_KEY: asked->probe = true; return 0;
    case GPUS_KEY: asked->gpus = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Between fork and exec: only what may be called there, but for setenv, which is safe in a process of one thread. */
static void become_probe(int out, const char *library, bool audited)
{
    char self[] = "/proc/self/exe", doctor[] = "doctor", probe[] = "--probe", gpus[] = "--gpus", error[LIBRARY_ERROR_SIZE];
    char *const argv[] = {self, doctor, probe, library == NULL ? gpus : NULL, NULL};
    dup2(out, STDOUT_FILENO);
    setenv("PTDS_POLICY", "observe", 1);
    setenv("PTDS_REPORT", "off", 1);
    unsetenv("PTDS_TRACE");
    unsetenv("PTDS_LOG");
    unsetenv("PTDS_DISABLE");
    unsetenv("PTDS_EXCLUDE");
    unsetenv("PTDS_INCLUDE");
    if (library != NULL && !shim_library_preload(library, error))
        _exit(EXIT_FINDINGS);
    if (audited && !shim_library_audit(library, error))
        _exit(EXIT_FINDINGS);
    execv(self, argv);
    _exit(EXIT_NOT_EXECUTABLE);
}

static void read_answer(FILE *from, struct answer *answer)
{
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, from) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (answer->count < MOST_LINES)
            strcpy(answer->lines[answer->count++], line);
    }
}

static bool ask(struct answer *answer, const char *library, bool audited)
{
    int ends[2], status = 0;
    *answer = (struct answer){0};
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        become_probe(ends[1], library, audited);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    if (from != NULL) {
        read_answer(from, answer);
        fclose(from);
    }
    answer->ended_well = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return answer->ended_well;
}

/* The rest of the first line that begins with `key`, which ends in a space; NULL if there is none. */
static const char *value_of(const struct answer *answer, const char *key)
{
    for (size_t i = 0; i < answer->count; i++)
        if (strncmp(answer->lines[i], key, strlen(key)) == 0)
            return answer->lines[i] + strlen(key);
    return NULL;
}

static bool check(bool ok, const char *what, const char *detail)
{
    printf("  %-6s %-28s %s\n", ok ? "ok" : "FAILED", what, detail);
    return ok;
}

static void note(const char *what, const char *detail)
{
    printf("  %-6s %-28s %s\n", "note", what, detail);
}

static bool check_library(char *library)
{
    char error[LIBRARY_ERROR_SIZE];
    if (!shim_library_find(library, error))
        return check(false, "libptds.so", error);
    if (strpbrk(library, " :") != NULL)
        return check(false, "libptds.so", "LD_PRELOAD cannot hold a path with a space or a colon");
    return check(true, "libptds.so", library);
}

static bool is_loaded(const struct answer *answer, const char *library)
{
    for (size_t i = 0; i < answer->count; i++)
        if (strncmp(answer->lines[i], "loaded ", 7) == 0 && strcmp(answer->lines[i] + 7, library) == 0)
            return true;
    return false;
}

static void say_driver(const struct answer *plain)
{
    const char *driver = value_of(plain, "driver "), *version = value_of(plain, "version ");
    char text[LINE_SIZE + 64];
    int number = version != NULL ? atoi(version) : 0;
    if (driver == NULL) {
        const char *why = value_of(plain, "no-driver ");
        snprintf(text, sizeof text, "none here, so the ways to it were not tried (%s)", why != NULL ? why : "no answer");
        note("driver", text);
        return;
    }
    if (number != 0)
        snprintf(text, sizeof text, "%s, CUDA %d.%d", driver, number / 1000, number % 1000 / 10);
    else
        snprintf(text, sizeof text, "%s, version unknown (the toolkit's stub?)", driver);
    check(true, "driver", text);
}

static void say_gpus(const struct answer *plain)
{
    char what[64];
    const char *none = value_of(plain, "no-gpu ");
    if (none != NULL)
        note("GPU", none);
    for (size_t i = 0; i < plain->count; i++) {
        const char *line = plain->lines[i], *name = strncmp(line, "gpu ", 4) == 0 ? strchr(line + 4, ' ') : NULL;
        if (name != NULL) {
            snprintf(what, sizeof what, "GPU %.*s", (int)(name - line - 4), line + 4);
            check(true, what, name + 1);
        } else if (strncmp(line, "pageable ", 9) == 0) {
            snprintf(what, sizeof what, "GPU %.32s", line + 9);
            note(what, "reads memory of malloc; kernels with pointers to such keep the whole legacy order under guarded");
        }
    }
}

/* A door works if what it hands out without the shim is the driver's, and with it is the shim's. Another library that
 * stands before both stays there, and where it goes on to can't be seen without a call. The ELF door is closed in the child
 * without the shim unless something loaded the driver for all; only the shim's answer counts there. */
static bool check_door(const struct answer *plain, const struct answer *shimmed, const char *name, const char *title,
                       const char *library)
{
    char key[64], what[64], text[LINE_SIZE * 2];
    snprintf(key, sizeof key, "door %s ", name);
    snprintf(what, sizeof what, "%s", title);
    const char *before = value_of(plain, key), *after = value_of(shimmed, key);
    if (before == NULL || after == NULL)
        return check(false, what, "no answer");
    if (strcmp(before, "absent") == 0 && strcmp(after, "absent") == 0) {
        note(what, "this driver has no such function");
        return true;
    }
    bool ours = strcmp(text_base(after), text_base(library)) == 0;
    const char *driver = value_of(plain, "driver ");
    if (!ours && strcmp(before, after) == 0 && driver != NULL && strcmp(after, driver) != 0) {
        snprintf(text, sizeof text, "answered by %s, as without the shim; it may go on through the shim", after);
        note(what, text);
        return true;
    }
    snprintf(text, sizeof text, "answered by %s%s", after, ours ? "" : ": they go past libptds");
    return check(ours, what, text);
}

static bool check_doors(const struct answer *plain, const struct answer *shimmed, const char *library)
{
    static const struct {
        const char *name, *title;
    } doors[] = {{"elf", "calls linked to the driver"},
                 {"dlsym", "calls found by dlsym"},
                 {"dlvsym", "by dlvsym"},
                 {"cuGetProcAddress", "by cuGetProcAddress"},
                 {"cuGetProcAddress_v2", "by cuGetProcAddress_v2"}};
    bool all = true;
    if (value_of(plain, "driver ") == NULL)
        return true;
    for (size_t i = 0; i < sizeof doors / sizeof doors[0]; i++)
        all &= check_door(plain, shimmed, doors[i].name, doors[i].title, library);
    return all;
}

/* Libraries in front of the driver's functions: quotas, tools. */
static void say_functions(const struct answer *shimmed, const char *library)
{
    const char *driver = value_of(shimmed, "driver ");
    char text[LINE_SIZE + 64];
    for (size_t i = 0; i < shimmed->count; i++) {
        unsigned count = 0;
        int path = 0;
        if (sscanf(shimmed->lines[i], "functions %u %n", &count, &path) != 1 || path == 0)
            continue;
        const char *object = shimmed->lines[i] + path;
        if (strcmp(text_base(object), text_base(library)) == 0 || (driver != NULL && strcmp(object, driver) == 0))
            continue;
        snprintf(text, sizeof text, "%s of the driver's: %s", text_plural(count, "function").text, object);
        note("in front of the driver", text);
    }
}

static void say_others(const struct answer *shimmed, const char *library)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload != NULL && preload[0] != 0)
        note("LD_PRELOAD already has", preload);
    for (size_t i = 0; i < shimmed->count; i++) {
        const char *line = shimmed->lines[i], *base = text_base(line);
        if (strncmp(line, "hook ", 5) != 0 || strcmp(base, text_base(library)) == 0)
            continue;
        if (strncmp(base, "libc.", 5) != 0 && strncmp(base, "libdl", 5) != 0 && strncmp(base, "ld-", 3) != 0)
            note("also hooks dlsym", line + 5);
    }
    say_functions(shimmed, library);
    if (getenv("PTDS_DISABLE") != NULL)
        note("PTDS_DISABLE is set", "programs run without libptds");
    note("permissions", "no root, ptrace or raised limits are needed");
}

/* Not needed for anything but `ptds run --audit`. */
static void say_auditor(const char *library)
{
    static struct answer audited;
    char auditor[PATH_MAX], error[LIBRARY_ERROR_SIZE];
    if (!shim_library_auditor(library, auditor, error))
        note("auditor", error);
    else if (ask(&audited, library, true) && value_of(&audited, "audited ") != NULL)
        check(true, "auditor", "for ptds run --audit: started, and found libptds");
    else
        note("auditor", "ptds run --audit would do nothing: the loader did not take it");
}

/* driver: set where there is one. */
static bool examine(bool *driver)
{
    static struct answer plain, shimmed;
    char library[PATH_MAX];
    printf("ptds doctor, libptds %s\n", PTDS_VERSION);
    signal(SIGCHLD, SIG_DFL); /* whoever started this may ignore it, and then no child's end is told */
    if (!check_library(library))
        return false;
    bool starts = ask(&plain, NULL, false);
    if (!check(starts, "a process without libptds", starts ? "started and ended" : "could not be started, or died"))
        return false;
    bool loads = ask(&shimmed, library, false) && is_loaded(&shimmed, library);
    check(loads, "a process with libptds",
          loads ? "loaded, started and ended" : "libptds was not loaded, or the process died");
    *driver = value_of(&plain, "driver ") != NULL;
    say_driver(&plain);
    say_gpus(&plain);
    bool doors = loads && check_doors(&plain, &shimmed, library);
    if (loads)
        say_auditor(library);
    say_others(&shimmed, library);
    return loads && doors;
}

static const struct argp_option options[] = {
    {"probe", PROBE_KEY, NULL, OPTION_HIDDEN, NULL, 0}, {"gpus", GPUS_KEY, NULL, OPTION_HIDDEN, NULL, 0}, {0}};
static const struct argp doctor_argp = {.options = options, .parser = parse, .doc = manual};

static int run_verb(int argc, char **argv)
{
    char name[] = "ptds doctor";
    struct asked asked = {0};
    argv[0] = name;
    argp_parse(&doctor_argp, argc, argv, 0, NULL, &asked);
    if (asked.probe)
        return doctor_probe(asked.gpus);
    bool driver = false, usable = examine(&driver);
    printf("%s\n", !usable  ? "NOT usable: see what failed above"
                   : driver ? "usable"
                            : "libptds is in place; no driver here to try it with");
    return usable ? EXIT_CLEAN : EXIT_FINDINGS;
}

const struct verb verb_doctor = {"doctor", "is everything in place on this machine?", run_verb, &doctor_argp, NULL};

/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds probe`: should this program use a policy, and what does it gain? The work is analysis/probe's; here are the
 * options, the line of progress, and the order in which things are begun and ended.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/duration.h"
#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/number.h"
#include "analysis/cmd/help/verb.h"
#include "analysis/cmd/shim_library.h"
#include "analysis/cmd/variables.h"
#include "analysis/probe/answer/conclude.h"
#include "analysis/probe/answer/probe_json.h"
#include "analysis/probe/answer/probe_screen.h"
#include "analysis/probe/runs/standard_input.h"
#include "analysis/probe/probe.h"
#include "analysis/probe/runs/rounds.h"

static const char manual[] = "Runs a program bare, under observe and under policies, some rounds each in turn; compares "
                             "how it ends, what it prints, and "
                             "how long it takes; and says in one screen whether to use a policy.\v"
                             "The first line and the exit status are about the policies of --policy, the worst of them "
                             "first; without it, about guarded. "
                             "Where the program names the legacy stream (0x1), guarded is also tried with that moved, and "
                             "comes first if that is right and faster. "
                             "Output must be the same byte for byte, but for numbers that vary from one bare run to the "
                             "next. Standard input, unless it is "
                             "a terminal, is read to its end first; every run gets the same. A policy's run may take ten "
                             "times as long as bare, and ten "
                             "seconds; --timeout gives another limit, for bare runs, too.\n"
                             "\n"
                             "Exit status: 0 right (faster, as fast, or nothing to gain), 1 do not use it, 2 usage, or the "
                             "program cannot be run, 3 can't "
                             "tell.\n"
                             "\n"
                             "Example:\n"
                             "  ptds probe -- ./app --steps 10\n"
                             "  ptds probe --shake 10 -- ./app\n"
                             "  ptds probe --policy per-thread --output result.bin -- ./app\n"
                             "  ptds probe --compare 'numdiff -r 1e-6' --output result.txt -- ./app";

#define POLICY(identifier, word, then) word,
static const char *const policies[] = {
#include "interpose/env/policies.def"
};

enum { KEY_ALL = 256, KEY_LANES, KEY_AUDIT, KEY_JSON, KEY_KEEP, KEY_SHAKE, DEFAULT_ROUNDS = 3, MOST_ROUNDS = 1000 };
static const struct argp_option options[] = {
    {"policy", 'p', "P", 0, "also this policy: per-thread or stream (repeatable); guarded is always tried", 0},
    {"all", KEY_ALL, NULL, 0,
     "also every other policy that moves work, and 1 and 8 lanes (PTDS_LANES) where a thread's independent work may gain "
     "by them",
     0},
    {"lanes", KEY_LANES, NULL, 0, "also guarded with 1 and with 8 lanes, in any case", 0},
    {"audit", KEY_AUDIT, NULL, 0, "with the auditor, as ptds run --audit: for libraries that look past what is preloaded",
     0},
    {"rounds", 'r', "N", 0, "rounds that count (default 3); one more warms up", 0},
    {"shake", KEY_SHAKE, "N", 0,
     "N runs more under none and under each policy, in which work starts late at random: shows results that depend on luck",
     0},
    {"output", 'o', "FILE", 0, "a file that the program writes, compared as well (repeatable); it is left as it was", 0},
    {"compare", 'c', "CMD", 0,
     "compares the files of --output, or else standard output: a shell command that gets two files' names; 0 the same", 0},
    {"timeout", 't', "DURATION", 0, "a run that takes longer hangs; seconds, or a number and ms, s or m", 0},
    {"json", KEY_JSON, NULL, 0, "for machines", 0},
    {"keep", KEY_KEEP, NULL, 0, "keep what the runs printed, wrote and recorded, and say where", 0},
    {0},
};

struct arguments {
    struct probe probe;
    bool json, keep, audit;
};

/* observe is always run, and none moves nothing: there is nothing to ask about them. */
static bool moves_work(const char *policy)
{
    return strcmp(policy, "observe") != 0 && strcmp(policy, "none") != 0;
}

static void add_policy(struct probe *probe, const char *name, struct argp_state *state)
{
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i], name) == 0 && moves_work(name)) {
            rounds_add_policy(probe, policies[i], true);
            return;
        }
    argp_error(state, "--policy %s: guarded, per-thread or stream", name);
}

static void add_all(struct probe *probe)
{
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        if (moves_work(policies[i]))
            rounds_add_policy(probe, policies[i], false);
    if (probe->lanes == LANES_NOT)
        probe->lanes = LANES_WHERE_THEY_LIMIT;
}

static unsigned parse_rounds(const char *option, const char *arg, struct argp_state *state)
{
    unsigned long value;
    if (!number_between(arg, 1, MOST_ROUNDS, &value))
        argp_error(state, "%s %s: a number from 1 to %d", option, arg, MOST_ROUNDS);
    return (unsigned)value;
}

/* A number alone is seconds here, as of timeout(1). */
static uint64_t parse_timeout(const char *arg, struct argp_state *state)
{
    char *end;
    uint64_t ns;
    double seconds = strtod(arg, &end);
    if (end != arg && *end == 0 && seconds >= 0.001 && seconds < 1e8)
        return (uint64_t)(seconds * 1e9);
    if (!duration_read(arg, &ns) || ns < 1000000)
        argp_error(state, "--timeout %s: seconds, or %s", arg, DURATION_WORDS);
    return ns;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct probe *probe = &arguments->probe;
    char error[PROBE_ERROR_SIZE];
    switch (key) {
    case 'p': add_policy(probe, arg, state); return 0;
    case KEY_ALL: add_all(probe); return 0;
    case KEY_LANES: probe->lanes = LANES_IN_ANY_CASE; return 0;
    case 'r': probe->rounds = parse_rounds("--rounds", arg, state); return 0;
    case KEY_SHAKE: probe->seeds = parse_rounds("--shake", arg, state); return 0;
    case 'o':
        if (!outputs_add(&probe->outputs, arg, error))
            argp_error(state, "%s", error);
        return 0;
    case 'c': probe->command = arg; return 0;
    case 't': probe->timeout_ns = parse_timeout(arg, state); return 0;
    case KEY_AUDIT: arguments->audit = true; return 0;
    case KEY_JSON: arguments->json = true; return 0;
    case KEY_KEEP: arguments->keep = true; return 0;
    case ARGP_KEY_ARG:
        probe->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which program? ptds probe [OPTION...] -- PROGRAM ARGS..."); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Times that change as fast as the line does help nobody. */
static const uint64_t SHOWN_NS = 1000000000;

static void show(struct probe_watch *watch, const char *variant, unsigned round, unsigned done, unsigned all, uint64_t ns)
{
    (void)watch;
    struct line where = {0};
    if (round == 0)
        line_add(&where, "warm-up");
    else
        line_add(&where, "round %u", round);
    line_add(&where, ", %s: run %u of %u", variant, done + 1, all);
    if (ns >= SHOWN_NS)
        line_add(&where, ", %s", text_ns(ns).text);
    fprintf(stderr, "\r\033[K%s", where.text);
    fflush(stderr);
}

static void say_waiting(void)
{
    fprintf(stderr, "ptds probe: reading standard input to its end (</dev/null gives none)\n");
}

static void write_out(struct text_sink *sink, const char *text, size_t size)
{
    fwrite(text, 1, size, sink->data);
}

/* The screen, or why there is none. The exit status. */
static int tell(const struct arguments *arguments)
{
    const struct probe *probe = &arguments->probe;
    struct text_sink sink = {.write = write_out, .data = stdout};
    const struct variant *bare = &probe->variants[VARIANT_BARE];
    if (bare->facts.ending.end == END_NOT_STARTED) {
        fprintf(stderr, "ptds probe: %s: %s\n", probe->program[0], strerror(bare->facts.ending.code));
        return EXIT_USAGE;
    }
    if (!arguments->json)
        probe_screen(probe, arguments->keep, &sink);
    else if (probe_json(probe, arguments->keep, &sink) != 0) {
        fprintf(stderr, "ptds probe: no memory\n");
        return EXIT_UNREADABLE;
    }
    if (fflush(stdout) != 0) {
        if (errno != EPIPE) /* who reads a few lines of it has had enough */
            fprintf(stderr, "ptds probe: stdout: %s\n", strerror(errno));
        return EXIT_UNREADABLE;
    }
    return policy_answer_status(&conclude_first(probe)->answer);
}

static void complain(const char *error)
{
    fprintf(stderr, "ptds probe: %s\n", error);
}

/* Everything that is begun here is ended here, whatever happens in between. */
static int probe_all(struct arguments *arguments)
{
    struct probe *probe = &arguments->probe;
    char error[PROBE_ERROR_SIZE] = "";
    struct probe_watch watch = {.look = show};
    bool terminal = isatty(STDERR_FILENO) != 0, sound;
    probe->watch = terminal ? &watch : NULL;
    child_signals_begin();
    sound = standard_input_take(&probe->folder, say_waiting, &probe->input);
    if (!sound)
        snprintf(error, sizeof error, "standard input: %s", strerror(errno));
    sound = sound && rounds_run(probe, error);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    if (!sound)
        complain(error);
    bool put_back = outputs_end(&probe->outputs, complain);
    int status = EXIT_USAGE;
    if (sound) {
        conclude(probe);
        status = tell(arguments);
        status = put_back ? status : EXIT_UNREADABLE; /* no answer makes good for a file that is not where it was */
    }
    child_signals_end();
    rounds_end(probe);
    return status;
}

static const struct argp probe_argp = {
    .options = options, .parser = parse, .args_doc = "[--] PROGRAM [ARGS...]", .doc = manual};
static const struct verb_values probe_values[] = {{'p', "guarded per-thread stream"}, {0, NULL}};

static int run_verb(int argc, char **argv)
{
    char name[] = "ptds probe", path[PATH_MAX], auditor[PATH_MAX], error[LIBRARY_ERROR_SIZE] = "";
    static struct arguments arguments;
    arguments.probe.rounds = DEFAULT_ROUNDS;
    argv[0] = name;
    rounds_begin(&arguments.probe);
    rounds_add_policy(&arguments.probe, policies[0], false);
    argp_parse(&probe_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    if (conclude_first(&arguments.probe) == NULL)
        rounds_add_policy(&arguments.probe, policies[0], true);
    if (!shim_library_find(path, error) || (arguments.audit && !shim_library_auditor(path, auditor, error))) {
        fprintf(stderr, "ptds probe: %s\n", error);
        return EXIT_USAGE;
    }
    variables_warn(name);
    arguments.probe.library = path;
    arguments.probe.auditor = arguments.audit ? auditor : NULL;
    if (!folder_make(&arguments.probe.folder)) {
        fprintf(stderr, "ptds probe: a temporary folder: %s\n", strerror(errno));
        return EXIT_USAGE;
    }
    int status = probe_all(&arguments);
    if (!arguments.keep)
        folder_remove(&arguments.probe.folder);
    return status;
}

const struct verb verb_probe = {"probe", "should a program use it, and what does it gain?", run_verb, &probe_argp,
                                probe_values};

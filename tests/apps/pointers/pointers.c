// SPDX-License-Identifier: Apache-2.0
//
// pointers [--lanes] [--spin-ns N] [--repeat N] [--list] [ROW...]: kernels that get at memory in every way that their
// parameters do not plainly name. One thread has a slow operation on the memory, a second one, told by an atomic, one that
// must come after it in legacy's order (pointers.h has the schemes). Prints `row: right`, `row: WRONG` with the
// schemes, or `row: not here` with the reason, and `(a known limit)` behind rows that need not be right. --lanes: one
// thread does both, for policies that spread one thread's work. --spin-ns (20000000): how long the first operation takes.
// --list prints the rows' names and runs nothing. Run by scripts/gpu and the test beside it.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/load.h"
#include "tests/apps/pointers/pointers.h"

enum { SPIN_NS = 20000000, CASE_SECONDS = 30, LOOK_MS = 100, MOST_CHOSEN = 256 };

static const struct row *const groups[] = {rows_table, rows_memory, rows_variable, rows_other, rows_load, rows_number};
enum { GROUPS = sizeof groups / sizeof groups[0] };

struct options {
    unsigned threads, repeat, count;
    uint64_t ns;
    int list;
    const char *rows[MOST_CHOSEN];
};

static const char *const scheme_names[SCHEMES] = {"write", "read", "late", "keep"};

static const char *row_at_work; // NULL: none; by atomics
static unsigned case_number;

// A case that hangs ends the program.
static void *watch(void *unused)
{
    unsigned seen = 0, still_ms = 0;
    (void)unused;
    for (;; still_ms += LOOK_MS, app_sleep_ms(LOOK_MS)) {
        unsigned now = __atomic_load_n(&case_number, __ATOMIC_ACQUIRE);
        const char *row = __atomic_load_n(&row_at_work, __ATOMIC_ACQUIRE);
        if (now != seen || !row)
            still_ms = 0;
        seen = now;
        if (still_ms > CASE_SECONDS * 1000u) {
            printf("%s: WRONG: hangs\n", row);
            fflush(stdout);
            _Exit(1);
        }
    }
    return NULL;
}

static int try_scheme(struct app *app, const struct row *row, enum scheme scheme, const struct options *o, const char **no)
{
    static struct scene s;
    int right = 1;
    __atomic_add_fetch(&case_number, 1, __ATOMIC_RELEASE);
    memset(&s, 0, sizeof s);
    s.app = app;
    s.row = row;
    s.scheme = scheme;
    s.ns = o->ns;
    scene_make(&s);
    if (!s.no)
        right = scheme_run(&s, o->threads);
    *no = s.no;
    scene_end(&s);
    return right;
}

static void print_row(const struct row *row, unsigned wrong, const char *no)
{
    const char *before = ": ";
    printf("%s: %s", row->name, no ? "not here: " : wrong ? "WRONG" : "right");
    for (unsigned scheme = 0; scheme < SCHEMES && !no; scheme++)
        if (wrong & 1u << scheme) {
            printf("%s%s", before, scheme_names[scheme]);
            before = ", ";
        }
    printf("%s%s\n", no ? no : "", row->limit ? " (a known limit)" : "");
    fflush(stdout);
}

// Whether the row is right, or need not be.
static int try_row(struct app *app, const struct row *row, const struct options *o)
{
    unsigned wrong = 0;
    const char *no = NULL;
    __atomic_store_n(&row_at_work, row->name, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < o->repeat && !no; i++)
        for (unsigned scheme = 0; scheme < SCHEMES && !no; scheme++)
            if (row->schemes == ALL_SCHEMES || row->schemes & 1 << scheme)
                wrong |= (unsigned)!try_scheme(app, row, scheme, o, &no) << scheme;
    __atomic_store_n(&row_at_work, NULL, __ATOMIC_RELEASE);
    print_row(row, wrong, no);
    return !wrong || row->limit;
}

static int is_chosen(const struct options *o, const struct row *row)
{
    for (unsigned i = 0; i < o->count; i++)
        if (strcmp(o->rows[i], row->name) == 0)
            return 1;
    return o->count == 0;
}

static const char *value_of(int argc, char **argv, int *i)
{
    if (*i + 1 >= argc) {
        fprintf(stderr, "pointers: %s needs a number\n", argv[*i]);
        exit(2);
    }
    return argv[++*i];
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {.threads = 2, .repeat = 1, .ns = SPIN_NS};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--lanes") == 0)
            o.threads = 1;
        else if (strcmp(argv[i], "--linked") == 0)
            load_links = 1;
        else if (strcmp(argv[i], "--list") == 0)
            o.list = 1;
        else if (strcmp(argv[i], "--spin-ns") == 0)
            o.ns = strtoull(value_of(argc, argv, &i), NULL, 10);
        else if (strcmp(argv[i], "--repeat") == 0)
            o.repeat = (unsigned)strtoul(value_of(argc, argv, &i), NULL, 10);
        else if (o.count < MOST_CHOSEN)
            o.rows[o.count++] = argv[i];
    }
    return o;
}

int main(int argc, char **argv)
{
    static struct app app;
    struct options o = read_options(argc, argv);
    pthread_t watcher;
    unsigned tried = 0;
    int right = 1;
    double began = 0;
    if (!o.list) {
        app_start(&app);
        pthread_create(&watcher, NULL, watch, NULL);
        began = app_now_ms();
    }
    for (unsigned g = 0; g < GROUPS; g++)
        for (const struct row *row = groups[g]; row->name; row++) {
            if (!is_chosen(&o, row))
                continue;
            tried++;
            if (o.list)
                printf("%s%s\n", row->name, row->limit ? " limit" : "");
            else
                right &= try_row(&app, row, &o);
        }
    if (tried < o.count)
        printf("WRONG no such row\n");
    right &= tried >= o.count;
    return o.list ? !right : app_finish(right, app_digest(APP_DIGEST, &tried, sizeof tried), app_now_ms() - began);
}

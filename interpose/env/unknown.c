/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of variables that nothing reads. Called by env.c when it reads the others, and by the command. A misspelt setting
 * is no setting: the program would run in a way that was not asked for, and nobody would know. Must not allocate, lock or
 * use stdio.
 */
#include "interpose/env/unknown.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "interpose/base/diag.h"

static const char *const variables[] = {
#define ENV(VARIABLE, field, type, initial, allowed, doc) #VARIABLE,
#include "interpose/env/env.def"
    /* What the command and the library say to each other, and what scripts read. */
    "PTDS_RUN", "PTDS_MOMENTS", "PTDS_LIBRARY", "PTDS_CUDA_HEADERS", "PTDS_WHOLE",
};
enum { VARIABLES = sizeof variables / sizeof variables[0], LONGEST = 40, NEAR = 2, LETTERS_A_SLIP = 5 };

static size_t least_of(size_t a, size_t b, size_t c)
{
    return a < b ? (a < c ? a : c) : b < c ? b : c;
}

/* How many letters are too many, too few, wrong or swapped with the next one. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[3][LONGEST + 1];
    if (a_size > LONGEST || b_size > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least_of(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[a_size % 3][b_size];
}

/* The known name that it is most like, if it is that much like it; it itself where it is known. */
static const char *nearest(const char *name, size_t size, size_t *letters)
{
    const char *found = NULL;
    *letters = NEAR + 1;
    for (size_t i = 0; i < VARIABLES; i++) {
        size_t apart = distance(name, size, variables[i], strlen(variables[i]));
        if (apart < *letters) {
            *letters = apart;
            found = variables[i];
        }
    }
    return found;
}

void unknown_each(void (*each)(const char *name, size_t size, const char *nearest, void *context), void *context)
{
    for (char **at = environ; at && *at; at++) {
        size_t size = strcspn(*at, "="), letters;
        int ours = strncmp(*at, "PTDS_", 5) == 0;
        if (!ours && (!strchr("PTDS", **at) || strcspn(*at, "_") < 3 || strcspn(*at, "_") > 5))
            continue; /* of the many others none is worth the comparison */
        const char *like = nearest(*at, size, &letters);
        if (letters != 0 && (ours || letters == 1))
            each(*at, size, letters * LETTERS_A_SLIP <= size ? like : NULL, context);
    }
}

static void say(const char *name, size_t size, const char *like, void *unused)
{
    char copy[100];
    (void)unused;
    size = size < sizeof copy ? size : sizeof copy - 1;
    memcpy(copy, name, size);
    copy[size] = '\0';
    diag_line(DIAG_ERROR, copy, " is set, which nothing reads", like ? "; is it " : "", like ? like : "", like ? "?" : "",
              NULL);
}

void unknown_say(void)
{
    unknown_each(say, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the program's files aside and back. Called by rounds.c and the verb. Must never lose a file that was there: it is
 * renamed, in its own folder, and renamed back; the runs get copies.
 */
#include "analysis/probe/runs/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(char *error, const char *name, const char *why)
{
    snprintf(error, OUTPUTS_ERROR_SIZE, "--output %s: %s", name, why);
    return false;
}

static bool no_room(char *error, const char *name)
{
    return fail(error, name, strerror(ENAMETOOLONG));
}

/* The folder's real path, and the name in it; a link to a file becomes that file. */
static bool resolve(const char *name, struct path *out)
{
    char folder[PATH_MAX], real[PATH_MAX];
    if (realpath(name, out->text) != NULL)
        return true;
    const char *slash = strrchr(name, '/'), *base = slash != NULL ? slash + 1 : name;
    int size = snprintf(folder, sizeof folder, "%.*s",
                        slash == NULL   ? 1
                        : slash == name ? 1
                                        : (int)(slash - name),
                        slash == NULL ? "." : name);
    if ((size_t)size >= sizeof folder || *base == 0 || realpath(folder, real) == NULL)
        return false;
    size = snprintf(out->text, sizeof out->text, "%s/%s", strcmp(real, "/") != 0 ? real : "", base);
    return (size_t)size < sizeof out->text;
}

bool outputs_add(struct outputs *outputs, const char *name, char *error)
{
    struct stat status;
    struct output output = {.name = name};
    if (outputs->count == OUTPUTS_MOST)
        return fail(error, name, "too many files");
    if (!resolve(name, &output.path))
        return fail(error, name, strerror(errno));
    /* A link that leads nowhere is no plain file, either. */
    if (lstat(output.path.text, &status) == 0 && !S_ISREG(status.st_mode))
        return fail(error, name, "not a plain file");
    for (size_t i = 0; i < outputs->count; i++)
        if (strcmp(outputs->items[i].path.text, output.path.text) == 0)
            return fail(error, name, "named twice");
    outputs->items[outputs->count++] = output;
    return true;
}

static bool put_aside(struct output *output, char *error)
{
    struct stat status;
    struct path aside;
    if (lstat(output->path.text, &status) != 0)
        return errno == ENOENT || fail(error, output->name, strerror(errno));
    int size = snprintf(aside.text, sizeof aside.text, "%s.ptds-probe-%d", output->path.text, (int)getpid());
    if ((size_t)size >= sizeof aside.text)
        return no_room(error, output->name);
    if (lstat(aside.text, &status) == 0)
        return fail(error, aside.text, "is there already");
    if (rename(output->path.text, aside.text) != 0)
        return fail(error, output->name, strerror(errno));
    output->aside = aside;
    return true;
}

bool outputs_begin(struct outputs *outputs, char *error)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (!put_aside(&outputs->items[i], error)) {
            while (i-- > 0)
                if (outputs->items[i].aside.text[0] != 0)
                    rename(outputs->items[i].aside.text, outputs->items[i].path.text);
            return false;
        }
    outputs->begun = true;
    return true;
}

bool outputs_restore(const struct outputs *outputs, char *error)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct output *output = &outputs->items[i];
        if (unlink(output->path.text) != 0 && errno != ENOENT)
            return fail(error, output->name, strerror(errno));
        if (output->aside.text[0] != 0 && !folder_copy_file(output->aside.text, output->path.text))
            return fail(error, output->name, strerror(errno));
    }
    return true;
}

bool outputs_take(const struct outputs *outputs, const struct folder *folder, const char *variant, unsigned round,
                  char *error)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct output *output = &outputs->items[i];
        struct stat status;
        struct path to = folder_thing(folder, variant, round, THING_FILES + i);
        bool there = stat(output->path.text, &status) == 0;
        if (!there && errno == ENOENT)
            continue;
        if (!there || !S_ISREG(status.st_mode))
            return fail(error, output->name, there ? "not a plain file any more" : strerror(errno));
        if (!folder_copy_file(output->path.text, to.text))
            return fail(error, output->name, strerror(errno));
    }
    return true;
}

static bool put_back(struct output *output, char *error)
{
    struct stat status;
    if (output->aside.text[0] != 0) {
        if (rename(output->aside.text, output->path.text) != 0) {
            snprintf(error, OUTPUTS_ERROR_SIZE, "--output %.1000s: %s; the file is %.2000s", output->name, strerror(errno),
                     output->aside.text);
            return false;
        }
        output->aside.text[0] = 0;
        return true;
    }
    if (lstat(output->path.text, &status) == 0 && S_ISREG(status.st_mode) && unlink(output->path.text) != 0)
        return fail(error, output->name, strerror(errno));
    return true;
}

bool outputs_end(struct outputs *outputs, void (*complain)(const char *error))
{
    char error[OUTPUTS_ERROR_SIZE];
    bool sound = true;
    for (size_t i = 0; outputs->begun && i < outputs->count; i++)
        if (!put_back(&outputs->items[i], error)) {
            complain(error);
            sound = false;
        }
    outputs->begun = false;
    return sound;
}

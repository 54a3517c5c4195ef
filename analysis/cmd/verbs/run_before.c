/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at the settings and the program before `ptds run` becomes it: values that the library refuses, files that it would
 * overwrite, programs that it can't get into. Must not write anything but messages.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "analysis/base/text.h"
#include "analysis/cmd/output/output_file.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/cmd/verbs/run_before.h"
#include "interpose/env/env.h"

struct looking {
    char *error;
    bool fine;
};

static void look_at_value(const char *name, const char *value, void *data)
{
    struct looking *looking = data;
    const char *allowed = env_refuses(name, value);
    if (allowed == NULL || !looking->fine)
        return;
    looking->fine = false;
    snprintf(looking->error, RUN_ERROR_SIZE, "%s=%s: not allowed; %s", name, value, allowed);
}

bool run_before_values_may_be(char *error)
{
    struct looking looking = {error, true};
    env_each_set(look_at_value, &looking);
    return looking.fine;
}

/* The folder that the library will open the file in. */
static int folder_trouble(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    struct stat status;
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (stat(folder, &status) != 0)
        return errno;
    if (!S_ISDIR(status.st_mode))
        return ENOTDIR;
    return access(folder, W_OK | X_OK) != 0 ? errno : 0;
}

static const char *trouble_with(const struct output_place *place, bool trace)
{
    bool regular = place->there && S_ISREG(place->status.st_mode);
    if (!place->there)
        return folder_trouble(place->path) != 0 ? strerror(folder_trouble(place->path)) : NULL;
    if (S_ISDIR(place->status.st_mode))
        return "is a folder";
    if (!trace)
        return output_place_is_trace(place) ? "is a trace, which is not overwritten" : NULL;
    if (!regular)
        return "is no regular file";
    if (place->status.st_uid != geteuid())
        return "belongs to another user";
    if (place->status.st_size != 0 && !output_place_is_trace(place))
        return "is there and is no trace, so it is not overwritten";
    return access(place->path, R_OK | W_OK) != 0 ? strerror(errno) : NULL;
}

/* The folder of a trace, with those above it; as far as can be: what is missing then is trouble, which folder_trouble says.
 */
static void make_folder(const char *path)
{
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
        return;
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (strchr(folder, '%') != NULL || (mkdir(folder, 0777) != 0 && errno != EEXIST))
            return; /* a pattern's name is known only later */
        *slash = '/';
    }
}

/* A pattern's name is known only later; its folder, where that is no pattern, is known now. */
static bool may_be(const char *variable, bool trace, char *error)
{
    const char *value = getenv(variable);
    struct output_place place;
    if (value == NULL || value[0] == 0 || env_refuses(variable, value) != NULL)
        return true;
    const char *trouble = NULL, *slash = strrchr(value, '/'), *pattern = strchr(value, '%');
    if (trace)
        make_folder(value);
    if (pattern != NULL && (slash == NULL || slash > pattern))
        return true;
    if (pattern != NULL)
        trouble = folder_trouble(value) != 0 ? strerror(folder_trouble(value)) : NULL;
    else if (!output_place_find(&place, value))
        trouble = strerror(errno);
    else if (trace && strcmp(place.path, value) != 0)
        trouble = "is a symbolic link, which the library does not follow";
    else
        trouble = trouble_with(&place, trace);
    if (trouble != NULL)
        snprintf(error, RUN_ERROR_SIZE, "%s=%s: %s", variable, value, trouble);
    return trouble == NULL;
}

/* The variables that name a file, and the words that do not. */
static const struct {
    const char *variable, *words[2];
} files[] = {{"PTDS_TRACE", {"", ""}}, {"PTDS_REPORT", {"summary", "off"}}, {"PTDS_LOG", {"stderr", "off"}}};
enum { FILES = sizeof files / sizeof files[0] };

bool run_before_is_path(const char *variable, const char *value)
{
    for (unsigned i = 0; i < FILES; i++)
        if (strcmp(files[i].variable, variable) == 0)
            return strcmp(value, files[i].words[0]) != 0 && strcmp(value, files[i].words[1]) != 0;
    return false;
}

bool run_before_files_may_be(char *error)
{
    for (unsigned i = 0; i < FILES; i++) {
        const char *value = getenv(files[i].variable);
        if (value != NULL && run_before_is_path(files[i].variable, value) && !may_be(files[i].variable, i == 0, error))
            return false;
    }
    return true;
}

/* As execvp finds it; false if it does not. */
static bool find_program(const char *name, char *path)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/') != NULL)
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
    for (const char *at = folders != NULL ? folders : "/bin:/usr/bin"; *at != 0;) {
        int size = (int)strcspn(at, ":");
        if (snprintf(path, PATH_MAX, "%.*s%s%s", size, at, size != 0 ? "/" : "", name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
        at += size + (at[size] == ':');
    }
    return false;
}

/* Whether a program has no loader that would look at LD_PRELOAD. Scripts and other machines' programs are not judged. */
static bool is_static(int file)
{
    Elf64_Ehdr header;
    Elf64_Phdr part;
    bool dynamic = false;
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof part)
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (pread(file, &part, sizeof part, (off_t)(header.e_phoff + i * sizeof part)) != (ssize_t)sizeof part)
            return false;
        dynamic |= part.p_type == PT_INTERP;
    }
    return !dynamic;
}

/* Whether the words, or one of them for a shell, start something by `env -i`. */
static bool clears_environment(char **words)
{
    static const char *const options[] = {"-i", "-", "--ignore-environment"};
    static const char *const texts[] = {"env -i ", "env - ", "env --ignore-environment "};
    for (size_t at = 0; words[at] != NULL; at++)
        for (unsigned i = 0; i < sizeof options / sizeof options[0]; i++)
            if (strstr(words[at], texts[i]) != NULL || (words[at + 1] != NULL && strcmp(words[at + 1], options[i]) == 0 &&
                                                        strcmp(text_base(words[at]), "env") == 0))
                return true;
    return false;
}

void run_before_warn(char **words)
{
    const char *program = words[0];
    if (clears_environment(words))
        fprintf(stderr, "ptds run: `env -i` takes LD_PRELOAD away: nothing that it starts is moved or recorded; put "
                        "`ptds run --` behind it\n");
    char path[PATH_MAX];
    struct stat status;
    const char *why = NULL;
    int file = find_program(program, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        if ((status.st_mode & S_ISUID && status.st_uid != geteuid()) ||
            (status.st_mode & S_ISGID && status.st_gid != getegid()))
            why = "is set-user-ID or set-group-ID";
        else if (geteuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0)
            why = "has file capabilities";
        else if (is_static(file))
            why = "is statically linked";
    }
    if (why != NULL)
        fprintf(stderr, "ptds run: %s %s: libptds.so can't be preloaded into it, so nothing is moved or recorded\n", path,
                why);
    if (file >= 0)
        close(file);
}

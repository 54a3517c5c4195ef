/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and removes what the probe keeps. Called by all of the probe. Must remove nothing but what lies in its own folder.
 */
#include "analysis/probe/runs/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DESCRIPTORS = 16 };

bool folder_make(struct folder *folder)
{
    const char *where = getenv("TMPDIR");
    int size = snprintf(folder->path, sizeof folder->path, "%s/ptds-probe-XXXXXX",
                        where != NULL && where[0] == '/' ? where : "/tmp");
    if ((size_t)size >= sizeof folder->path) {
        folder->path[0] = 0;
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdtemp(folder->path) != NULL)
        return true;
    folder->path[0] = 0;
    return false;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    remove(path);
    return 0;
}

void folder_remove(struct folder *folder)
{
    if (folder->path[0] != 0)
        nftw(folder->path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    folder->path[0] = 0;
}

struct path folder_file(const struct folder *folder, const char *name)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/%.200s", folder->path, name);
    return path;
}

struct path folder_thing(const struct folder *folder, const char *variant, unsigned round, size_t thing)
{
    char name[100];
    const char *kind = thing == THING_OUT ? "out" : thing == THING_ERR ? "err" : "file";
    int used = snprintf(name, sizeof name, "%.40s.%u.%s", variant, round, kind);
    if (thing >= THING_FILES)
        snprintf(name + used, sizeof name - (size_t)used, "%zu", thing - THING_FILES + 1);
    return folder_file(folder, name);
}

static struct path folder_of(const struct folder *folder, const char *variant, const char *what)
{
    char name[100];
    snprintf(name, sizeof name, "%.40s.%s", variant, what);
    return folder_file(folder, name);
}

struct path folder_traces(const struct folder *folder, const char *variant)
{
    return folder_of(folder, variant, "traces");
}

struct path folder_moments(const struct folder *folder, const char *variant)
{
    return folder_of(folder, variant, "moments");
}

static bool pour(int from, int to)
{
    char piece[1 << 16];
    ssize_t size;
    while ((size = read(from, piece, sizeof piece)) != 0) {
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return false;
        for (ssize_t done = 0, put; done < size; done += put)
            if ((put = write(to, piece + done, (size_t)(size - done))) < 0)
                return false;
    }
    return true;
}

bool folder_copy_file(const char *from, const char *to)
{
    struct stat status;
    int source = open(from, O_RDONLY | O_CLOEXEC), target = -1;
    if (source >= 0 && fstat(source, &status) == 0)
        target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool sound = target >= 0 && pour(source, target) && fchmod(target, status.st_mode & 07777) == 0;
    int why = errno;
    if (source >= 0)
        close(source);
    if (target >= 0 && close(target) != 0 && sound) {
        why = errno;
        sound = false;
    }
    if (!sound && target >= 0)
        unlink(to);
    errno = why;
    return sound;
}

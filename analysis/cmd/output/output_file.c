/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens, watches and places what a verb writes. Called by every verb that has an output file. Must never truncate, replace
 * or remove anything but its own temporary file before the result is whole.
 */
#include "analysis/cmd/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/output/output_place.h"
#include "analysis/cmd/output/output_temporary.h"
#include "analysis/cmd/terminal/progress.h"

enum { BUFFER = 1 << 16 };

static int fail(const struct output_file *output, int error, int status)
{
    fprintf(stderr, "%s: %s: %s\n", output->verb, output->name, strerror(error));
    return status;
}

static int refuse(const struct output_file *output, const char *why)
{
    fprintf(stderr, "%s: -o %s: %s\n", output->verb, output->name, why);
    return EXIT_USAGE;
}

/* The stream's own errors come late and without their reason: here they are seen. */
static ssize_t write_through(void *data, const char *text, size_t size)
{
    struct output_file *output = data;
    size_t done = 0;
    while (done < size && output->error == 0) {
        ssize_t now = write(output->fd, text + done, size - done);
        if (now > 0)
            done += (size_t)now;
        else if (now == 0 || errno != EINTR)
            output->error = now == 0 ? EIO : errno;
    }
    output->bytes += done;
    progress_bytes(&output->progress, output->bytes);
    return (ssize_t)done;
}

static bool open_stream(struct output_file *output)
{
    output->file = fopencookie(output, "w", (cookie_io_functions_t){.write = write_through});
    return output->file != NULL && setvbuf(output->file, NULL, _IOFBF, BUFFER) == 0;
}

/* As the file that it replaces, or as a new one would be. */
static void set_mode(const struct output_file *output)
{
    mode_t mask = umask(0);
    umask(mask);
    if (!output->place.there) {
        fchmod(output->fd, 0666 & ~mask);
        return;
    }
    if (fchown(output->fd, output->place.status.st_uid, output->place.status.st_gid) != 0)
        errno = 0; /* another user's: it will be ours */
    fchmod(output->fd, output->place.status.st_mode & 0777);
}

/* Where no file can be made beside one that may be written to, the result is copied into it at the end. */
static bool open_beside(struct output_file *output)
{
    if (output->place.there && access(output->place.path, W_OK) != 0)
        return false;
    output->kind = OUTPUT_BESIDE;
    output->fd = output_temporary_make(output->temporary, output->place.path);
    if (output->fd < 0 && output->place.there && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        output->kind = OUTPUT_COPIED;
        output->fd = output_temporary_make_elsewhere(output->temporary);
    } else if (output->fd >= 0) {
        set_mode(output);
    }
    return output->fd >= 0;
}

static int open_as_it_is(const struct output_place *place)
{
    if (place->descriptor >= 0)
        return fcntl(place->descriptor, F_DUPFD_CLOEXEC, 3);
    return open(place->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

static bool open_direct(struct output_file *output, bool by_path)
{
    output->kind = by_path ? OUTPUT_COPIED : OUTPUT_DIRECT;
    output->fd = by_path ? output_temporary_make_elsewhere(output->temporary) : open_as_it_is(&output->place);
    return output->fd >= 0;
}

/* `>> app.ptds` would append to it. */
static bool stdout_is_input(struct output_file *output, struct output_inputs inputs)
{
    char *path = output->place.path; /* it may be one of a folder that is read */
    ssize_t size = readlink("/proc/self/fd/1", path, sizeof output->place.path - 1);
    path[size > 0 ? size : 0] = 0;
    output->place.there = fstat(STDOUT_FILENO, &output->place.status) == 0;
    return output_place_is_input(&output->place, inputs);
}

int output_file_begin(struct output_file *output, const char *verb, const char *path, struct output_inputs inputs,
                      bool by_path)
{
    bool to_stdout = path == NULL || strcmp(path, "-") == 0;
    *output = (struct output_file){.verb = verb, .name = to_stdout ? "stdout" : path, .fd = -1};
    progress_begin(&output->progress, NULL, true);
    output->progress.name = output->name;
    if (to_stdout) {
        output->file = stdout;
        return stdout_is_input(output, inputs) ? refuse(output, "that is the trace that is being read") : EXIT_CLEAN;
    }
    if (path[0] == 0)
        return refuse(output, "a file's name is needed");
    if (!output_place_find(&output->place, path))
        return fail(output, errno, EXIT_UNREADABLE);
    if (output_place_is_input(&output->place, inputs))
        return refuse(output, "that is the trace that is being read");
    if (output_place_is_trace(&output->place))
        return refuse(output, "that is a trace, which is not overwritten");
    if (output->place.there && S_ISDIR(output->place.status.st_mode))
        return fail(output, EISDIR, EXIT_UNREADABLE);
    bool replaced = output->place.descriptor < 0 && (!output->place.there || S_ISREG(output->place.status.st_mode));
    if (!(replaced ? open_beside(output) : open_direct(output, by_path)))
        return fail(output, errno, EXIT_UNREADABLE);
    if (by_path)
        output->path = output->temporary;
    else if (!open_stream(output))
        return fail(output, errno, EXIT_UNREADABLE);
    return EXIT_CLEAN;
}

bool output_file_any(struct output_file *output)
{
    if (output->file != NULL && output->kind != OUTPUT_STDOUT)
        fflush(output->file);
    return output->bytes != 0;
}

static bool copy(int from, int to)
{
    char block[BUFFER];
    ssize_t size;
    while ((size = read(from, block, sizeof block)) > 0) {
        for (ssize_t done = 0; done < size;) {
            ssize_t now = write(to, block + done, (size_t)(size - done));
            if (now < 0 && errno != EINTR)
                return false;
            done += now > 0 ? now : 0;
        }
    }
    return size == 0;
}

/* What is there is written over only when there is room for all of it. */
static bool copy_over(const struct output_file *output, int from, int to)
{
    struct stat size, before;
    if (fstat(from, &size) != 0 || fstat(to, &before) != 0)
        return false;
    if (!S_ISREG(before.st_mode) || output->place.descriptor >= 0)
        return copy(from, to);
    int error = size.st_size > before.st_size ? posix_fallocate(to, before.st_size, size.st_size - before.st_size) : 0;
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL) {
        if (ftruncate(to, before.st_size) != 0)
            return false;
        errno = error;
        return false;
    }
    return copy(from, to) && ftruncate(to, size.st_size) == 0;
}

static int copy_into_place(const struct output_file *output)
{
    int from = open(output->temporary, O_RDONLY | O_CLOEXEC);
    int to = from >= 0 ? open_as_it_is(&output->place) : -1;
    int error = to >= 0 && copy_over(output, from, to) ? 0 : errno;
    if (to >= 0 && close(to) != 0 && error == 0)
        error = errno;
    if (from >= 0)
        close(from);
    return error;
}

/* What lay there may have become something else meanwhile. A mounted file can't be replaced. */
static int rename_into_place(const struct output_file *output)
{
    struct stat now;
    if (lstat(output->place.path, &now) == 0 && !S_ISREG(now.st_mode))
        return EEXIST;
    if (rename(output->temporary, output->place.path) == 0) {
        output_temporary_forget();
        return 0;
    }
    return errno == EBUSY ? copy_into_place(output) : errno;
}

static int end_stream(struct output_file *output)
{
    bool failed = false;
    errno = 0;
    if (output->kind == OUTPUT_STDOUT)
        failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    else if (output->file != NULL)
        failed = fclose(output->file) != 0;
    if (failed && output->error == 0)
        output->error = errno != 0 ? errno : EIO;
    if (output->fd >= 0 && close(output->fd) != 0 && output->error == 0)
        output->error = errno;
    progress_end(&output->progress);
    return output->error;
}

int output_file_end(struct output_file *output, bool whole)
{
    int error = end_stream(output);
    if (error == 0 && whole && output->kind == OUTPUT_BESIDE)
        error = rename_into_place(output);
    else if (error == 0 && whole && output->kind == OUTPUT_COPIED)
        error = copy_into_place(output);
    output_temporary_remove();
    return error == 0 ? EXIT_CLEAN : fail(output, error, EXIT_UNREADABLE);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Files in memory. Called by compare_runs.c. Must never write to them.
 */
#include "analysis/probe/outputs/view.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/line.h"

struct view view_open(const char *path)
{
    struct view view = {.bytes = {"", 0}};
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return view;
    view.there = fstat(file, &status) == 0;
    if (view.there && status.st_size > 0) {
        void *at = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
        view.there = at != MAP_FAILED;
        if (view.there) {
            view.mapped = (size_t)status.st_size;
            view.bytes = (struct bytes){at, view.mapped};
        }
    }
    close(file);
    return view;
}

void view_close(struct view *view)
{
    if (view->mapped != 0)
        munmap((void *)view->bytes.at, view->mapped);
    *view = (struct view){0};
}

void view_drop_own_lines(struct view *view, struct line *said)
{
    static const char own[] = "ptds: ";
    char *to = (char *)view->bytes.at;
    const char *at = view->bytes.at, *end = at + view->bytes.size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline != NULL ? newline + 1 : end;
        bool is_own = (size_t)(next - at) >= sizeof own - 1 && memcmp(at, own, sizeof own - 1) == 0;
        if (is_own && said->used == 0)
            said->used = text_clean(said->text, sizeof said->text, at, (size_t)(next - at) - (newline != NULL));
        if (!is_own) {
            memmove(to, at, (size_t)(next - at));
            to += next - at;
        }
        at = next;
    }
    view->bytes.size = (size_t)(to - view->bytes.at);
}

void view_last_lines(const struct view *view, struct line *lines, size_t count)
{
    struct bytes rest = view->bytes;
    for (size_t i = count; i-- > 0 && rest.size != 0;) {
        size_t size = rest.size - (rest.at[rest.size - 1] == '\n'), from = size;
        while (from != 0 && rest.at[from - 1] != '\n')
            from--;
        lines[i].used = text_clean(lines[i].text, sizeof lines[i].text, rest.at + from, size - from);
        rest.size = from;
    }
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Expands trace paths. Called at start and when a child finds its parent's trace in use. No allocation, no stdio.
 */
#include "interpose/record/file/path.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int first_number(const char *const *names)
{
    for (; *names; names++) {
        const char *value = getenv(*names);
        if (value && *value >= '0' && *value <= '9')
            return (int)strtol(value, NULL, 10);
    }
    return -1;
}

int path_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "RANK", NULL};
    return first_number(names);
}

int path_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "WORLD_SIZE", NULL};
    return first_number(names);
}

uint64_t path_process_born(void)
{
    char stat[1024];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, stat, sizeof stat - 1);
    if (file >= 0)
        close(file);
    if (size <= 0)
        return 0;
    stat[size] = '\0';
    const char *field = strrchr(stat, ')'); /* the end of field 2, which may hold anything */
    for (int i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    return field ? strtoull(field, NULL, 10) : 0;
}

size_t path_decimal(uint64_t number, char *out)
{
    char digits[20];
    size_t count = 0, length = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        out[length++] = digits[--count];
    out[length] = '\0';
    return length;
}

static size_t append(char *out, size_t used, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1 - used);
    memcpy(out + used, text, length);
    out[used + length] = '\0';
    return used + length;
}

static int expansion(char letter, char *text, size_t size)
{
    switch (letter) {
    case 'h':
        if (gethostname(text, size) != 0)
            strcpy(text, "host");
        text[size - 1] = '\0';
        return 1;
    case 'p': path_decimal((uint64_t)getpid(), text); return 1;
    case 'r': path_decimal((uint64_t)(path_rank() < 0 ? 0 : path_rank()), text); return 1;
    case '%': strcpy(text, "%"); return 1;
    default: return 0;
    }
}

void path_expand(const char *pattern, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (; *pattern; pattern++) {
        char text[256] = {*pattern, '\0'};
        if (*pattern == '%' && pattern[1] && expansion(pattern[1], text, sizeof text))
            pattern++;
        used = append(out, used, size, text);
    }
}

void path_append_number(char *path, size_t at, size_t size, uint64_t number)
{
    char digits[21];
    path_decimal(number, digits);
    path[at] = '\0';
    at = append(path, at, size, ".");
    append(path, at, size, digits);
}

void path_append_pid(char *path, size_t size)
{
    path_append_number(path, strlen(path), size, (uint64_t)getpid());
}

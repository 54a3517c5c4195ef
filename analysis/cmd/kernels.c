/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds kernels`: what the kernels of files touch, read from their code. Runs nothing and needs no GPU. Must not say of a
 * file that it could not read that there are no kernels in it.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/cmd/cmd.h"
#include "analysis/cmd/number.h"
#include "analysis/cmd/verbs.h"
#include "analysis/kernels/kernels.h"
#include "analysis/views/json/value.h"

static const char manual[] =
    "Says for each kernel of a program, library, object file, cubin, fatbin or PTX file what memory it touches, by its own "
    "code: which pointers among its parameters it reads and writes through, which pointers it loads from memory, which "
    "variables it uses. Needs no GPU.\v"
    "The verdict comes first:\n"
    "  direct    each address begins with a parameter's pointer or a variable\n"
    "  indirect  some begin with a pointer that lies in memory: the line says where\n"
    "  unknown   the kernel may touch anything: the line says why\n"
    "PTX is read where no machine code lies beside it, or with --ptx.\n"
    "\n"
    "Exit status: 0 all files were read, 1 one could not be (the others are shown), 2 usage.\n"
    "\n"
    "Example:\n"
    "  ptds kernels ./app\n"
    "  ptds kernels --kernel '*gemm*' --arch 90 libcublas.so.13\n"
    "  ptds kernels --format json app.cubin";

enum { KEY_KERNEL = 256, KEY_ARCH, KEY_PTX };
static const struct argp_option options[] = {
    {"format", 'f', "FORM", 0, "text (default) or json", 0},
    {"kernel", KEY_KERNEL, "GLOB", 0, "only kernels whose name, mangled or not, is like that", 0},
    {"arch", KEY_ARCH, "NN", 0, "only code for that device: 90, or sm_90", 0},
    {"ptx", KEY_PTX, NULL, 0, "PTX too where machine code lies beside it", 0},
    {0},
};

struct arguments {
    bool json;
    bool ptx;
    const char *glob;
    uint32_t arch; /* 0: any */
    char **files;
    int count;
};

/* Everything that one call of the command has seen. */
struct shown {
    const struct arguments *arguments;
    const char *file;
    struct text_sink sink;
    json_t *kernels; /* NULL: as text */
    struct code_facts facts;
    const struct code_image *image;
    uint64_t verdicts[CODE_UNKNOWN + 1];
    uint64_t images, unread; /* of this file */
    bool has_code;           /* the container at hand */
};

static void parse_arch(struct arguments *arguments, const char *arg, struct argp_state *state)
{
    unsigned long number;
    if (!number_between(strncmp(arg, "sm_", 3) == 0 ? arg + 3 : arg, 10, 9999, &number))
        argp_error(state, "--arch %s: a device's number, as 90", arg);
    else
        arguments->arch = (uint32_t)number;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'f':
        arguments->json = strcmp(arg, "json") == 0;
        if (!arguments->json && strcmp(arg, "text") != 0)
            argp_error(state, "--format %s: text or json", arg);
        return 0;
    case KEY_KERNEL: arguments->glob = arg; return 0;
    case KEY_ARCH: parse_arch(arguments, arg, state); return 0;
    case KEY_PTX: arguments->ptx = true; return 0;
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->count = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "of which file? ptds kernels FILE..."); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp kernels_argp = {.options = options, .parser = parse, .args_doc = "FILE...", .doc = manual};
const struct verb_values kernels_values[] = {{'f', "text json"}, {0, NULL}};

/* ---- kernels ---- */

static bool is_asked_for(const struct arguments *arguments, const char *name)
{
    char plain[4096];
    if (arguments->glob == NULL || fnmatch(arguments->glob, name, 0) == 0)
        return true;
    text_demangle(plain, sizeof plain, name);
    return fnmatch(arguments->glob, plain, 0) == 0;
}

static int show_kernel(void *data, const char *name)
{
    struct shown *shown = data;
    struct kernel_row row = {shown->file, name, &shown->facts};
    if (!is_asked_for(shown->arguments, name))
        return 0;
    code_read(shown->image, name, &shown->facts);
    kernel_sort(&shown->facts);
    shown->verdicts[shown->facts.verdict <= CODE_UNKNOWN ? shown->facts.verdict : CODE_UNKNOWN]++;
    if (shown->kernels != NULL)
        json_array_append_new(shown->kernels, kernel_value(&row));
    else
        kernel_line(&shown->sink, &row);
    return 0;
}

static int show_image(void *data, const struct code_image *image)
{
    struct shown *shown = data;
    shown->image = image;
    code_read_kernels(image, show_kernel, shown);
    return 0;
}

/* ---- images ---- */

static bool is_for(const struct shown *shown, const struct code_image *image)
{
    return shown->arguments->arch == 0 || shown->arguments->arch == image->arch;
}

static int note_code(void *data, const struct code_image *image)
{
    struct shown *shown = data;
    shown->has_code |= !image->is_ptx && is_for(shown, image);
    return 0;
}

static int is_wanted(void *data, const struct code_image *image)
{
    const struct shown *shown = data;
    return is_for(shown, image) && !(image->is_ptx && shown->has_code && !shown->arguments->ptx);
}

static void show_container(void *data, const uint8_t *bytes, size_t size)
{
    struct shown *shown = data;
    shown->images++;
    shown->has_code = false;
    images_plain(bytes, size, note_code, show_image, shown);
    if (images_plain(bytes, size, is_wanted, show_image, shown) < 0)
        shown->unread++;
}

/* ---- files ---- */

/* All of it, malloc's; NULL with errno. It may be a pipe. */
static uint8_t *read_file(const char *path, size_t *size)
{
    size_t room = 1 << 16;
    uint8_t *bytes = malloc(room);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 || bytes == NULL ? -1 : 1;
    struct stat status;
    if (got > 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        room += (size_t)status.st_size;
    for (*size = 0; got > 0; *size += got > 0 ? (size_t)got : 0) {
        uint8_t *more = realloc(bytes, *size < room ? room : (room *= 2));
        bytes = more != NULL ? more : bytes;
        got = more != NULL ? read(file, bytes + *size, room - *size) : -1;
    }
    int error = errno;
    if (file >= 0)
        close(file);
    if (got == 0)
        return bytes;
    free(bytes);
    errno = error;
    return NULL;
}

/* False: it, or some of it, could not be read, which is said. */
static bool show_file(struct shown *shown, const char *path)
{
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    if (bytes == NULL) {
        fprintf(stderr, "ptds kernels: %s: %s\n", path, strerror(errno));
        return false;
    }
    shown->file = path;
    shown->images = shown->unread = 0;
    int found = code_file_images(bytes, size, show_container, shown);
    free(bytes);
    if (found < 0)
        fprintf(stderr, "ptds kernels: %s: no program, library, cubin, fatbin or PTX\n", path);
    else if (shown->unread != 0)
        fprintf(stderr, "ptds kernels: %s: %llu of %llu images of device code could not be read\n", path,
                (unsigned long long)shown->unread, (unsigned long long)shown->images);
    return found >= 0 && shown->unread == 0;
}

static void to_stdout(struct text_sink *sink, const char *text, size_t size)
{
    (void)sink;
    fwrite(text, 1, size, stdout);
}

static void put_totals(struct shown *shown)
{
    const uint64_t *verdicts = shown->verdicts;
    uint64_t all = verdicts[CODE_DIRECT] + verdicts[CODE_INDIRECT] + verdicts[CODE_UNKNOWN];
    sink_printf(&shown->sink, "%s: %s direct, %s indirect, %s unknown\n", text_plural(all, "kernel").text,
                text_count(verdicts[CODE_DIRECT]).text, text_count(verdicts[CODE_INDIRECT]).text,
                text_count(verdicts[CODE_UNKNOWN]).text);
}

int cmd_kernels(int argc, char **argv)
{
    struct arguments arguments = {0};
    char name[] = "ptds kernels";
    bool all = true;
    argv[0] = name;
    argp_parse(&kernels_argp, argc, argv, 0, NULL, &arguments);
    struct shown shown = {.arguments = &arguments, .sink = {.write = to_stdout}};
    shown.kernels = arguments.json ? json_array() : NULL;
    for (int i = 0; i < arguments.count; i++)
        all &= show_file(&shown, arguments.files[i]);
    if (arguments.json)
        value_write(json_pack("{so}", "kernels", shown.kernels), &shown.sink);
    else
        put_totals(&shown);
    return all ? EXIT_CLEAN : EXIT_FINDINGS;
}

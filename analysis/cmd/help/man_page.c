/* SPDX-License-Identifier: Apache-2.0
 *
 * The man page, made of the same table as --help and of the library's variables. Called by `ptds help --man`. Must escape
 * whatever troff would take for a command.
 */
#include "analysis/cmd/help/man_page.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/cmd/help/verb.h"
#include "interpose/env/env.h"

/* A text inside a line. */
static void put_words(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else if (text[i] == '`')
            fputs("\\(ga", out);
        else if (text[i] == '~')
            fputs("\\(ti", out);
        else if (text[i] == '^')
            fputs("\\(ha", out);
        else
            fputc(text[i], out);
    }
}

/* A line of its own. */
static void put_line(FILE *out, const char *text, size_t size)
{
    if (size != 0 && text[0] == '.')
        fputs("\\&", out);
    put_words(out, text, size);
    fputc('\n', out);
}

/* Paragraphs; lines that begin with spaces stay as they are. */
static void put_text(FILE *out, const char *text)
{
    bool as_is = false;
    while (*text != 0) {
        size_t size = strcspn(text, "\n");
        bool indented = text[0] == ' ' && size != 0;
        if (indented != as_is)
            fputs(indented ? ".PP\n.nf\n" : ".fi\n.PP\n", out);
        else if (size == 0)
            fputs(".PP\n", out);
        as_is = indented;
        if (size != 0)
            put_line(out, text, size);
        text += size + (text[size] == '\n');
    }
    if (as_is)
        fputs(".fi\n", out);
}

/* The part before or after the \v of a struct argp's doc. */
static void put_doc(FILE *out, const char *doc, bool after)
{
    const char *middle = doc != NULL ? strchr(doc, '\v') : NULL;
    char part[8192];
    if (doc == NULL || (after && middle == NULL))
        return;
    snprintf(part, sizeof part, "%.*s", after || middle == NULL ? (int)sizeof part - 1 : (int)(middle - doc),
             after ? middle + 1 : doc);
    fputs(".PP\n", out);
    put_text(out, part);
}

static void put_option(void *data, const struct argp_option *option)
{
    FILE *out = data;
    fputs(".TP\n.B ", out);
    if (isgraph(option->key))
        fprintf(out, "\\-%s%c\\fR, \\fB", option->key == '-' ? "\\" : "", option->key);
    fputs("\\-\\-", out);
    put_words(out, option->name, strlen(option->name));
    if (option->arg != NULL) {
        fputs("\\fR=\\fI", out);
        put_words(out, option->arg, strlen(option->arg));
    }
    fputs("\\fR\n", out);
    put_line(out, option->doc, strlen(option->doc));
}

static void put_verb(FILE *out, const struct verb *verb)
{
    const char *arguments = verb->argp != NULL ? verb->argp->args_doc : NULL;
    fprintf(out, ".SS %s\n\\fBptds %s\\fR [\\fIOPTION\\fR...] ", verb->name, verb->name);
    put_words(out, arguments != NULL ? arguments : "", arguments != NULL ? strlen(arguments) : 0);
    fputc('\n', out);
    put_doc(out, verb->argp != NULL ? verb->argp->doc : verb->what, false);
    verb_each_option(verb, put_option, out);
    put_doc(out, verb->argp != NULL ? verb->argp->doc : NULL, true);
}

static void put_variables(FILE *out)
{
    fputs(".SH ENVIRONMENT\n.SS Of libptds.so\nThe options of \\fBptds run\\fR set these; without the command the "
          "environment "
          "does.\n",
          out);
#define ENV(VARIABLE, field, type, initial, allowed, doc) \
    fputs(".TP\n.B " #VARIABLE "\n", out); \
    put_line(out, doc, strlen(doc)); \
    put_words(out, "(", 1); \
    put_words(out, allowed, strlen(allowed)); \
    if (initial[0] != 0) \
        fprintf(out, "; default %s", initial); \
    fputs(")\n", out);
#include "interpose/env/env.def"
    fputs(".SS Of the command\n.TP\n.B PTDS_LIBRARY\nthe path of libptds.so, where it is not beside the command\n"
          ".TP\n.B PAGER\nwhat long text goes through on a terminal; default less\n"
          ".TP\n.B NO_COLOR\nif it is set and not empty: no colours on a terminal\n"
          ".TP\n.B TMPDIR\na folder for temporary files; default /tmp\n",
          out);
}

void man_page_write(FILE *out)
{
    fputs(".TH PTDS 1 \"\" \"libptds " PTDS_VERSION "\" \"User Commands\"\n"
          ".SH NAME\nptds \\- move CUDA default-stream work, and report what it costs\n"
          ".SH SYNOPSIS\n.B ptds\n.I VERB\n.RI [ OPTION ...]\n.RI [ ARGUMENT ...]\n"
          ".SH DESCRIPTION\n",
          out);
    put_doc(out, main_argp.doc, false);
    for (size_t i = 0; i < verbs_count; i++) {
        fprintf(out, ".TP\n.B ptds %s\n", verbs[i]->name);
        put_line(out, verbs[i]->what, strlen(verbs[i]->what));
    }
    fputs(".SH VERBS\n", out);
    for (size_t i = 0; i < verbs_count; i++)
        put_verb(out, verbs[i]);
    fputs(".SH EXIT STATUS\n"
          "0 done, 1 a check failed, 2 a wrong option or argument, 3 a trace could not be read or a file not be written. "
          "\\fBptds run\\fR ends as the program does; with 126 or 127 where it could not be started.\n"
          ".SH FILES\n"
          "A file that is written appears when it is whole: until then, and after a failure, what was there stays. "
          "Devices, FIFOs "
          "and links stay what they are. A trace is never written over.\n",
          out);
    put_variables(out);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether two outputs are the same. What varies from one bare run to the next is learnt from the bare runs: numbers that do
 * are left out, with the unit of time beside them, anything else that does makes the output not comparable. Pure: texts in
 * memory, no files.
 */
#ifndef PTDS_ANALYSIS_PROBE_OUTPUTS_SAME_H
#define PTDS_ANALYSIS_PROBE_OUTPUTS_SAME_H

#include "analysis/base/id_map.h"
#include "analysis/base/table.h"
#include "analysis/probe/outputs/token.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What varies bare against bare in such a way that nothing can be compared. */
enum varies {
    VARIES_NOT,
    VARIES_BYTES,  /* no text, and not the same bytes */
    VARIES_LINES,  /* the number of lines */
    VARIES_TOKENS, /* a line's number of words */
    VARIES_WORDS,  /* a word that is no number */
    VARIES_HASHES, /* a long word of hexadecimal digits: a number, but of a result */
    VARIES_STATES  /* enum varies has so many */
};

struct range {
    double least, most;
};

/* A number that is left out: from where to where it lay in the bare runs, and in all that move nothing. */
struct masked {
    struct range bare, unmoved;
    bool odd;   /* "nan" or "inf" was among them */
    bool plain; /* all were decimal numbers, with a unit at most, and on one scale; else there is no range */
};

struct learnt {
    struct id_map masks; /* (line, token) of the numbers left out -> position in `list` */
    TABLE_OF(struct masked) list;
    size_t first_masked; /* the line of the first one, from 1; 0 none */
    char first_text[48]; /* that line in the first output */
    size_t kept;         /* numbers that are compared; of what is no text, its bytes */
    enum varies varies;
    size_t line; /* the line that varies; 0: the whole */
    unsigned texts;
    bool empty; /* all outputs are empty */
    /* The first text differs in more than numbers, as of a run that fills a cache, and the others do not: it is left out,
     * and what it varies in is here. */
    bool first_apart;
    enum varies first_varies;
    size_t first_line;
    bool out_of_memory;
};

/* Learns what varies from the outputs of all bare runs, at least one. same_free in either case. */
void same_learn(struct learnt *learnt, const struct bytes *texts, size_t count);
/* The same, where the first output may differ from at least two others that agree; further outputs are then held
 * against the second. */
void same_learn_but_first(struct learnt *learnt, const struct bytes *texts, size_t count);
/* Learns how far left-out numbers go from an output of a run that moved nothing. `first`: the output that was learnt
 * from first. */
void same_learn_range(struct learnt *learnt, struct bytes first, struct bytes other);
/* Whether two outputs differ in numbers at most. */
bool same_but_for_numbers(struct bytes one, struct bytes other);
void same_free(struct learnt *learnt);

/* The first place where two outputs differ. */
struct difference {
    bool differs;
    size_t line;                /* from 1; of what is no text: 0 */
    uint64_t offset;            /* of what is no text */
    char bare[96], other[96];   /* these lines, cleaned and cut; empty: there is none */
    bool bare_ends, other_ends; /* this one has no such line */
    bool absent;                /* that one is no file at all */
    /* All that differs are numbers with a unit of time beside them, and the unit; by so many ns, of the farthest one,
     * beyond their last digit. */
    bool like_time;
    double time_ns;
    /* Numbers left out that lie far from where they lay in the bare runs: a time, or a result that varies and is wrong. */
    size_t outside;
    size_t outside_line; /* of the first */
    char outside_text[48];
    /* Of these, also far from the other runs that move nothing: the farthest, in ns; without a unit of time, HUGE_VAL. 0:
     * none.
     */
    double far_ns;
    size_t far_line;
    char far_text[48];
};

/* The first difference of another output from a bare one (the first that was learnt from), leaving out what varies. */
struct difference same_differ(const struct learnt *learnt, struct bytes bare, struct bytes other);

#ifdef __cplusplus
}
#endif
#endif

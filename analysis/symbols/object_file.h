/* SPDX-License-Identifier: Apache-2.0
 *
 * One object of a trace, opened for its names: the file at its recorded path if its build id is the recorded one, else a
 * debug file with that build id.
 */
#ifndef PTDS_ANALYSIS_SYMBOLS_OBJECT_FILE_H
#define PTDS_ANALYSIS_SYMBOLS_OBJECT_FILE_H

#include <elfutils/libdwfl.h>

#include "analysis/symbols/namer.h"

struct object_file {
    char *path;
    uint8_t build_id[20];
    uint32_t build_id_size;
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: no names from this object */
    const char *trouble; /* why */
};

extern const char object_file_absent[]; /* the trouble of a file that is not here */

/* Opens the file of the object; `trouble` says why where it gives no names. */
void object_file_open(struct object_file *file, const struct object_def *object);
void object_file_close(struct object_file *file);

/* The functions at an address, as `places` of site_namer has them; `address` is that of the call instruction, in the
 * addresses of the ELF file. */
size_t object_file_places(const struct object_file *file, uint64_t address, struct site_place *out, size_t most);

/* The symbol that the address lies in, and how far from its beginning, for addresses without lines. False: none. */
bool object_file_symbol(const struct object_file *file, uint64_t address, char *name, size_t room, uint64_t *offset);

#endif

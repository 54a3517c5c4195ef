/* SPDX-License-Identifier: Apache-2.0
 *
 * An image of machine code (an ELF file, "cubin"), seen through its own tables. Bytes are untrusted: nothing is read beyond
 * the size that is given, whatever the tables say.
 */
#ifndef PTDS_CODE_CUBIN_H
#define PTDS_CODE_CUBIN_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct cubin {
    const uint8_t *bytes;
    size_t size;
    uint64_t sections_at;
    uint32_t sections, names; /* how many, and which one has their names */
    uint32_t symbols, texts;  /* the sections of symbols and their names; 0 none */
    uint32_t arch;            /* 90: sm_90 */
};

struct cubin_symbol {
    const char *name; /* "" none */
    uint64_t value, size;
    uint32_t section; /* 0: it is not in the image */
    uint8_t type;     /* STT_FUNC and so on */
    uint8_t is_kernel;
};

/* A relocation. */
struct cubin_fix {
    uint64_t at;
    int64_t addend;
    uint32_t type, symbol;
};

/* What the image says of a kernel beside its code. */
struct cubin_kernel {
    uint32_t section; /* of its code */
    uint64_t at;      /* where it begins in there */
    uint32_t info;    /* of its attributes */
    uint32_t base;    /* in constant bank 0, where parameters begin */
    uint32_t bytes;   /* of parameters */
    int has_base;
};

/* 0: the bytes are no such image. */
int cubin_open(struct cubin *cubin, const uint8_t *bytes, size_t size);

/* 0: there is no such section. */
int cubin_section(const struct cubin *cubin, uint32_t number, Elf64_Shdr *section);

/* "" where it has none. */
const char *cubin_section_name(const struct cubin *cubin, uint32_t number);

/* The bytes of a section, and how many; NULL: they are not there. */
const uint8_t *cubin_bytes(const struct cubin *cubin, uint32_t number, size_t *size);

/* The section of the name that the two texts make; 0 none. */
uint32_t cubin_find(const struct cubin *cubin, const char *prefix, const char *name);

uint32_t cubin_symbol_count(const struct cubin *cubin);
int cubin_symbol_at(const struct cubin *cubin, uint32_t number, struct cubin_symbol *symbol);

/* Calls `each` with every relocation of that section's bytes until it returns other than 0, which is returned. */
int cubin_fixes(const struct cubin *cubin, uint32_t section, int (*each)(void *data, const struct cubin_fix *fix),
                void *data);

/* Calls `each` with every attribute of that section until it returns other than 0, which is returned. bytes NULL: the
 * attribute has no more than a value. */
int cubin_attributes(const struct cubin *cubin, uint32_t section,
                     int (*each)(void *data, uint32_t attribute, const uint8_t *bytes, uint32_t size), void *data);

/* 0: no kernel of that name is in the image. */
int cubin_find_kernel(const struct cubin *cubin, const char *name, struct cubin_kernel *kernel);

enum cubin_attribute {
    ATTRIBUTE_BANK = 0x0a,      /* the parameters' bank: symbol (4), offset (2), size (2) */
    ATTRIBUTE_PARAMETER = 0x17, /* index (4), ordinal (2), offset (2), size in the upper 14 bits of 4 */
    ATTRIBUTE_BYTES = 0x19,     /* of the parameters: a value */
    ATTRIBUTE_TARGETS = 0x34,   /* of indirect jumps: offset (4), 0 (4), count (4), targets (4 each) */
};

uint32_t cubin_16(const uint8_t *bytes);
uint32_t cubin_32(const uint8_t *bytes);

#endif

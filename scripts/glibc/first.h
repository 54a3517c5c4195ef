/* SPDX-License-Identifier: Apache-2.0
 *
 * How a function of this folder names the version that it calls. Included by the files of this folder only.
 */
#ifndef PTDS_GLIBC_FIRST_H
#define PTDS_GLIBC_FIRST_H

/* The first version of an architecture's glibc, and the number of stat's structure in it. */
#if defined(__x86_64__)
#define FIRST "GLIBC_2.2.5"
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#define STAT_VERSION 0
#endif

/* OLD(what it returns, name, parameters): old_NAME is that version. */
#define OLD(result, name, parameters) \
    result old_##name parameters; \
    __asm__(".symver old_" #name "," #name "@" FIRST)

/* The linker sends `name` here (floor.bzl). */
#define INSTEAD(result, name, parameters) \
    result __wrap_##name parameters; \
    result __wrap_##name parameters

#endif

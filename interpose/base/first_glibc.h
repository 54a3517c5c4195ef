/* SPDX-License-Identifier: Apache-2.0
 *
 * Binds a function to the version that every glibc of the architecture has, so that the shim loads on old ones.
 */
#ifndef PTDS_FIRST_GLIBC_H
#define PTDS_FIRST_GLIBC_H

#if defined(__x86_64__)
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FIRST_GLIBC "GLIBC_2.17"
#endif

#define OF_FIRST_GLIBC(name) __asm__(".symver " #name "," #name "@" FIRST_GLIBC)

#endif

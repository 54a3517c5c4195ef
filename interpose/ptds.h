/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that know of libptds. Nothing to link: the functions are looked up at run time, and without the library they
 * do nothing. Include after cuda.h where streams are passed.
 *
 *     #include <ptds.h>
 *     ptds_region_push("solve");  ...  ptds_region_pop();
 *     ptds_use_stream(stream);            // policy stream: default-stream work goes here, in every thread
 *
 * All functions return 1 if the library was there and did as asked, 0 otherwise. Any thread.
 */
#ifndef PTDS_H
#define PTDS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* What libptds.so exports; call the inline functions below instead. */
typedef int (*ptds_stream_function)(struct CUstream_st *);
typedef int (*ptds_text_function)(const char *);
typedef int (*ptds_plain_function)(void);

static inline void *ptds_find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* Under PTDS_POLICY=stream: work on the default stream of the stream's context goes to `stream`; NULL: back to the shim's
 * own. The program keeps the stream alive meanwhile and destroys it only after going back. */
static inline int ptds_use_stream(struct CUstream_st *stream)
{
    ptds_stream_function function = (ptds_stream_function)ptds_find("ptds_api_use_stream");
    return function ? function(stream) : 0;
}

/* The same for the calling thread only; it goes before the process's. */
static inline int ptds_use_stream_in_thread(struct CUstream_st *stream)
{
    ptds_stream_function function = (ptds_stream_function)ptds_find("ptds_api_use_stream_in_thread");
    return function ? function(stream) : 0;
}

/* Names what the calling thread does from here on, for reports; regions nest. The text is copied. */
static inline int ptds_region_push(const char *name)
{
    ptds_text_function function = (ptds_text_function)ptds_find("ptds_api_region_push");
    return function ? function(name) : 0;
}

static inline int ptds_region_pop(void)
{
    ptds_plain_function function = (ptds_plain_function)ptds_find("ptds_api_region_pop");
    return function ? function() : 0;
}

/* Hands what was recorded so far to the kernel to be written to PTDS_TRACE. */
static inline int ptds_flush(void)
{
    ptds_plain_function function = (ptds_plain_function)ptds_find("ptds_api_flush");
    return function ? function() : 0;
}

#ifdef __cplusplus
}
#endif
#endif

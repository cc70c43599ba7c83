/* SPDX-License-Identifier: Apache-2.0 */
/** What every call of the library returns, and the caller's place for the reason. */
#ifndef GIBBSITE_STATUS_H
#define GIBBSITE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GBS_API __attribute__((visibility("default")))
#else
#define GBS_API
#endif

/** Zero is success, negative is failure, positive is success with news. */
typedef enum gbs_status {
    GBS_OK = 0,
    GBS_STOPPED = 1,       /**< ended by a signal, a time or an update limit before its target */
    GBS_ERR_MEMORY = -1,   /**< the allocator had no more */
    GBS_ERR_ARGUMENT = -2, /**< wrong use: an argument or option out of its stated range */
    GBS_ERR_FORMAT = -3,   /**< bad input; the message has FILE:LINE:COLUMN */
    GBS_ERR_IO = -4,       /**< the operating system refused a read or a write */
    GBS_ERR_STATE = -5,    /**< called too early or too late */
    GBS_ERR_LIMIT = -6,    /**< would exceed a stated limit; the message has the figure */
    GBS_ERR_IMPOSSIBLE =
        -7, /**< evidence of probability zero, no start found, no positive weight */
    GBS_ERR_UNSUPPORTED = -8, /**< legal input that this version cannot handle */
} gbs_status;

/** The reason of a failure: written once, by the call that failed first. Caller-owned. */
typedef struct gbs_error {
    gbs_status status;  /**< GBS_OK while nothing failed */
    char message[1024]; /**< one line, UTF-8, without a final newline; cut at the end if longer */
} gbs_error;

/** @return the version of the library as "major.minor.patch"; static storage. */
GBS_API const char *gbs_version(void);

/** @return the instruction set the kernels run on: "avx512", "avx2", "neon" or "portable". All
 *          of them give the same bits; the environment variable GIBBSITE_SIMD forces a lower one.
 */
GBS_API const char *gbs_simd_name(void);

#ifdef __cplusplus
}
#endif
#endif

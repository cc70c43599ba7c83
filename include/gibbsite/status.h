/* SPDX-License-Identifier: Apache-2.0 */
/** The status that calls of the library return, and the struct that receives the error message. */
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

/** GCC and clang warn if the status of a call is ignored. Define GBS_NO_MUST_USE, with -D or before
 *  the first header, to switch these warnings off. The examples in these headers are short and do
 *  not handle failures. */
#if defined(__GNUC__) && !defined(GBS_NO_MUST_USE)
#define GBS_MUST_USE __attribute__((warn_unused_result))
#else
#define GBS_MUST_USE
#endif

/** Zero is success, negative is failure, positive is success with a remark. */
typedef enum gbs_status {
    GBS_OK = 0,
    GBS_STOPPED = 1,     /**< a signal, --time or --max-updates ended the work before its target */
    GBS_ERR_MEMORY = -1, /**< an allocation failed */
    GBS_ERR_ARGUMENT = -2, /**< wrong use: an argument or option out of its stated range */
    GBS_ERR_FORMAT = -3,   /**< bad input file; the message begins with FILE:LINE:COLUMN */
    GBS_ERR_IO = -4,       /**< the operating system refused a read or a write */
    GBS_ERR_STATE = -5,    /**< the object is not in a state in which the call is allowed */
    GBS_ERR_LIMIT = -6,    /**< a stated limit would be exceeded; the message has the figures */
    GBS_ERR_IMPOSSIBLE =
        -7, /**< the evidence has probability zero: every state has probability zero */
    GBS_ERR_UNSUPPORTED = -8, /**< legal input that this version cannot handle */
    GBS_ERR_STOPPED = -9,     /**< a signal or --time ended the work before it had any result */
    GBS_ERR_NOT_FOUND =
        -10, /**< no state of positive probability was found, although one may exist */
} gbs_status;

/** Why a call failed. The caller owns the struct; the first failure writes it. */
typedef struct gbs_error {
    gbs_status status;  /**< GBS_OK as long as nothing has failed */
    char message[1024]; /**< one line, UTF-8, without a final newline; cut at the end if longer */
} gbs_error;

/** @return the version of the library as "major.minor.patch"; static storage. */
GBS_API const char *gbs_version(void);

/** @return the instruction set that is used: "avx512", "avx2", "neon" or "portable". Results are
 *          the same, bit by bit, with every instruction set. The environment variable GIBBSITE_SIMD
 *          forces a lower instruction set. Calls that compute (gbs_run_new(), gbs_model_info(),
 *          gbs_exact_*() and others) return GBS_ERR_ARGUMENT if GIBBSITE_SIMD is not one of these
 * names. */
GBS_API const char *gbs_simd_name(void);

#ifdef __cplusplus
}
#endif
#endif

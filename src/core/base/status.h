/* SPDX-License-Identifier: Apache-2.0 */
/* Failures are reported once: the function that fails first writes the message, and its callers
 * pass the message on unchanged. */
#ifndef GBSI_BASE_STATUS_H
#define GBSI_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#include "gibbsite/status.h"

#if defined(__GNUC__)
#define GBSI_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define GBSI_PRINTF(a, b)
#endif

/* Writes the message into err, which may be NULL. @return status, for use as `return
 * gbsi_fail(...)`. */
gbs_status gbsi_fail(gbs_error *err, gbs_status status, const char *format, ...) GBSI_PRINTF(3, 4);

/* snprintf() and vsnprintf() that write a decimal point in every locale. Every text that contains a
 * non-integer number is written with them. */
void gbsi_say(char *text, size_t size, const char *format, ...) GBSI_PRINTF(3, 4);
void gbsi_say_list(char *text, size_t size, const char *format, va_list arguments);

/* Refuses NULL pointers in the first line of a public function. The caller must have a variable
 * `err`. The macro does not accept pointers to functions. */
#define GBSI_NEED(...)                                                               \
    GBSI_PASS(gbsi_need(err, __func__, #__VA_ARGS__,                                 \
                        sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *), \
                        (const void *const[]){__VA_ARGS__}))
/* @param names names of the pointers, separated by commas. */
gbs_status gbsi_need(gbs_error *err, const char *function, const char *names, size_t n,
                     const void *const pointer[]);
/* Returns a failure to the caller at once, in functions that have nothing to clean up. */
#define GBSI_PASS(e)                         \
    do {                                     \
        const gbs_status failed_with_ = (e); \
        if (failed_with_ < 0) {              \
            return failed_with_;             \
        }                                    \
    } while (0)

/* Stores the status in the caller's local variable `status`, and jumps to the label `cleanup` on
 * failure. */
#define GBSI_TRY(e)       \
    do {                  \
        status = (e);     \
        if (status < 0) { \
            goto cleanup; \
        }                 \
    } while (0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Reporting failures: the first failure writes the message, and callers pass it on unchanged. */
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

/* Writes the message into err (NULL is fine) and returns status, for `return gbsi_fail(...)`. */
gbs_status gbsi_fail(gbs_error *err, gbs_status status, const char *format, ...) GBSI_PRINTF(3, 4);

/* snprintf() and vsnprintf() with a decimal point, whatever the caller's locale: for every text
 * with a number that is not whole. */
void gbsi_say(char *text, size_t size, const char *format, ...) GBSI_PRINTF(3, 4);
void gbsi_say_list(char *text, size_t size, const char *format, va_list arguments);

/* Refuses a NULL pointer: the first lines of a public function. Needs an `err`. */
#define GBSI_NEED(pointer)                                                                 \
    do {                                                                                   \
        if ((pointer) == NULL) {                                                           \
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %s is NULL", __func__, #pointer); \
        }                                                                                  \
    } while (0)

/* Returns a failure to the caller at once: where there is nothing to clean up. */
#define GBSI_PASS(e)                         \
    do {                                     \
        const gbs_status failed_with_ = (e); \
        if (failed_with_ < 0) {              \
            return failed_with_;             \
        }                                    \
    } while (0)

/* Stores the status and leaves through `cleanup:` on failure. Needs a local `status`. */
#define GBSI_TRY(e)       \
    do {                  \
        status = (e);     \
        if (status < 0) { \
            goto cleanup; \
        }                 \
    } while (0)

#endif

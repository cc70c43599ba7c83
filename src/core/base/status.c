/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

const char *gbs_version(void)
{
    return GBSI_VERSION;
}

void gbsi_say_list(char *text, size_t size, const char *format, va_list arguments)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = plain == (locale_t)0 ? (locale_t)0 : uselocale(plain);
    (void)vsnprintf(text, size, format, arguments);
    if (plain != (locale_t)0) {
        (void)uselocale(before);
        freelocale(plain);
    }
}

void gbsi_say(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    gbsi_say_list(text, size, format, arguments);
    va_end(arguments);
}

gbs_status gbsi_fail(gbs_error *err, gbs_status status, const char *format, ...)
{
    if (err != NULL) {
        err->status = status;
        va_list arguments;
        va_start(arguments, format);
        gbsi_say_list(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

gbs_status gbsi_need(gbs_error *err, const char *function, const char *names, size_t n,
                     const void *const pointer[])
{
    for (size_t i = 0; i < n; ++i) {
        const size_t length = strcspn(names, ",");
        if (pointer[i] == NULL) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %.*s is NULL", function, (int)length,
                             names);
        }
        names += length + (i + 1 < n ? strlen(", ") : 0);
    }
    return GBS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <locale.h>
#include <stdio.h>

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

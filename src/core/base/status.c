/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "config.h"

const char *gbs_version(void)
{
    return GBSI_VERSION;
}

gbs_status gbsi_fail(gbs_error *err, gbs_status status, const char *format, ...)
{
    if (err != NULL) {
        err->status = status;
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "text/common.h"

#include <string.h>

#include "base/status.h"

/* strerror_r exists in two forms with different return types. Each of these two functions accepts
 * the result of one form. */
static const char *reason_posix(int result, const char *buffer)
{
    return result == 0 ? buffer : "unknown reason";
}

static const char *reason_gnu(const char *result, const char *buffer)
{
    (void)buffer;
    return result;
}

gbs_status gbsi_fail_errno(gbs_error *err, const char *name, const char *what, int code)
{
    char buffer[256] = "";
    const char *reason = _Generic(strerror_r(code, buffer, sizeof buffer),
        int: reason_posix,
        char *: reason_gnu)(strerror_r(code, buffer, sizeof buffer), buffer);
    return gbsi_fail(err, GBS_ERR_IO, "%s: %s: %s", name, what, reason);
}

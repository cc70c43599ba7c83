/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_IO_SYSTEM_H
#define GBSI_IO_SYSTEM_H

#include "gibbsite/status.h"

/* "NAME: WHAT: reason of code"; GBS_ERR_IO. @param code a value of errno. */
gbs_status gbsi_fail_errno(gbs_error *err, const char *name, const char *what, int code);

#endif

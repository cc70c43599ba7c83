/* SPDX-License-Identifier: Apache-2.0 */
/* Makes gibbsite-mpi look like another version: main.c asks here which one it is. */
#include "gibbsite/status.h"

const char *gbs_version(void) /* renamed, see ../meson.build */
{
    return "0.0.9";
}

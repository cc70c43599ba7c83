/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of this folder. */
#ifndef GBSI_RANKS_SHARE_INSIDE_H
#define GBSI_RANKS_SHARE_INSIDE_H

#include "ranks/share.h"

/* share_check.c: whether every number of a share that was loaded points into its arrays.
 * @return GBS_ERR_FORMAT where one does not. */
gbs_status gbsi_share_check(const gbs_share *share, gbs_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Files repeat equal tables, one per factor: a grid has as many as edges. Small ones seen lately
 * become one table of the builder. */
#ifndef GBSI_IO_SHARE_H
#define GBSI_IO_SHARE_H

#include "gibbsite/model.h"

typedef struct gbsi_share gbsi_share;

gbs_status gbsi_share_new(gbsi_share **share, gbs_error *err);
void gbsi_share_free(gbsi_share *share);

/* gbs_builder_add_table, or the id of a table with the same bits. */
gbs_status gbsi_share_table(gbsi_share *share, gbs_builder *builder, size_t n, const double *logw,
                            uint32_t *table, gbs_error *err);

#endif

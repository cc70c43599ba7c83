/* SPDX-License-Identifier: Apache-2.0 */
/* A store for rows that arrive draw by draw, one from each chain, and are read chain after chain.
 * Up to a few MiB of rows are kept in memory. Further rows are kept in an unnamed file in the
 * folder of the output. */
#ifndef GIBBSITE_CLI_SPOOL_H
#define GIBBSITE_CLI_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

typedef struct cli_spool cli_spool;

/* @param beside path of the output, borrowed. If a file is needed, it is in the folder of this
 *         path, or in TMPDIR if the output is standard output. */
gbs_status cli_spool_new(const char *beside, uint32_t n_chains, size_t row_bytes, cli_spool **spool,
                         gbs_error *err);
void cli_spool_free(cli_spool *spool);

/* Stores a row. Rows must come from the chains in turn: first from chain 0, then from chain 1,
 * ..., then again from chain 0. */
gbs_status cli_spool_put(cli_spool *spool, uint32_t chain, const void *row, gbs_error *err);

/* Reads bytes [at, at + n) of the rows of one chain. */
gbs_status cli_spool_read(const cli_spool *spool, uint32_t chain, uint64_t at, void *bytes,
                          size_t n, gbs_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that come chain by chain, draw after draw, and go out chain after chain: kept in memory up
 * to a few MiB, beyond that in a file without a name beside the output. */
#ifndef GIBBSITE_CLI_SPOOL_H
#define GIBBSITE_CLI_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

typedef struct cli_spool cli_spool;

/* @param beside the output: the file, if one is needed, lies in its folder (in TMPDIR if that is
 * standard output). Borrowed. */
gbs_status cli_spool_new(const char *beside, uint32_t n_chains, size_t row_bytes, cli_spool **spool,
                         gbs_error *err);
void cli_spool_free(cli_spool *spool);

/* Puts a row. Chains take turns: a row of chain 0, of chain 1, ..., then the next of chain 0. */
gbs_status cli_spool_put(cli_spool *spool, uint32_t chain, const void *row, gbs_error *err);

/* Reads the bytes [at, at + n) that one chain has put, row after row. */
gbs_status cli_spool_read(const cli_spool *spool, uint32_t chain, uint64_t at, void *bytes,
                          size_t n, gbs_error *err);

#endif

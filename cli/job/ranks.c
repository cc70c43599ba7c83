/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

cli_place cli_here = {.program = "gibbsite"};

static char first_message[2048]; /* first message of this rank; "" before any message */
static int agreed; /* status with which all ranks end; CLI_DONE while the ranks go on */

int cli_speaks(void)
{
    return cli_here.ranks == NULL || cli_here.ranks->rank == 0;
}

void cli_keep_message(const char *text)
{
    if (first_message[0] == '\0') {
        (void)snprintf(first_message, sizeof first_message, "%s", text);
    }
}

/* Prints the first message. @param all 1 if every rank has failed; the message names a rank only if
 * all is 0. */
static void tell(int all)
{
    char rank[32] = "";
    if (!all) {
        (void)snprintf(rank, sizeof rank, "rank %" PRIu32 ": ", cli_here.ranks->rank);
    }
    (void)fprintf(stderr, "%s: %s%s\n", cli_here.program, rank, first_message);
}

/* @return whether this rank has failed. A rank that was stopped counts as failed if it has a
 *         message instead of a result. */
static int has_failed(int status)
{
    return status == CLI_FAILED || status == CLI_USAGE || status == CLI_INPUT ||
           (status == CLI_STOPPED && first_message[0] != '\0');
}

int cli_meet(int status)
{
    const gbs_ranks *ranks = cli_here.ranks;
    gbs_error err = {GBS_OK, ""};
    if (ranks == NULL || agreed != CLI_DONE) {
        return status;
    }
    /* the first rank that failed has the largest value */
    uint64_t first =
        has_failed(status) ? (uint64_t)(ranks->n_ranks - ranks->rank) << 8 | (uint64_t)status : 0;
    uint64_t n_failed = first != 0;
    if (ranks->combine(ranks->context, GBS_COMBINE_MAX_U64, &first, 1, &err) < 0 ||
        ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, &n_failed, 1, &err) < 0) {
        return cli_leave(cli_fail(GBS_ERR_IO, &err));
    }
    agreed = (int)(first & 0xff);
    if (n_failed > 0 && ranks->n_ranks - (first >> 8) == ranks->rank) {
        tell(n_failed == ranks->n_ranks);
    }
    return n_failed > 0 ? agreed : status;
}

int cli_leave(int status)
{
    if (cli_here.ranks != NULL) {
        tell(0);
        cli_here.abort(cli_here.ranks, status);
    }
    return status;
}

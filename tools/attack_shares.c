/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for folders of shares, for tools/attack and without MPI. gibbsite-mpi runs as the
 * only rank of a job. A damaged share gets a new seal, so that the code behind the checksum is
 * attacked too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack_shares.h"
#include "base/digest.h"
#include "cli/cli.h"
#include "job/job.h"
#include "job/ranks.h"
#include "mpi/divide.h"

enum { MOST_BYTES = 1 << 20, SEAL = 32 };

static gbs_status combine(void *context, gbs_combine_kind kind, void *values, size_t n,
                          gbs_error *err)
{
    (void)context, (void)kind, (void)values, (void)n, (void)err;
    return GBS_OK;
}

static gbs_status broadcast(void *context, uint32_t from, void *bytes, size_t n, gbs_error *err)
{
    (void)context, (void)from, (void)bytes, (void)n, (void)err;
    return GBS_OK;
}

static gbs_status gather(void *context, const void *own, size_t n, void *all, const size_t *n_of,
                         gbs_error *err)
{
    (void)context, (void)n_of, (void)err;
    if (n > 0) {
        memcpy(all, own, n);
    }
    return GBS_OK;
}

/* Exchanges messages, of which one rank has none. A share with messages belongs to several ranks
 * and was refused earlier. */
static gbs_status begin(void *context, const gbs_message *out, size_t n_out, const gbs_message *in,
                        size_t n_in, gbs_error *err)
{
    (void)context, (void)out, (void)in, (void)err;
    if (n_out > 0 || n_in > 0) {
        abort();
    }
    return GBS_OK;
}

static gbs_status finish(void *context, gbs_error *err)
{
    (void)context, (void)err;
    return GBS_OK;
}

static void end(const gbs_ranks *ranks, int status)
{
    (void)ranks;
    exit(status);
}

int attack_alone(int argc, char **argv)
{
    static const gbs_ranks alone = {0, 1, NULL, combine, broadcast, gather, begin, finish};
    cli_here.program = "gibbsite-mpi";
    cli_open_standard_streams();
    if (argc > 1 && strcmp(argv[1], "partition") == 0) {
        return mpi_partition(argc, argv);
    }
    cli_here.ranks = &alone;
    cli_here.abort = end;
    char **typed = calloc((size_t)argc + 1, sizeof *typed);
    if (typed == NULL) {
        return cli_error(CLI_FAILED, "out of memory");
    }
    memcpy(typed, argv, (size_t)argc * sizeof *typed);
    const int status = cli_program(argc, argv, argc, typed);
    free(typed);
    return cli_meet(status); /* prints why the command failed */
}

int attack_seal(int argc, char **argv)
{
    static unsigned char bytes[MOST_BYTES];
    char text[SEAL + 1];
    gbsi_digest *digest = NULL;
    gbs_error err;
    FILE *file = argc == 2 ? fopen(argv[1], "r+be") : NULL;
    const size_t n = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
    if (n < SEAL || n == sizeof bytes || gbsi_digest_new(&digest, &err) < 0) {
        (void)fprintf(stderr, "attack_server: usage: seal SHARE\n");
        return 2;
    }
    gbsi_digest_bytes(digest, bytes, n - SEAL);
    gbsi_digest_text(digest, text);
    gbsi_digest_free(digest);
    const int written =
        fseek(file, (long)(n - SEAL), SEEK_SET) == 0 && fwrite(text, 1, SEAL, file) == SEAL;
    return fclose(file) == 0 && written ? 0 : 2;
}

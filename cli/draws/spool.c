/* SPDX-License-Identifier: Apache-2.0 */
/* The file is a sequence of blocks. In each block every chain has the same number of rows, and the
 * chains follow one another. A block is therefore written by one call, and the rows of a chain in a
 * block are read by one call. The last block is in memory. */
#include "spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)8 << 20)

struct cli_spool {
    const char *beside;
    int fd; /* descriptor of the temporary file, -1 until one is needed */
    uint32_t n_chains;
    size_t row_bytes;
    size_t rows;     /* number of rows that each chain has in a block */
    size_t part;     /* number of bytes that each chain has in a block */
    uint64_t n_full; /* number of blocks in the file */
    size_t n_rows;   /* number of rows of the last chain in the block in memory */
    char *block;     /* [n_chains * part] the block in memory */
};

static gbs_status fail(gbs_error *err, gbs_status status, const char *what)
{
    const int number = errno;
    err->status = status;
    (void)snprintf(err->message, sizeof err->message, "temporary file for the draws: %s: %s", what,
                   strerror(number)); // NOLINT(concurrency-mt-unsafe): one thread
    return status;
}

gbs_status cli_spool_new(const char *beside, uint32_t n_chains, size_t row_bytes, cli_spool **spool,
                         gbs_error *err)
{
    cli_spool *made = calloc(1, sizeof *made);
    const size_t round = row_bytes > SIZE_MAX / n_chains ? SIZE_MAX : n_chains * row_bytes;
    const size_t rows = round < BLOCK_BYTES && round > 0 ? BLOCK_BYTES / round : 1;
    if (made != NULL) {
        made->beside = beside;
        made->fd = -1;
        made->n_chains = n_chains;
        made->row_bytes = row_bytes;
        made->rows = rows;
        made->part = rows * row_bytes;
        made->block = round == SIZE_MAX ? NULL : malloc(rows * round + 1);
    }
    if (made == NULL || made->block == NULL) {
        free(made);
        err->status = GBS_ERR_MEMORY;
        (void)snprintf(err->message, sizeof err->message, "out of memory for one draw of %u chains",
                       n_chains);
        return GBS_ERR_MEMORY;
    }
    *spool = made;
    return GBS_OK;
}

void cli_spool_free(cli_spool *spool)
{
    if (spool != NULL) {
        if (spool->fd >= 0) {
            (void)close(spool->fd);
        }
        free(spool->block);
        free(spool);
    }
}

/* Opens a file that disappears when the program ends, for any reason. */
static gbs_status open_file(cli_spool *spool, gbs_error *err)
{
    static const char suffix[] = "gibbsite-draws-XXXXXX";
    const char *folder = spool->beside;
    const char *slash = strrchr(folder, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - folder) + 1;
    if (strcmp(folder, "-") == 0) {
        const char *tmpdir = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): one thread
        folder = tmpdir != NULL && tmpdir[0] != '\0' ? tmpdir : P_tmpdir;
        n = strlen(folder);
    }
    char *path = malloc(n + 2 + sizeof suffix);
    if (path == NULL) {
        return fail(err, GBS_ERR_MEMORY, "no memory");
    }
    (void)snprintf(path, n + 2 + sizeof suffix, "%.*s%s%s", (int)n, folder,
                   n > 0 && folder[n - 1] != '/' ? "/" : "", suffix);
    spool->fd = mkstemp(path);
    gbs_status status = GBS_OK;
    if (spool->fd < 0) {
        status = fail(err, GBS_ERR_IO, path);
    } else {
        (void)unlink(path);
    }
    free(path);
    return status;
}

static gbs_status write_block(cli_spool *spool, gbs_error *err)
{
    gbs_status status = spool->fd < 0 ? open_file(spool, err) : GBS_OK;
    const char *bytes = spool->block;
    size_t left = spool->n_chains * spool->part;
    while (status >= 0 && left > 0) {
        const ssize_t done = write(spool->fd, bytes, left < 1u << 30 ? left : 1u << 30);
        if (done < 0 && errno != EINTR) {
            status = fail(err, GBS_ERR_IO, "cannot be written");
        }
        bytes += done > 0 ? done : 0;
        left -= done > 0 ? (size_t)done : 0;
    }
    spool->n_full++;
    spool->n_rows = 0;
    return status;
}

gbs_status cli_spool_put(cli_spool *spool, uint32_t chain, const void *row, gbs_error *err)
{
    if (chain == 0 && spool->n_rows == spool->rows) {
        const gbs_status status = write_block(spool, err);
        if (status < 0) {
            return status;
        }
    }
    memcpy(spool->block + chain * spool->part + spool->n_rows * spool->row_bytes, row,
           spool->row_bytes);
    spool->n_rows += chain + 1 == spool->n_chains ? 1 : 0;
    return GBS_OK;
}

/* Reads bytes that are within one block. */
static gbs_status read_part(const cli_spool *spool, uint64_t block, uint32_t chain, size_t at,
                            char *bytes, size_t n, gbs_error *err)
{
    if (block == spool->n_full) {
        memcpy(bytes, spool->block + chain * spool->part + at, n);
        return GBS_OK;
    }
    uint64_t place = (block * spool->n_chains + chain) * spool->part + at;
    while (n > 0) {
        const ssize_t got = pread(spool->fd, bytes, n < 1u << 30 ? n : 1u << 30, (off_t)place);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return fail(err, GBS_ERR_IO, "cannot be read back");
        }
        place += got > 0 ? (uint64_t)got : 0;
        bytes += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return GBS_OK;
}

gbs_status cli_spool_read(const cli_spool *spool, uint32_t chain, uint64_t at, void *bytes,
                          size_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    char *to = bytes;
    while (n > 0 && status >= 0) {
        const size_t within = (size_t)(at % spool->part);
        const size_t piece = n < spool->part - within ? n : spool->part - within;
        status = read_part(spool, at / spool->part, chain, within, to, piece, err);
        at += piece;
        to += piece;
        n -= piece;
    }
    return status;
}

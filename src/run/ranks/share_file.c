/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of shares: reading and writing files and messages, and figures about a
 * share. */
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "ranks/share.h"
#include "text/kept_file.h"

static const gbsi_kept_form form = {
    "share of a model", {0x89, 'G', 'S', 'H', '\r', '\n', 0x1a, '\n'}, 2};

gbs_status gbs_share_write(const gbs_share *share, const char *path, gbs_error *err)
{
    GBSI_NEED(share, path);
    const gbsi_kept_content content = {share, gbsi_share_save};
    return gbsi_kept_write(path, &form, &content, 1, err);
}

gbs_status gbs_share_read(const char *path, gbs_share **share, gbs_error *err)
{
    GBSI_NEED(path, share);
    gbs_status status = GBS_OK;
    gbsi_kept *kept = NULL;
    const size_t n = strlen(path) + 1;
    char *copy = gbsi_alloc(n);
    GBSI_PASS(GBSI_HAVE(err, path, copy));
    memcpy(copy, path, n);
    GBSI_TRY(gbsi_kept_open(path, &form, &kept, err));
    const gbsi_source source = gbsi_kept_source(kept);
    status = gbsi_share_load(&source, gbsi_kept_left(kept), share, err);
    if ((status == GBS_ERR_FORMAT || status == GBS_ERR_LIMIT) &&
        err != NULL) { /* the message does not name the file yet */
        gbs_error inner = *err;
        status = gbsi_fail(err, status, "%s: %s", path, inner.message);
    }
    GBSI_TRY(status);
    (*share)->path = copy;
    copy = NULL;
cleanup:
    gbsi_kept_close(kept);
    gbsi_free(copy);
    return status;
}

/* ---- messages ------------------------------------------------------------------------------ */

typedef struct buffer {
    unsigned char *bytes;
    size_t n, capacity; /* number of bytes written or read so far; number of bytes in total */
} buffer;

static gbs_status put(void *context, const void *bytes, size_t n, gbs_error *err)
{
    buffer *b = context;
    void *pointer = b->bytes;
    const gbs_status status =
        gbsi_reserve(&pointer, &b->capacity, b->n + n, 1, "share of a model", err);
    b->bytes = pointer;
    if (status >= 0) {
        memcpy(b->bytes + b->n, bytes, n);
        b->n += n;
    }
    return status;
}

static gbs_status take(void *context, void *bytes, size_t n, gbs_error *err)
{
    buffer *b = context;
    if (n > b->capacity - b->n) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "share of a model: the message ends too early");
    }
    memcpy(bytes, b->bytes + b->n, n);
    b->n += n;
    return GBS_OK;
}

gbs_status gbs_share_pack(const gbs_share *share, void **bytes, size_t *n, gbs_error *err)
{
    GBSI_NEED(share, bytes, n);
    buffer b = {0};
    const gbsi_sink sink = {&b, put};
    const gbs_status status = gbsi_share_save(share, &sink, err);
    if (status < 0) {
        gbsi_free(b.bytes);
        return status;
    }
    *bytes = b.bytes;
    *n = b.n;
    return GBS_OK;
}

gbs_status gbs_share_unpack(const void *bytes, size_t n, gbs_share **share, gbs_error *err)
{
    GBSI_NEED(bytes, share);
    buffer b = {.bytes = (unsigned char *)(uintptr_t)bytes,
                .capacity = n}; /* a buffer of bytes that are only read */
    const gbsi_source source = {&b, take};
    return gbsi_share_load(&source, n, share, err);
}

void gbs_share_bytes_free(void *bytes)
{
    gbsi_free(bytes);
}

/* ---- told ---------------------------------------------------------------------------------- */

uint32_t gbs_share_rank(const gbs_share *share)
{
    return share == NULL ? 0 : share->rank;
}

uint32_t gbs_share_n_ranks(const gbs_share *share)
{
    return share == NULL ? 0 : (uint32_t)share->facts.n_ranks;
}

int gbs_share_needs_whole(const gbs_share *share)
{
    return share != NULL && share->facts.searched != 0;
}

/* The number of own variables that are sent to other ranks. */
static uint32_t count_boundary(const gbs_share *share)
{
    const gbsi_schedule *s = &share->schedule;
    uint32_t n = 0;
    for (uint32_t b = 0; b < s->n_batches; b += 2) {
        for (size_t p = s->batch_start[b]; p < s->batch_start[b + 1]; ++p) {
            n += s->piece[p].n;
        }
    }
    return n;
}

gbs_status gbs_share_tell(const gbs_share *share, gbs_share_figures *figures, gbs_error *err)
{
    GBSI_NEED(share, figures);
    GBSI_OUT_STRUCT(figures, gbs_share_figures);
    const size_t n_lists = (size_t)share->facts.n_batches * share->n_neighbours;
    figures->n_own = share->n_own;
    figures->n_halo = share->part->n_variables - share->n_own;
    figures->n_boundary = count_boundary(share);
    figures->n_neighbours = share->n_neighbours;
    figures->n_messages = 0;
    for (size_t i = 0; i < n_lists; ++i) {
        figures->n_messages += share->out.start[i] < share->out.start[i + 1];
    }
    figures->n_values = share->out.start[n_lists];
    figures->n_runs = share->schedule.n_pieces;
    figures->bytes = gbsi_share_bytes(share);
    return GBS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/keep.h"

#include <string.h>

#include "base/clock.h"
#include "gibbsite/run.h"

#define EVERY_S 300.0

static const gbsi_kept_form form = {
    "checkpoint of learning", {0x89, 'G', 'C', 'L', '\r', '\n', 0x1a, '\n'}, 1};

bool gbsi_keep_writes(const gbsi_keep *keep)
{
    return keep->files != NULL && keep->files->write != NULL;
}

gbs_status gbsi_keep_digest(const char *kind, size_t n_rows, size_t n_sites, const double *weight,
                            gbsi_digest **digest, gbs_error *err)
{
    const uint64_t sizes[2] = {n_rows, n_sites};
    const char *version = gbs_version();
    const gbs_status status = gbsi_digest_new(digest, err);
    if (status >= 0) {
        gbsi_digest_bytes(*digest, kind, strlen(kind) + 1);
        gbsi_digest_bytes(*digest, version, strlen(version) + 1);
        gbsi_digest_u64(*digest, sizes, 2);
        gbsi_digest_f64(*digest, weight, n_rows);
    }
    return status;
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_keep *k = object;
    const gbs_status status = sink->put(sink->context, k->digest, sizeof k->digest, err);
    return status < 0 ? status : k->save(k->object, sink, err);
}

gbs_status gbsi_keep_open(gbsi_keep *keep, gbsi_kept **kept, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_kept *opened = NULL;
    char digest[33] = "";
    const char *no_locks = NULL; /* a report of learning has no member for this warning */
    if (gbsi_keep_writes(keep)) {
        GBSI_PASS(gbsi_kept_lock_take(&keep->lock, keep->files->write, &form, &no_locks, err));
    }
    if (keep->files == NULL || keep->files->resume == NULL) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_kept_open(keep->files->resume, &form, &opened, err));
    const gbsi_source source = gbsi_kept_source(opened);
    GBSI_TRY(source.take(source.context, digest, sizeof digest, err));
    if (memcmp(digest, keep->digest, sizeof digest) != 0) {
        GBSI_TRY(gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "%s: found a checkpoint of other rows, other options, another model or another "
            "version, expected one of this learning",
            keep->files->resume));
    }
    *kept = opened;
    opened = NULL;

cleanup:
    gbsi_kept_close(opened);
    return status;
}

gbs_status gbsi_keep_first(gbsi_keep *keep, gbs_error *err)
{
    keep->last_s = gbsi_clock_s();
    return gbsi_keep_writes(keep) ? gbsi_kept_write(keep->files->write, &form,
                                                    &(gbsi_kept_content){keep, save}, 2, err)
                                  : GBS_OK;
}

void gbsi_keep_last(gbsi_keep *keep)
{
    gbs_error why;
    keep->n_failed +=
        gbsi_keep_writes(keep) &&
        gbsi_kept_write(keep->files->write, &form, &(gbsi_kept_content){keep, save}, 1, &why) < 0;
    keep->last_s = gbsi_clock_s();
}

void gbsi_keep_end(gbsi_keep *keep)
{
    gbsi_kept_lock_release(&keep->lock);
}

void gbsi_keep_if_due(gbsi_keep *keep)
{
    if (gbsi_keep_writes(keep) &&
        gbsi_clock_s() - keep->last_s >= (keep->every_s > 0.0 ? keep->every_s : EVERY_S)) {
        gbsi_keep_last(keep);
    }
}

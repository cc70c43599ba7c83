/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a checkpoint file before a run exists. See docs/checkpoint.md. */
#include "base/memory.h"
#include "base/sized.h"
#include "chains/run.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/checkpoint_text.h"
#include "gibbsite/io.h"

enum { MOST_TEXT = 1 << 16 };

const gbsi_kept_form gbsi_checkpoint_form = {
    "checkpoint", {0x89, 'G', 'C', 'K', '\r', '\n', 0x1a, '\n'}, 1};

gbs_status gbsi_checkpoint_open(const char *path, gbsi_kept **kept, char **text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t n = 0;
    gbsi_kept *opened = NULL;
    char *read = NULL;
    GBSI_TRY(gbsi_kept_open(path, &gbsi_checkpoint_form, &opened, err));
    const gbsi_source source = gbsi_kept_source(opened);
    GBSI_TRY(gbsi_take_numbers(&source, &n, 1, sizeof n, err));
    if (n > MOST_TEXT || n > gbsi_kept_left(opened)) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT, "%s: its text is too long", path));
    }
    read = gbsi_alloc_zero((size_t)n + 1);
    GBSI_TRY(GBSI_HAVE(err, path, read));
    GBSI_TRY(source.take(source.context, read, (size_t)n, err));
    *kept = opened;
    *text = read;
    opened = NULL;
    read = NULL;
cleanup:
    gbsi_free(read);
    gbsi_kept_close(opened);
    return status;
}

int gbs_is_checkpoint(const char *path)
{
    return path != NULL && gbsi_kept_is(path, &gbsi_checkpoint_form);
}

gbs_status gbs_checkpoint_read(const char *path, gbs_checkpoint *checkpoint, gbs_error *err)
{
    GBSI_NEED(path, checkpoint);
    GBSI_OUT_STRUCT(checkpoint, gbs_checkpoint);
    gbs_status status = GBS_OK;
    gbsi_kept *kept = NULL;
    char *text = NULL;
    gbsi_standing s;
    GBSI_TRY(gbsi_checkpoint_open(path, &kept, &text, err));
    GBSI_TRY(gbsi_text_standing(path, text, &s, err));
    const bool before = s.phase == GBSI_PHASE_CLIMBING && s.sweeps == 0;
    gbs_checkpoint own = {.burning_in = s.phase == GBSI_PHASE_BURN_IN || before,
                          .chains = (uint32_t)s.chains,
                          .burn_in = s.burn_in,
                          .sweeps = s.sweeps,
                          .updates = s.updates,
                          .seconds = s.seconds,
                          .target_error = s.target_error,
                          .max_mcse = s.max_mcse,
                          .max_rhat = s.max_rhat,
                          .min_ess = s.min_ess,
                          .bytes = gbsi_kept_bytes(kept),
                          .draws = s.draws,
                          .log_density = s.best,
                          .log_z = s.log_z};
    gbsi_text_line(text, "version", own.version, sizeof own.version);
    gbsi_text_line(text, "model", own.model, sizeof own.model);
    gbsi_text_line(text, "task", own.task, sizeof own.task);
    gbsi_struct_give(checkpoint, &own, sizeof own);
cleanup:
    gbsi_kept_close(kept);
    gbsi_free(text);
    return status;
}

gbs_status gbs_checkpoint_options(const char *path, gbs_run_options *options, gbs_error *err)
{
    GBSI_NEED(path, options);
    gbs_status status = GBS_OK;
    gbsi_kept *kept = NULL;
    char *text = NULL;
    GBSI_TRY(gbsi_checkpoint_open(path, &kept, &text, err));
    GBSI_TRY(gbsi_text_options(text, options, err));
cleanup:
    gbsi_kept_close(kept);
    gbsi_free(text);
    return status;
}

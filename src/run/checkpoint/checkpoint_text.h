/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a checkpoint and its text, shared by checkpoint*.c. */
#ifndef GBSI_CHECKPOINT_CHECKPOINT_TEXT_H
#define GBSI_CHECKPOINT_CHECKPOINT_TEXT_H

#include "chains/report.h"
#include "choose/problem.h"
#include "gibbsite/checkpoint.h"
#include "text/kept_file.h"

/* The progress of a run, in numbers. */
typedef struct gbsi_standing {
    uint64_t phase, pass, burn_in, sweeps, updates, chains, support;
    uint64_t burn_in_most, slow_passes, burn_in_agreed, starts_dispersed, bins, cud_bits, draws;
    double seconds, target_error, max_mcse, max_rhat, min_ess, best, log_z;
} gbsi_standing;

extern const gbsi_kept_form gbsi_checkpoint_form;

/* Opens a file and reads its text, up to its parts. @param kept out: the caller closes it with
 * gbsi_kept_close(). @param text out: the caller frees it with gbs_free(). */
gbs_status gbsi_checkpoint_open(const char *path, gbsi_kept **kept, char **text, gbs_error *err);
/* @param text out: [*n] and a final 0; the caller frees it with gbs_free(). */
gbs_status gbsi_checkpoint_text(const gbs_run *run, const gbsi_standing *standing, char **text,
                                size_t *n, gbs_error *err);
/* Writes the text of all settings that must be equal on all ranks of a run, line by line.
 * @param text out: the caller frees it with gbs_free(). */
gbs_status gbsi_identity_text(const gbs_run *run, char **text, size_t *n, gbs_error *err);
/* Writes the text of the settings that are made after the run was created and must be equal on all
 * ranks: files, monitors and draws. */
gbs_status gbsi_files_text(const gbs_run *run, char **text, size_t *n, gbs_error *err);
/* Makes a digest of the choice of components that are answered exactly; the digest is "" if all
 * components are sampled.
 * @param text [33] out. */
gbs_status gbsi_digest_exact(const gbsi_report *report, const gbsi_problem *problem, char *text,
                             gbs_error *err);
/* Reads the progress of the run from a text. @param path path of the file, for messages. */
gbs_status gbsi_text_standing(const char *path, const char *text, gbsi_standing *standing,
                              gbs_error *err);
/* Copies the value of a line that identifies the run: "version", "model", "task" or "draws".
 * @param value [n] out; "" if the line is missing. */
void gbsi_text_line(const char *text, const char *name, char *value, size_t n);
/* Reads the options with which the run was begun. */
gbs_status gbsi_text_options(const char *text, gbs_run_options *options, gbs_error *err);
/* Replaces options by the values that the run chose during its execution. */
gbs_status gbsi_text_decided(const char *path, const char *text, gbs_run_options *options,
                             gbs_error *err);
/* Checks that this run would go on in the same way as the run of the checkpoint. @return
 * GBS_ERR_ARGUMENT, with a message that names a difference. */
gbs_status gbsi_text_check(const gbs_run *run, const char *path, const char *text,
                           const gbsi_standing *standing, gbs_error *err);
/* Values of a run that depend on --sweeps or --target-error. */
uint64_t gbsi_run_bins(const gbsi_problem *problem, const gbs_run_options *options);

#endif

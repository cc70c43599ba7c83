/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A run as a text that can be kept and shown: summaries in JSON, and a page in HTML of one or
 * several of them, which needs no network and no script.
 *
 *     gbs_summary_about about = {.size = sizeof about, .command = "what repeats it"};
 *     gbs_output *summary = NULL;
 *     gbs_output *page = NULL;
 *     char *text = NULL;
 *     size_t n = 0;
 *     gbs_run *run = NULL;
 *     gbs_run_new(model, evidence, NULL, &run, &err);
 *     gbs_run_execute(run, NULL, &err);
 *     gbs_output_open_memory(&summary, &err);
 *     gbs_run_summary(run, &about, summary, &err);
 *     gbs_output_take(summary, &text, &n, &err);
 *     const gbs_report_source source = {"my run", text, n};
 *     gbs_output_open("report.html", &page, &err);
 *     gbs_report_html(&source, 1, page, &err);
 *     gbs_output_commit(page, &err);
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_REPORT_H
#define GIBBSITE_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/options.h"
#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Facts that a summary states and the run does not know. All fields but size may be 0 or NULL. */
typedef struct gbs_summary_about {
    size_t size;                    /**< sizeof(gbs_summary_about), set by the caller */
    const gbs_run_options *options; /**< options as the user set them; NULL: as the run has them */
    const char *model;              /**< what the model is called: the name of its file */
    const char *command;            /**< the command line that repeats the run */
    const char *const *evidence;    /**< [n_evidence] the evidence as text or as names of files */
    size_t n_evidence;              /**< number of texts */
    uint64_t evidence_index;        /**< sample of the evidence files, counted from 0 */
    const char *virtual_evidence;   /**< name of a file */
    const char *likelihood;         /**< in words */
    const char *start;              /**< name of a file */
    const char *scan_file;          /**< name of a file */
    uint64_t peak_rss_bytes;        /**< the most memory that the process has held */
    const double *log_p_evidence;   /**< ln P(evidence) of a Bayesian network; NULL: not known */
    const char *monitored;          /**< an object of JSON, as traces have it; NULL: null */
    const uint32_t *query;          /**< [n_query] variables to show; NULL: all */
    size_t n_query;                 /**< number of variables */
    uint32_t rows, columns;         /**< sides of the picture that the variables are; 0: found
                                         from the factors where they join a grid */
} gbs_summary_about;

/**
 * Write the summary of a run as JSON, schema run/1 of gibbsite-formats(5): what was asked, what was
 * done, the verdict, and what the page shows of the marginals. The page shows the 40 variables with
 * the largest errors, or all if there are no more, and how R-hat and effective sample sizes are
 * distributed; if the variables are a grid, also pictures of at most 512 x 512 pixels.
 *
 * @param run    borrowed; call after gbs_run_execute(). The marginals are null if the run keeps
 * none.
 * @param about  NULL for nothing.
 * @param output out, borrowed; untouched on failure.
 * @return GBS_OK; GBS_ERR_ARGUMENT; GBS_ERR_MEMORY: it takes 32 bytes for each state of a variable.
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_summary(const gbs_run *run, const gbs_summary_about *about,
                                                gbs_output *output, gbs_error *err);

/** A summary in JSON. */
typedef struct gbs_report_source {
    const char *name; /**< of its file, for the page and for messages */
    const char *text; /**< [n], UTF-8; NULL: the file is read, and unpacked if it is compressed */
    size_t n;         /**< bytes of text */
} gbs_report_source;

/**
 * Write a page in HTML. The sources are summaries of runs (schema run/1), estimates of ln Z
 * (logz/1), most probable states (map/1) and draws (draws/1, see gbs_draws_summary()), as
 * gibbsite-formats(5) describes them. Several runs are compared at the top of the page.
 *
 * The page is one file that loads nothing, and says so to browsers (Content-Security-Policy); it
 * depends on the sources alone.
 *
 * @param source [n_sources], 1 to 64.
 * @param output out, borrowed; untouched on failure.
 * @return GBS_OK; GBS_ERR_FORMAT "NAME:LINE:COLUMN: ..." for a text in none of these formats;
 *         GBS_ERR_IO, GBS_ERR_ARGUMENT; GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_report_html(const gbs_report_source *source, size_t n_sources,
                                                gbs_output *output, gbs_error *err);

/** Draws of one quantity, for gbs_draws_summary(). */
typedef struct gbs_drawn {
    const char *name;
    const double *draws; /**< [n_chains][n_draws], chain after chain */
} gbs_drawn;

/**
 * Write what a page shows of draws as JSON, schema draws/1 of gibbsite-formats(5). For each
 * quantity it has the diagnostics (gbs_diagnose()), the draws of up to four chains, how the ranks
 * of these chains spread among those of all, and autocorrelations. Draws are thinned to 400 a
 * chain; if all of them are 0 or 1, means of the draws so far are written.
 *
 * @param drawn [n] quantities with n_chains chains of n_draws draws each, at least 1.
 * @param output out, borrowed; untouched on failure.
 * @return GBS_OK; GBS_ERR_ARGUMENT; GBS_ERR_MEMORY: it takes 80 bytes a draw of one quantity.
 */
GBS_API GBS_MUST_USE gbs_status gbs_draws_summary(const gbs_drawn *drawn, size_t n, size_t n_chains,
                                                  size_t n_draws, gbs_output *output,
                                                  gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reports of runs: summaries in JSON, and a page in HTML that shows one or several summaries. The
 * page needs no network and no script.
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
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
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

/** Facts for a summary that the run itself does not know. All fields except size may be 0 or
 * NULL. */
typedef struct gbs_summary_about {
    size_t size; /**< sizeof(gbs_summary_about), set by the caller */
    /** options as the user set them; NULL: the options of the run */
    const gbs_run_options *options;
    const char *model;            /**< name of the model, such as the name of its file */
    const char *command;          /**< the command line that repeats the run */
    const char *const *evidence;  /**< [n_evidence] the evidence as text or as names of files */
    size_t n_evidence;            /**< number of texts in evidence */
    uint64_t evidence_index;      /**< sample of the evidence files, counted from 0 */
    const char *virtual_evidence; /**< name of the file of virtual evidence */
    const char *likelihood;       /**< likelihoods as the user typed them */
    const char *start;            /**< name of the file with the initial state */
    const char *scan_file;        /**< name of the file with the scan */
    uint64_t peak_rss_bytes;      /**< peak memory of the process in bytes */
    const double *log_p_evidence; /**< ln P(evidence) of a Bayesian network; NULL: not known */
    /** a JSON object about monitored variables; NULL: the summary has null */
    const char *monitored;
    const uint32_t *query;  /**< [n_query] variables to show; NULL: all */
    size_t n_query;         /**< number of variables in query */
    uint32_t rows, columns; /**< sides of the picture that the variables form; 0: the sides are
                               found from the factors if these form a grid */
    const gbs_evidence *observed; /**< the evidence of the run: its variables are marked in the
                                     drawing of the network */
} gbs_summary_about;

/**
 * Write the summary of a run as JSON, schema run/1 of gibbsite-formats(5): the question, the work
 * done, the verdict, and the part of the marginals that the page shows. The page shows the
 * marginals of up to 40 variables, those with the largest errors, and the distributions of R-hat
 * and effective sample sizes. If the variables form a grid, it also shows pictures of at most 512 x
 * 512 pixels. If all variables are shown, it also has the graph of the model, which the page draws.
 *
 * @param run    borrowed; call after gbs_run_execute(). The marginals are null if the run keeps
 * none. @param about NULL if there is nothing to add.
 * @param output out, borrowed; untouched on failure.
 * @return GBS_OK; GBS_ERR_ARGUMENT; GBS_ERR_MEMORY (the call needs 32 bytes for each state of a
 *         variable).
 */
GBS_API GBS_MUST_USE gbs_status gbs_run_summary(const gbs_run *run, const gbs_summary_about *about,
                                                gbs_output *output, gbs_error *err);

/** A summary in JSON. */
typedef struct gbs_report_source {
    const char *name; /**< name of the summary's file, for the page and for messages */
    /** [n] contents in UTF-8; NULL: the file is read, and decompressed if needed */
    const char *text;
    size_t n; /**< number of bytes of text */
} gbs_report_source;

/**
 * Write a page in HTML. The sources are summaries of runs (schema run/1), estimates of ln Z
 * (logz/1), most probable states (map/1), draws (draws/1, see gbs_draws_summary()), as
 * gibbsite-formats(5) describes them, and bounds on the error of scans (certify/1, see
 * gibbsite-certify(1)). Several runs are compared at the top of the page.
 *
 * The page is one file that loads nothing, and it forbids browsers to load anything
 * (Content-Security-Policy). The contents of the page depend only on the sources.
 *
 * @param source [n_sources], 1 to 64.
 * @param output out, borrowed; untouched on failure.
 * @return GBS_OK; GBS_ERR_FORMAT "NAME:LINE:COLUMN: ..." for a text that has none of these formats;
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
 * Write facts about draws as JSON, schema draws/1 of gibbsite-formats(5), from which
 * gbs_report_html() makes a page. For each quantity the JSON has the diagnostics (gbs_diagnose()),
 * the draws of up to four chains, histograms of the ranks of these chains' draws among all draws,
 * and autocorrelations. Draws are thinned to 400 for each chain. If every draw is 0 or 1, running
 * means are written instead of draws.
 *
 * @param drawn [n] quantities with n_chains chains of n_draws draws each, at least 1.
 * @param output out, borrowed; untouched on failure.
 * @return GBS_OK; GBS_ERR_ARGUMENT; GBS_ERR_MEMORY (the call needs 80 bytes for each draw of one
 *         quantity).
 */
GBS_API GBS_MUST_USE gbs_status gbs_draws_summary(const gbs_drawn *drawn, size_t n, size_t n_chains,
                                                  size_t n_draws, gbs_output *output,
                                                  gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a page while it is written, and functions that the parts of the page share. */
#ifndef GBSI_REPORT_PAGE_H
#define GBSI_REPORT_PAGE_H

#include "chart/chart.h"
#include "report/json.h"

typedef struct gbsi_page {
    gbs_output *out;
    const gbsi_json_file *file; /* the JSON file that this part of the page shows */
    gbs_error *err;
    gbs_status
        status; /* first failure; after a failure the output goes to memory and is thrown away */
    unsigned n_figures; /* number of figures so far, from which the ids of figures are made */
} gbsi_page;

/* ---- page_text.c: reading -------------------------------------------------------------------
 *
 * A missing member, or null, gives NULL, NAN, 0 or false. A member of another type is a failure. */

const gbsi_json *gbsi_page_object(gbsi_page *page, const gbsi_json *of, const char *name);
const gbsi_json *gbsi_page_array(gbsi_page *page, const gbsi_json *of, const char *name);
const char *gbsi_page_string(gbsi_page *page, const gbsi_json *of, const char *name);
/* @return a number as it is written */
const char *gbsi_page_digits(gbsi_page *page, const gbsi_json *of, const char *name);
double gbsi_page_real(gbsi_page *page, const gbsi_json *of, const char *name);
bool gbsi_page_is(gbsi_page *page, const gbsi_json *of, const char *name); /* true or false */
/* Reads at most n numbers of an array.
 * @param value [n], out; NAN for a number that is not finite or cannot be drawn.
 * @return the number of elements of the array, at most n. */
size_t gbsi_page_reals(gbsi_page *page, const gbsi_json *array, double *value, size_t n);
/* Reports that a value does not have the expected form. */
void gbsi_page_refuse(gbsi_page *page, const gbsi_json *value, const char *expected);

/* ---- page_text.c: writing ------------------------------------------------------------------- */

void gbsi_page_put(gbsi_page *page, const char *html);
/* Writes text with &, <, > and quotes as entities, and with U+FFFD in place of control characters
 * and of bytes that are not UTF-8. */
void gbsi_page_text(gbsi_page *page, const char *text);
/* Writes a number with `digits` significant digits, in the notation that people use; "–" for a
 * missing number. */
void gbsi_page_number(gbsi_page *page, double value, int digits);
const char *gbsi_page_number_text(double value, int digits, char text[48]);
/* Writes a number such as 0.0123 with `decimals` decimals. */
void gbsi_page_fixed(gbsi_page *page, double value, int decimals);
const char *gbsi_page_fixed_text(double value, int decimals, char text[48]);
/* Writes the digits of a count in groups: "131 072". */
void gbsi_page_count(gbsi_page *page, const char *digits);
/* gbsi_page_term() begins a row in a list of facts with the term, behind which the value
 * follows. */
void gbsi_page_term(gbsi_page *page, const char *term);
void gbsi_page_fact(gbsi_page *page, const char *term, const char *text);
void gbsi_page_fact_count(gbsi_page *page, const char *term, const char *digits);
void gbsi_page_fact_real(gbsi_page *page, const char *term, double value);
/* @return the name of a file without its folders. */
const char *gbsi_page_base_name(const char *path);
/* Writes the observed evidence, or "none".
 * @param options options of a run. */
void gbsi_page_evidence(gbsi_page *page, const gbsi_json *options);
/* Writes a figure with a caption. @param figure in and out: the call sets the id of the figure. */
void gbsi_page_figure(gbsi_page *page, gbsi_figure *figure, const char *caption);

/* ---- parts of the page ----------------------------------------------------------------------- */

void gbsi_page_style(gbsi_page *page);
/* page_run.c */
void gbsi_page_verdict(gbsi_page *page, const gbsi_json *run);
void gbsi_page_run(gbsi_page *page, const gbsi_json *run);
/* Writes the command line and the digests. @param model digest of the model, or NULL. */
void gbsi_page_repeat(gbsi_page *page, const gbsi_json *run, const char *model);
/* page_marginals.c */
void gbsi_page_marginals(gbsi_page *page, const gbsi_json *marginals);
/* page_network.c: draws the network of a run, unless it is missing. */
void gbsi_page_network(gbsi_page *page, const gbsi_json *marginals);
/* page_convergence.c */
void gbsi_page_convergence(gbsi_page *page, const gbsi_json *marginals);
void gbsi_page_draws(gbsi_page *page, const gbsi_json *draws);
/* Writes the traces of a run.
 * @param monitored monitored quantities, NULL for none. */
void gbsi_page_traces(gbsi_page *page, const gbsi_json *monitored);
/* page_answers.c */
void gbsi_page_log_z(gbsi_page *page, const gbsi_json *log_z);
void gbsi_page_map(gbsi_page *page, const gbsi_json *map);
/* page_certify.c */
void gbsi_page_certify(gbsi_page *page, const gbsi_json *certify);
/* page_compare.c. @param file [n] sources, of which some are runs. */
void gbsi_page_compare(gbsi_page *page, const gbsi_json_file *file, size_t n);

#endif

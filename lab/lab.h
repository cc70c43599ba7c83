/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that every experiment uses: for its files, its runs, its progress, and its findings.
 *
 * An experiment is one file with one function that takes a laboratory. The experiment runs samplers
 * through the laboratory (seed and threads are the user's), writes tables and figures into its
 * folder, and reports each part of the claim with lab_find(). Whatever it writes is a function of
 * the seed alone, except for times, which have files and notes of their own and decide no finding.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <stdbool.h>

#include "base/status.h"
#include "chart/chart.h"
#include "gibbsite/run.h"
#include "lab/reproduction.h"
#include "lab/verdicts.h"

typedef struct laboratory {
    const lab_reproduce_options *options;
    const char *folder;
    const gbs_evidence *evidence; /* evidence of the runs that follow; NULL for none */
    const char *what;             /* is being run, for the progress */
    double done, total;           /* variable updates, over all runs of the experiment */
    double part;                  /* largest share of progress of the run that was begun last */
    lab_verdict verdict;
} laboratory;

/* An experiment as the table holds it. */
typedef struct lab_experiment_row {
    lab_experiment about;
    bool takes_data;
    gbs_status (*run)(laboratory *lab, gbs_error *err);
} lab_experiment_row;

/* Stores the status and leaves through `cleanup:` on failure and when a run was stopped. */
#define LAB_TRY(e)              \
    do {                        \
        status = (e);           \
        if (status != GBS_OK) { \
            goto cleanup;       \
        }                       \
    } while (0)

/* A table of what has been reached, written after a stop as well: LAB_TRY(status) then leaves. */
#define LAB_KEEP(e)                                        \
    do {                                                   \
        const gbs_status kept = status < 0 ? status : (e); \
        status = kept < 0 ? kept : status;                 \
    } while (0)

/* How many updates there will be in all, for the progress. */
void lab_expect(laboratory *lab, double updates);

/* Run options with the seed and threads of the laboratory: sampled, no burn-in, states counted, one
 * variable after the other in order. */
gbs_run_options lab_options(const laboratory *lab, uint64_t chains, uint64_t sweeps);

/* A run begins. @param what description for the progress, static. @param updates the largest number
 * of updates of the experiment, not counting those that compare herded with random draws, which
 * progress does not show. */
void lab_begin(laboratory *lab, const char *what, double updates);

/* Report the progress, from within a run. @param updates updates of that run so far. @return
 * nonzero to stop.
 */
int lab_tell(const laboratory *lab, double updates);

/* Does the same for work that has no updates; a callback. @param lab a laboratory. */
int lab_is_stopped(void *lab);

typedef gbs_status lab_on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                               const uint32_t *state, gbs_error *err);
/* A run to its end. @param what description for the progress, static. @param on_draw NULL for none.
 * @param out the run, or NULL; caller frees. @return GBS_ERR_STATE where a run ends early. */
gbs_status lab_run(laboratory *lab, const char *what, const gbs_model *model,
                   const gbs_run_options *options, lab_on_draw *on_draw, void *context,
                   gbs_run **out, gbs_error *err);

/* ---- numbers from the seed ---------------------------------------------------------------- */

/* Numbers of the independent streams of random numbers, one for each use. */
typedef enum lab_stream {
    LAB_CYCLE = 1000,         /* index: table entry */
    LAB_NOISE = 1001,         /* index: pixel, over all pictures */
    LAB_ORDER = 1002,         /* index: place, over all pictures */
    LAB_COUPLING = 1003,      /* index: variable, attempt: model */
    LAB_FIELD = 1004,         /* likewise */
    LAB_SCAN = 1005,          /* index: update, over all scans, attempt: step */
    LAB_STRINGS = 1010,       /* index: citation */
    LAB_ALIKE = 1011,         /* index: variable */
    LAB_NEWS = 1012,          /* index: document, attempt: step */
    LAB_TEXTURE = 1013,       /* index: picture, attempt: step */
    LAB_TEXTURE_NOISE = 1014, /* index: pixel, over all pictures */
    LAB_ROW_OF_SPINS = 1015,  /* index: entry, over all rows, attempt: data set */
} lab_stream;

/* Two uniform numbers in [0, 1). @param attempt where numbers may be rejected, else 0. */
void lab_uniforms(const laboratory *lab, lab_stream stream, uint32_t index, uint32_t attempt,
                  double u[2]);
/* A standard normal number. */
double lab_normal(const laboratory *lab, lab_stream stream, uint32_t index);

/* ---- what it writes ---------------------------------------------------------------------- */

/* FOLDER/NAME. @param path out, caller frees with gbs_free(). */
gbs_status lab_path_in(const char *folder, const char *name, char **path, gbs_error *err);
/* Files of a folder whose names are wanted, FOLDER/NAME in the order of their names. @param what a
 * name for such files, used in the message if none is found. @param name out, zero before; free in
 * any case. */
gbs_status lab_list_folder(const char *folder, bool (*wanted)(const char *), const char *what,
                           char ***name, size_t *n, gbs_error *err);
void lab_free_names(char **name, size_t n);

/* A table in the folder; if it cannot be opened, the function that closes it returns the failure.
 */
typedef struct lab_table {
    gbs_output *output;
    const char *comma; /* before the next field */
    gbs_status status;
    gbs_error *err;
} lab_table;

/* @param header the first line of the table, without the newline. */
lab_table lab_table_open(const laboratory *lab, const char *name, const char *header,
                         gbs_error *err);
/* Fields of a row. */
void lab_table_text(lab_table *table, const char *text);
void lab_table_number(lab_table *table, double value);
/* A row, or the rest of one: two texts (NULL: none), then numbers. @param number [n]. */
void lab_table_row(lab_table *table, const char *first, const char *second, size_t n,
                   const double *number);
#define LAB_ROW(table, first, second, ...)                                                \
    lab_table_row(table, first, second, sizeof((double[]){__VA_ARGS__}) / sizeof(double), \
                  (const double[]){__VA_ARGS__})
gbs_status lab_table_close(lab_table *table);

/* ---- what it found ----------------------------------------------------------------------- */

/* Reports a part of the claim, as a clause without punctuation at its end: the measured value and
 * the expected one. @param ruling LAB_JUDGE(a row of verdicts.def, its figures). */
void lab_find(laboratory *lab, lab_ruling ruling, const char *format, ...) GBSI_PRINTF(3, 4);
/* Notes where this run differs from the paper's, and why. */
void lab_note(laboratory *lab, const char *format, ...) GBSI_PRINTF(2, 3);

/* experiments.c: the table. */
const lab_experiment_row *lab_experiment_named(const char *name);

#endif

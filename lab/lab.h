/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that every experiment uses: for its files, its runs, its progress, and its findings.
 *
 * An experiment is one file with one function that takes a laboratory. The experiment runs samplers
 * through the laboratory (seed and threads are the user's), writes tables and figures into its
 * folder, and reports each part of the claim with lab_find(). All results are functions of the seed
 * alone, except for times. Times have their own files and notes, and no finding depends on them. */
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
    const gbs_evidence *evidence; /* evidence of the following runs; NULL for none */
    const char *what;             /* description of the current run, for the progress */
    /* variable updates over all runs of the experiment: done, and in total */
    double done, total;
    double part; /* most updates that the current run adds to the progress */
    lab_verdict verdict;
} laboratory;

/* An experiment in the table of experiments. */
typedef struct lab_experiment_row {
    lab_experiment about;
    bool takes_data;
    gbs_status (*run)(laboratory *lab, gbs_error *err);
} lab_experiment_row;

/* Stores the status of the expression e, and jumps to `cleanup:` on failure or if a run was
 * stopped. */
#define LAB_TRY(e)              \
    do {                        \
        status = (e);           \
        if (status != GBS_OK) { \
            goto cleanup;       \
        }                       \
    } while (0)

/* Writes a table of the results so far, even after a stop; LAB_TRY(status) must follow. */
#define LAB_KEEP(e)                                        \
    do {                                                   \
        const gbs_status kept = status < 0 ? status : (e); \
        status = kept < 0 ? kept : status;                 \
    } while (0)

/* Sets the number of updates of all runs, for the progress. */
void lab_expect(laboratory *lab, double updates);

/* Run options with the seed and threads of the laboratory: chains are sampled without burn-in,
 * states are counted, and variables are updated in order. */
gbs_run_options lab_options(const laboratory *lab, uint64_t chains, uint64_t sweeps);

/* Begins a run. @param what description for the progress, static. @param updates largest number
 * of updates that the run adds to the progress. */
void lab_begin(laboratory *lab, const char *what, double updates);

/* Reports the progress from within a run. @param updates updates of the run so far. @return nonzero
 * to stop. */
int lab_tell(const laboratory *lab, double updates);

/* Reports the progress of work that has no updates, as a callback. @param lab a laboratory. @return
 * nonzero to stop. */
int lab_is_stopped(void *lab);

typedef gbs_status lab_on_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                               const uint32_t *state, gbs_error *err);
/* Executes a run to its end. @param what description for the progress, static. @param on_draw
 * callback for draws; NULL for none.
 * @param out the run, which the caller frees; may be NULL. @return GBS_ERR_STATE if the run ends
 * early. */
gbs_status lab_run(laboratory *lab, const char *what, const gbs_model *model,
                   const gbs_run_options *options, lab_on_draw *on_draw, void *context,
                   gbs_run **out, gbs_error *err);

/* ---- numbers from the seed ---------------------------------------------------------------- */

/* Numbers of the independent random streams, one for each use. */
typedef enum lab_stream {
    LAB_CYCLE = 1000,         /* index: table entry */
    LAB_NOISE = 1001,         /* index: pixel over all pictures */
    LAB_ORDER = 1002,         /* index: place over all pictures */
    LAB_COUPLING = 1003,      /* index: variable, attempt: model */
    LAB_FIELD = 1004,         /* index: variable, attempt: model */
    LAB_SCAN = 1005,          /* index: update over all scans, attempt: step */
    LAB_STRINGS = 1010,       /* index: citation */
    LAB_ALIKE = 1011,         /* index: variable */
    LAB_NEWS = 1012,          /* index: document, attempt: step */
    LAB_TEXTURE = 1013,       /* index: picture, attempt: step */
    LAB_TEXTURE_NOISE = 1014, /* index: pixel over all pictures */
    LAB_ROW_OF_SPINS = 1015,  /* index: entry over all rows, attempt: data set */
} lab_stream;

/* Two uniform random numbers in [0, 1). @param attempt number of earlier draws that were rejected;
 * 0 if draws are never rejected. */
void lab_uniforms(const laboratory *lab, lab_stream stream, uint32_t index, uint32_t attempt,
                  double u[2]);
/* A standard normal number. */
double lab_normal(const laboratory *lab, lab_stream stream, uint32_t index);

/* ---- files and tables -------------------------------------------------------------------- */

/* Makes the path FOLDER/NAME. @param path out, which the caller frees with gbs_free(). */
gbs_status lab_path_in(const char *folder, const char *name, char **path, gbs_error *err);
/* Lists the files of a folder whose names satisfy wanted(), as FOLDER/NAME in the order of their
 * names. @param what word for such files in the message if there are none. @param name out; must be
 * zero before, and must be freed in any case. */
gbs_status lab_list_folder(const char *folder, bool (*wanted)(const char *), const char *what,
                           char ***name, size_t *n, gbs_error *err);
void lab_free_names(char **name, size_t n);

/* A table in the folder of results. If the table cannot be opened, lab_table_close() returns the
 * failure. */
typedef struct lab_table {
    gbs_output *output;
    const char *comma; /* text before the next field */
    gbs_status status;
    gbs_error *err;
} lab_table;

/* @param header first line of the table, without the newline. */
lab_table lab_table_open(const laboratory *lab, const char *name, const char *header,
                         gbs_error *err);
/* Append fields to a row. */
void lab_table_text(lab_table *table, const char *text);
void lab_table_number(lab_table *table, double value);
/* Writes a row, or the rest of a row: two texts (NULL for none), then numbers. @param number [n].
 */
void lab_table_row(lab_table *table, const char *first, const char *second, size_t n,
                   const double *number);
#define LAB_ROW(table, first, second, ...)                                                \
    lab_table_row(table, first, second, sizeof((double[]){__VA_ARGS__}) / sizeof(double), \
                  (const double[]){__VA_ARGS__})
gbs_status lab_table_close(lab_table *table);

/* ---- findings ---------------------------------------------------------------------------- */

/* Reports a part of the claim, as a clause without punctuation at its end that states the measured
 * and the expected value. @param ruling LAB_JUDGE(a row of verdicts.def, its figures). */
void lab_find(laboratory *lab, lab_ruling ruling, const char *format, ...) GBSI_PRINTF(3, 4);
/* Notes a difference between this run and the run of the paper, and the reason. */
void lab_note(laboratory *lab, const char *format, ...) GBSI_PRINTF(2, 3);

/* experiment_table.c: finds a row of the table by the name of the experiment. */
const lab_experiment_row *lab_experiment_named(const char *name);

#endif

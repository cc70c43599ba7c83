/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading and writing files. Readers refuse invalid input with a message that begins with
 * FILE:LINE:COLUMN. Writers write a temporary file, flush it to disk and rename it. The file
 * therefore appears complete or not at all. "-" is standard input or output. Input compressed with
 * gzip or zstd is decompressed.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
 */
#ifndef GIBBSITE_IO_H
#define GIBBSITE_IO_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An output: a file that is being written, for example by gbs_run_summary() or gbs_report_html().
 * The complete file appears when the output is committed. If the output is never committed, no file
 * appears. An error of a write is kept, and gbs_output_commit() returns it. */
typedef struct gbs_output gbs_output;

/** How to read a model or another file; a struct that is set to zero means the defaults. */
typedef struct gbs_read_options {
    size_t size;        /**< sizeof(gbs_read_options); 0: the fields of its first version */
    const char *format; /**< one of gbs_model_formats(); NULL: by file name
                             extension */
    int lenient;        /**< 1: accept, with a warning, the deviations that gibbsite-formats(5)
                             marks lenient; 0: refuse them */
    int normalize_cpts; /**< 1: scale columns of conditional tables to sum to one */
    const char *evidence_format; /**< "single", "multi", "tab", "names" or "xmlbif"; NULL: by
                                      file name extension and content */
    const char *convention;      /**< sign of couplings: "physics", "bqm" or "maxcut"; NULL: the
                                      default of the format */
    const char *diagonal;        /**< diagonal of a matrix of couplings: "field", "ignore" or
                                      "error"; NULL: "field" */
    double weight_scale;         /**< factor for the weights of clauses; 0 means 1 */
    uint32_t states;             /**< number of colours for a graph (.col); 0: not given */
    uint64_t memory_limit; /**< memory limit in bytes, program included; 0: half of the machine's
                              memory */
    /** NULL, or called for each warning with one line of text without a newline. */
    void (*warn)(void *context, const char *message);
    void *context;
    /** NULL, or called several times a second while a model is read. @return nonzero to stop; the
     * reader then returns GBS_ERR_STOPPED. */
    int (*stop)(void *context);
    void *stop_context; /**< first argument of stop */
    int file_evidence;  /**< 1: the reader does not warn about observations in an XMLBIF file,
                           because the caller reads the observations with gbs_evidence_read() */
    /** The order of the entries of conditional tables, the slowest variable first: "parents-child"
     * or "child-parents". In "reversed-child" and "child-reversed" the first parent varies fastest
     * among the parents. NULL: the order of the format. A program that sets table_order must also
     * set size. */
    const char *table_order;
    const char *vartype; /**< variable type, "SPIN" or "BINARY", of a .coo file that does not state
                            the type; NULL: such files are refused */
    double offset;       /**< constant energy for a .coo file that does not state one */
    uint64_t private_copy; /**< 1: a .gbm file is read into memory, and the file may then change
                              while the model is used; 0: a large .gbm file is mapped into memory */
} gbs_read_options;

/** How to write a model; a struct that is set to zero means the defaults. */
typedef struct gbs_write_options {
    /** sizeof(gbs_write_options); 0: only the fields of the struct's first version are read */
    size_t size;
    const char *format;     /**< one of gbs_model_formats(); NULL: by file name extension */
    int fixed_floats;       /**< 1: numbers as digits[.digits] without exponents; 0: the shortest
                                 decimal numbers that read back to the same double */
    const char *convention; /**< sign of couplings, as in gbs_read_options */
    /** NULL, or called for each property of the model that the format cannot represent. */
    void (*warn)(void *context, const char *message);
    void *context;
} gbs_write_options;

/** Set the memory limit of all calls without a limit of their own, in all threads. Such calls are
 * calls that read or write files, gbs_generate_*(), and calls whose options have memory_limit 0.
 * Such a call returns GBS_ERR_LIMIT before it allocates more than the limit.
 *
 * @param bytes limit for the whole process in bytes. 0 restores the initial limit: half of the
 *         machine's memory or, if that is less, half of the memory limit of the process's control
 *         groups. */
GBS_API void gbs_set_memory_limit(uint64_t bytes);
/** @return the memory limit, in bytes, of calls without a limit of their own. */
GBS_API uint64_t gbs_memory_limit(void);

/**
 * Get the memory that exact answers of method `auto` may take if no memory limit is given. This is
 * the limit of gbs_set_memory_limit() or, if that was not called, half of the memory that was free
 * at the first call, with control groups taken into account. The half is rounded down to a power of
 * two. Runs with equal numbers as their memory limits choose the same method on all machines. Ranks
 * of a job must choose the same method, and therefore use 4 GiB.
 *
 * @return bytes.
 */
GBS_API uint64_t gbs_auto_memory_limit(void);

/** @return the names of model formats with '|' between them: "uai|lg|...". Some formats can only be
 *         read, others only written. */
GBS_API const char *gbs_model_formats(void);

/** Read a model. @param options NULL for the defaults. @param model out, caller frees. */
GBS_API GBS_MUST_USE gbs_status gbs_model_read(const char *path, const gbs_read_options *options,
                                               gbs_model **model, gbs_error *err);
/** Read a model from memory. @param name used in messages in place of the file name. */
GBS_API GBS_MUST_USE gbs_status gbs_model_read_memory(const char *name, const void *bytes,
                                                      size_t n_bytes,
                                                      const gbs_read_options *options,
                                                      gbs_model **model, gbs_error *err);

/**
 * Write a model. For a format that only has tables, other kinds of factors are expanded to tables.
 * A table of more than 2^24 entries, and a model that the format cannot represent, give
 * GBS_ERR_UNSUPPORTED. options->warn is called for parts of the model that the format cannot
 * represent (names, labels, direction).
 *
 * @param path    a final ".gz" or ".zst" compresses.
 * @param options NULL for the defaults.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_write(const gbs_model *model, const char *path,
                                                const gbs_write_options *options, gbs_error *err);

/** What gbs_model_draw() shows besides the graph. All fields may be 0 or NULL. */
typedef struct gbs_drawing {
    size_t size;                  /**< sizeof(gbs_drawing); 0: the fields of its first version */
    const gbs_evidence *evidence; /**< observations: their variables are marked */
    const double *p;    /**< [offsets[n_variables]] probabilities as from gbs_run_marginals(), which
                             are shown in the nodes; NaN: not known */
    const double *mcse; /**< standard errors of p, of the same shape */
    /** [n_query] variables to draw, together with the variables that share a factor with one of
     * them, whose probabilities are not shown; NULL: all variables are drawn */
    const uint32_t *query;
    size_t n_query; /**< number of variables in query */
} gbs_drawing;

/**
 * Draw the graph of a model as SVG, in layers (Sugiyama, Tagawa & Toda (1981)). A Bayesian network
 * has an arrow from each parent to its child. In another model a line joins two variables of a
 * factor, and a square stands for a factor of more than two variables. A node shows at most eight
 * states, the most probable ones. The drawing has colours for light and dark screens, and no script
 * and no link. It depends on the model and on `drawing` alone.
 *
 * @param drawing NULL: the graph alone.
 * @param output  out, borrowed; untouched on failure.
 * @return GBS_OK; GBS_ERR_ARGUMENT; GBS_ERR_MEMORY; GBS_ERR_UNSUPPORTED for more than 2000 nodes,
 *         more than 20 000 variables in all factors together, or edges that cross layers more than
 *         200 000 times.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_draw(const gbs_model *model, const gbs_drawing *drawing,
                                               gbs_output *output, gbs_error *err);

/**
 * Add evidence from text that a user typed. The text is a list of items with ',' between:
 *
 *     smoke=yes            a state: its label, "#0" for the first state, or a number
 *     age=young|adult      one of some states
 *     crp!=low             any state except this one
 *
 * A number is accepted if the variable has no labels. Blanks around names and states are ignored.
 * Names and labels that contain one of the characters above are found, too. Sets of states are
 * likelihoods of 0 and 1.
 *
 * @return GBS_ERR_ARGUMENT if the text has another form, or for an unknown name (the message lists
 *         similar ones); errors of gbs_evidence_observe() and gbs_evidence_likelihood(). If one
 *         item fails, the items before it may have been added.
 */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_add(gbs_evidence *evidence, const char *list,
                                                 gbs_error *err);
/** Add likelihoods from text that a user typed, such as "smoke=yes:0.8|no:0.2, age=young:1". States
 *  that the text does not name have likelihood 0. @return the values of gbs_evidence_add(). */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_add_likelihood(gbs_evidence *evidence,
                                                            const char *list, gbs_error *err);

/**
 * Count the samples in an evidence file. A sample is a set of observations; most files have one
 * sample.
 *
 * The file has one of three kinds. The first is UAI evidence, in the form of either generation of
 * the competition. The second is libDAI data with a sample per line, if the extension is .tab or
 * options->evidence_format is "tab". The third is a picture with a pixel per variable, whose pixel
 * values are states; transparent pixels, and pixels of value 255 in 8-bit pictures, mean that the
 * variable is not observed.
 *
 * @param n out, at least 1.
 */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_count(const gbs_model *model, const char *path,
                                                   const gbs_read_options *options, size_t *n,
                                                   gbs_error *err);
/**
 * Read an evidence file and add the observations of one of its samples to evidence. If these
 * observations contradict earlier ones, the call fails and evidence is unchanged.
 *
 * @param index  0-based number of the sample.
 */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_read(gbs_evidence *evidence, const char *path,
                                                  uint32_t index, const gbs_read_options *options,
                                                  gbs_error *err);
/** Read a virtual-evidence file. It contains a number N, then N times "variable k v_0 ... v_{k-1}"
 *  with the likelihoods v of the k states of a variable. */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_read_virtual(gbs_evidence *evidence, const char *path,
                                                          const gbs_read_options *options,
                                                          gbs_error *err);

/** Marginals that were read from a file: the probability of state a of variable v is p[offset[v] +
 * a]. */
typedef struct gbs_marginals {
    uint32_t n_variables;
    size_t *offset; /**< [n_variables + 1] */
    double *p;      /**< [offset[n_variables]], probabilities */
    double *error;  /**< [offset[n_variables]], standard errors of p: 0 for an exact entry, NaN for
                         an entry without a standard error in the file; NULL: the file has no
                         standard errors */
} gbs_marginals;

GBS_API GBS_MUST_USE gbs_status gbs_marginals_read(const char *path,
                                                   const gbs_read_options *options,
                                                   gbs_marginals *marginals, gbs_error *err);
GBS_API void
gbs_marginals_free(gbs_marginals *marginals); /**< frees the arrays and sets the struct to zero */

/** Differences between two sets of marginals p and q. */
typedef struct gbs_comparison {
    double max_abs;  /**< largest |p - q| over all entries */
    double mean_abs; /**< mean |p - q| over all entries */
    double max_tv;   /**< largest total variation distance over the variables */
    double mean_tv;  /**< mean total variation distance over the variables */
    uint32_t worst;  /**< the variable with the distance max_tv */
    double max_z;   /**< largest |p - q| in units of the standard error of p - q, over entries whose
                       errors are known. The square of this standard error is the sum of the squares
                       of the errors of p and q and of 2e-5, which is the rounding error of sampled
                       conditionals. NaN if neither set has errors */
    double limit_z; /**< bound that max_z exceeds with a probability of at most 0.001 if p and q
                       estimate the same marginals: the normal quantile of 1 - 0.001 / entries */
    uint32_t worst_z, worst_z_state; /**< variable and state with the difference max_z */
} gbs_comparison;

/** Compare two sets of marginals; a set without errors counts as exact. @return GBS_ERR_ARGUMENT if
 * the sets differ in the number of variables, or in the number of states of a variable; the message
 * names the difference. */
GBS_API GBS_MUST_USE gbs_status gbs_marginals_compare(const gbs_marginals *a,
                                                      const gbs_marginals *b,
                                                      gbs_comparison *comparison, gbs_error *err);

/** The question that a UAI result file answers; the file begins with the word for this task. */
typedef enum gbs_task {
    GBS_TASK_PR = 0,   /**< the partition function, as a logarithm */
    GBS_TASK_MAR = 1,  /**< marginals */
    GBS_TASK_MAP = 2,  /**< the most probable state of all variables; the word may also be MPE */
    GBS_TASK_MMAP = 3, /**< the most probable state of the query variables, the others summed out */
} gbs_task;

/** Base of the logarithm in a PR file: competitions use 10, some solvers write natural logarithms.
 */
typedef enum gbs_log_base { GBS_LOG_BASE_10 = 0, GBS_LOG_BASE_E = 1 } gbs_log_base;

/** A result of any task; only the fields of the task are set. */
typedef struct gbs_result {
    gbs_task task;
    double log10_z;          /**< PR: log10 Z; minus infinity if the evidence has probability 0 */
    gbs_marginals marginals; /**< MAR: the marginals */
    uint32_t n;              /**< MAP: number of variables, MMAP: number of query variables */
    uint32_t *variable;      /**< MMAP: [n] query variables, NULL if the file has only states. MAP:
                                NULL */
    uint32_t *state;         /**< MAP, MMAP: [n] states; UINT32_MAX if only the label is known */
    char **name;             /**< CSV, JSON and .npz: names of the variables; else NULL */
    char **label; /**< MAP in CSV: [n] labels of the states; MAR in CSV, JSON and .npz: labels of
                     the states of all entries of marginals; if the file has no labels, these are
                     numbers; else NULL */
    double log_density; /**< MAP in JSON: log density of the state; else NaN */
    double log10_error; /**< PR in JSON: the standard error of log10 Z; else NaN */
} gbs_result;

/**
 * Read a UAI result, or marginals, joint tables, a state or ln Z as the program writes them in CSV
 * and JSON, or marginals as it writes them in .npz. A joint table becomes one variable of marginals
 * whose states are the joint states; its name and labels list, separated by commas, the variables
 * sorted by name and their states. If a UAI file has several solutions (-BEGIN-), the last one is
 * read.
 *
 * @param base     base of the logarithm in a PR file.
 * @param options  NULL for the defaults. With `lenient`, two deviations are accepted: the number of
 *         evidence samples, 1, before the solution, and an MMAP solution without ids of variables.
 * @param result   out; free with gbs_result_free().
 */
GBS_API GBS_MUST_USE gbs_status gbs_result_read(const char *path, gbs_log_base base,
                                                const gbs_read_options *options, gbs_result *result,
                                                gbs_error *err);
GBS_API void
gbs_result_free(gbs_result *result); /**< frees the arrays and sets the struct to zero */

/** Put the variables of a result, and the states of marginals, into the order of a model. The
 * variables get the names of the model, and labels of a MAP become numbers of states. A text that
 * is not a label of the variable is read as the number of a state. In a result without names, entry
 * i belongs to variable i. Results of PR and MMAP are not changed. On failure the order may be
 * another than before. @return GBS_ERR_ARGUMENT if the model has no such variable or state;
 * GBS_ERR_FORMAT if the
 *         result has a variable or state twice. */
GBS_API GBS_MUST_USE gbs_status gbs_result_resolve(gbs_result *result, const gbs_model *model,
                                                   gbs_error *err);

/** Keep the variables that both results name, in the order of result a. If the results are
 *  marginals, put the states of b into the order of their labels in a. Results without names, and
 *  results of two different tasks, are not changed. On failure the order may have changed.
 *  @param left_out out: [2] number of variables of each result that were left out.
 *  @return GBS_ERR_ARGUMENT if no variable is in both results, or a variable has other states in b
 *          than in a; GBS_ERR_FORMAT if a result has a variable or a state twice. */
GBS_API GBS_MUST_USE gbs_status gbs_results_match(gbs_result *a, gbs_result *b,
                                                  uint32_t left_out[2], gbs_error *err);

/** Check that two results have the same names of variables in the same order; a result without
 * names agrees with any result. @return GBS_ERR_ARGUMENT if a variable has two names; the message
 * names the variable.
 */
GBS_API GBS_MUST_USE gbs_status gbs_result_check_names(const gbs_result *a, const gbs_result *b,
                                                       gbs_error *err);

/** Count the variables whose states differ between two results, which are both MAP or both MMAP.
 *  @param first out: the smallest id of the variables that differ, 0 if none differs.
 *  @return GBS_ERR_ARGUMENT if the results have different tasks or different variables, or if one
 *          has labels and the other numbers: see gbs_result_resolve(). */
GBS_API GBS_MUST_USE gbs_status gbs_result_count_different(const gbs_result *a, const gbs_result *b,
                                                           uint32_t *n_different, uint32_t *first,
                                                           gbs_error *err);

/** Read a scan file: "scan 1", "variables N", optionally "model DIGEST", then an entry per update:
 * the id of a variable, or * for an update that takes a variable drawn uniformly.
 *  @param sequence out, GBS_STEP_UNIFORM for *; caller frees with gbs_free(). @param n out: its
 *  length. */
GBS_API GBS_MUST_USE gbs_status gbs_scan_read(const char *path, const gbs_model *model,
                                              uint32_t **sequence, size_t *n, gbs_error *err);

/** Write a scan file for gbs_scan_read(). The file contains the digest of the model; reading it for
 * another model fails. @param sequence [n] ids of variables or GBS_STEP_UNIFORM. @param comment a
 * line for human readers, or NULL. */
GBS_API GBS_MUST_USE gbs_status gbs_scan_write(const char *path, const gbs_model *model,
                                               const uint32_t *sequence, size_t n,
                                               const char *comment, gbs_error *err);

/** Read influences for gbs_influence_options.given from a Matrix Market file: coordinate, real or
 *  integer, general or symmetric. Rows and columns of the file are counted from 1: the entry in row
 * i and column j is the influence of variable j - 1 on variable i - 1.
 *  @param pair out, [n] with variables from 0; caller frees with gbs_free(). @param n out.
 *  @return GBS_ERR_FORMAT, with the place in the file, for a matrix of another size than the model,
 * a value outside 0 to 1, an entry above 0 on the diagonal, or an entry that occurs twice. */
GBS_API GBS_MUST_USE gbs_status gbs_influences_read(const char *path, const gbs_model *model,
                                                    gbs_pair **pair, size_t *n, gbs_error *err);

/** Read one state per variable from numbers separated by white space, from a UAI MAP file, or from
 * a picture with a pixel per variable, if all variables have the same arity; see
 * gibbsite-formats(5).
 *  @param options only warn is used; NULL for no warnings. @param state [n_variables], out. */
GBS_API GBS_MUST_USE gbs_status gbs_state_read(const char *path, const gbs_model *model,
                                               const gbs_read_options *options, uint32_t *state,
                                               gbs_error *err);

/** Free an array that a call of the library allocated. NULL is allowed. */
GBS_API void gbs_free(void *pointer);

/* ---- outputs ----------------------------------------------------------------------------- */

/** Open a file for writing. @param path "-" for standard output; a final ".gz" or ".zst", in upper
 * or lower case, compresses; ".xz" and ".bz2" are refused, since these formats are only read. */
GBS_API GBS_MUST_USE gbs_status gbs_output_open(const char *path, gbs_output **output,
                                                gbs_error *err);
/** @return the first line of a result file: "PR", "MAR", "MAP" or "MMAP". */
GBS_API const char *gbs_task_word(gbs_task task);
/** Flush the file to disk, rename it to its final name and free the output. The call also returns
 * the error of an earlier write. */
GBS_API GBS_MUST_USE gbs_status gbs_output_commit(gbs_output *output, gbs_error *err);
/** Discard the bytes written so far and free the output; an existing file with the name of the
 *  output is untouched. NULL is allowed. */
GBS_API void gbs_output_discard(gbs_output *output);

/** Open an output that collects its bytes in memory; end it with gbs_output_take() instead of
 * gbs_output_commit().
 */
GBS_API GBS_MUST_USE gbs_status gbs_output_open_memory(gbs_output **output, gbs_error *err);
/** Free an output opened with gbs_output_open_memory() and return the bytes written to it, followed
 * by a terminating 0. @param bytes out, caller frees with gbs_free(). @param n out: length without
 * the 0. */
GBS_API GBS_MUST_USE gbs_status gbs_output_take(gbs_output *output, char **bytes, size_t *n,
                                                gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif

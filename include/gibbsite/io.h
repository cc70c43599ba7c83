/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading and writing files. Readers refuse invalid input with a message that begins with
 * FILE:LINE:COLUMN. Writers write a temporary file, flush it to disk and rename it, so that the
 * file appears complete or not at all. "-" is standard input or output. Input compressed with gzip
 * or zstd is decompressed.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: for an id or index that does not exist, and for NULL in place of an object or output,
 * calls that return a status return GBS_ERR_ARGUMENT; the others return 0, NULL or NAN, as stated.
 * NULL options mean the defaults, NULL evidence means no evidence.
 */
#ifndef GIBBSITE_IO_H
#define GIBBSITE_IO_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How to read a model or another file; zero-initialised means the defaults. */
typedef struct gbs_read_options {
    size_t size;        /**< sizeof(gbs_read_options); 0: the fields it began with are read */
    const char *format; /**< one of gbs_model_formats(); NULL: by file name
                             extension */
    int lenient;        /**< 1: warn about what gibbsite-formats(5) marks lenient; 0:
                             refuse it */
    int normalize_cpts; /**< 1: scale columns of conditional tables to sum to one */
    const char *evidence_format; /**< "single", "multi" or "tab"; NULL: by file name
                                      extension and content */
    const char *convention;      /**< sign of couplings: "physics", "bqm" or "maxcut"; NULL: the
                                      default of the format */
    const char *diagonal;        /**< diagonal of a matrix of couplings: "field", "ignore" or
                                      "error"; NULL: "field" */
    double weight_scale;         /**< factor for the weights of clauses; 0 means 1 */
    uint32_t states;             /**< number of colours for a graph (.col); 0: not given */
    uint64_t memory_limit;       /**< bytes, of the program too; 0: half of the machine's memory */
    /** NULL, or called for each warning with one line of text without a newline. */
    void (*warn)(void *context, const char *message);
    void *context;
    /** NULL, or asked several times a second while a model is read. @return nonzero to stop:
     *  GBS_ERR_STOPPED. */
    int (*stop)(void *context);
    void *stop_context; /**< first argument of stop */
} gbs_read_options;

/** How to write a model; zero-initialised means the defaults. */
typedef struct gbs_write_options {
    size_t size; /**< sizeof(gbs_write_options), or 0: only the fields it began with are read */
    const char *format;     /**< one of gbs_model_formats(); NULL: by file name extension */
    int fixed_floats;       /**< 1: numbers as digits[.digits] without exponents; 0: the shortest
                                 decimals that read back to the same double */
    const char *convention; /**< sign of couplings, as in gbs_read_options */
    /** NULL, or called for each property of the model that the format cannot hold. */
    void (*warn)(void *context, const char *message);
    void *context;
} gbs_write_options;

/** Set the memory limit of calls that are given none, in all threads: of reading and writing every
 * kind of file, of gbs_generate_*(), and where memory_limit is 0 in options. Such a call returns
 * GBS_ERR_LIMIT before it takes more.
 *
 * @param bytes of the whole process; 0 for the limit at first, which is half of the machine's
 *              memory, or half of the limit of the process's control groups where that is less. */
GBS_API void gbs_set_memory_limit(uint64_t bytes);
/** @return the memory limit of calls that are given none, bytes. */
GBS_API uint64_t gbs_memory_limit(void);

/** @return the names of model formats with '|' between them: "uai|lg|...". Some are only read,
 * others only written. */
GBS_API const char *gbs_model_formats(void);
/** @return the name of the format that a file with the extension of path is read as, or NULL. */
GBS_API const char *gbs_model_format_of(const char *path);
/** @param options NULL for the defaults. @return the sign convention with which the couplings of
 * the file would be read: "physics", "bqm" or "maxcut"; NULL if its format has no couplings. */
GBS_API const char *gbs_model_convention_of(const char *path, const gbs_read_options *options);

/** Read a model. @param options NULL for the defaults. @param model out, caller frees. */
GBS_API GBS_MUST_USE gbs_status gbs_model_read(const char *path, const gbs_read_options *options,
                                               gbs_model **model, gbs_error *err);
/** Read a model from memory. @param name used in messages in place of the file name. */
GBS_API GBS_MUST_USE gbs_status gbs_model_read_memory(const char *name, const void *bytes,
                                                      size_t n_bytes,
                                                      const gbs_read_options *options,
                                                      gbs_model **model, gbs_error *err);

/**
 * Write a model. Formats that only have tables get other kinds of factors expanded to tables. A
 * table of more than 2^24 entries, and a model that the format cannot represent, is
 * GBS_ERR_UNSUPPORTED. options->warn is called for what the format cannot hold (names, labels,
 * direction).
 *
 * @param path    a final ".gz" or ".zst" compresses.
 * @param options NULL for the defaults.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_write(const gbs_model *model, const char *path,
                                                const gbs_write_options *options, gbs_error *err);

/** The samples of an evidence file. A sample is a set of observations; most files hold one. */
typedef struct gbs_evidence_set gbs_evidence_set;

/**
 * Read an evidence file. It is UAI evidence in the form of either generation of the competition; or
 * libDAI data with a sample per line, if its extension is .tab or options->evidence_format is
 * "tab"; or a picture with a pixel per variable, whose values are states (not observed: 255 in
 * 8-bit pictures, and transparent pixels).
 *
 * @param model  borrowed, outlives the set. @param set out, caller frees.
 */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_set_read(const gbs_model *model, const char *path,
                                                      const gbs_read_options *options,
                                                      gbs_evidence_set **set, gbs_error *err);
GBS_API void gbs_evidence_set_free(gbs_evidence_set *set); /**< NULL is allowed */
/** @return the number of samples, at least 1. */
GBS_API size_t gbs_evidence_set_size(const gbs_evidence_set *set);
/** Add the observations of a sample to evidence. If they contradict earlier observations the call
 *  fails and evidence is unchanged. @param index 0-based. @param evidence of the same model. */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_set_observe(const gbs_evidence_set *set, size_t index,
                                                         gbs_evidence *evidence, gbs_error *err);

/**
 * Add evidence that a person typed: items joined by ','.
 *
 *     smoke=yes            a state: its label, "#0" the first state, or a number if it has no
 * labels age=young|adult      one of some states crp!=low             any state but this one
 *
 * Blanks around names and states do not count. Names and labels that hold one of these characters
 * are found all the same. Sets of states are likelihoods of 0 and 1.
 *
 * @return GBS_ERR_ARGUMENT where the text is no evidence, or an unknown name (the message lists
 *         similar ones); errors of gbs_evidence_observe() and gbs_evidence_likelihood(). Items
 * before the one that fails may have been added.
 */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_add(gbs_evidence *evidence, const char *list,
                                                 gbs_error *err);
/** Add likelihoods that a person typed: "smoke=yes:0.8|no:0.2, age=young:1"; states that are not
 *  named have likelihood 0. @return as gbs_evidence_add(). */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_add_likelihood(gbs_evidence *evidence,
                                                            const char *list, gbs_error *err);

/** Count the samples in an evidence file. @param n out. */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_count(const gbs_model *model, const char *path,
                                                   const gbs_read_options *options, size_t *n,
                                                   gbs_error *err);
/**
 * Read an evidence file and add the observations of one of its samples to evidence.
 *
 * @param index  0-based number of the sample.
 */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_read(gbs_evidence *evidence, const char *path,
                                                  uint32_t index, const gbs_read_options *options,
                                                  gbs_error *err);
/** Read a virtual-evidence file: N, then N times "variable k v_0 ... v_{k-1}". */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_read_virtual(gbs_evidence *evidence, const char *path,
                                                          const gbs_read_options *options,
                                                          gbs_error *err);

/** Marginals as read from a file: the probability of state a of variable v is p[offset[v] + a]. */
typedef struct gbs_marginals {
    uint32_t n_variables;
    size_t *offset; /**< [n_variables + 1] */
    double *p;      /**< [offset[n_variables]], probabilities */
} gbs_marginals;

GBS_API GBS_MUST_USE gbs_status gbs_marginals_read(const char *path,
                                                   const gbs_read_options *options,
                                                   gbs_marginals *marginals, gbs_error *err);
GBS_API void
gbs_marginals_free(gbs_marginals *marginals); /**< frees the arrays, zeroes the struct */

/** Differences between two sets of marginals p and q. */
typedef struct gbs_comparison {
    double max_abs;  /**< largest |p - q| over all entries */
    double mean_abs; /**< mean |p - q| over all entries */
    double max_tv;   /**< largest total variation distance over the variables */
    double mean_tv;  /**< mean total variation distance over the variables */
    uint32_t worst;  /**< the variable with the distance max_tv */
} gbs_comparison;

/** Compare two sets of marginals. @return GBS_ERR_ARGUMENT if they differ in the number of
 * variables or of states of a variable; the message says where. */
GBS_API GBS_MUST_USE gbs_status gbs_marginals_compare(const gbs_marginals *a,
                                                      const gbs_marginals *b,
                                                      gbs_comparison *comparison, gbs_error *err);

/** The question that a UAI result file answers, given by the task word at its beginning. */
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
    gbs_marginals marginals; /**< MAR */
    uint32_t n;              /**< MAP: number of variables, MMAP: number of query variables */
    uint32_t *variable;      /**< MMAP: [n], NULL if the file has only states. MAP: NULL */
    uint32_t *state;         /**< MAP, MMAP: [n]; UINT32_MAX where only the label is known */
    char **name;             /**< CSV and JSON: names of the variables; else NULL */
    char **label;            /**< MAP in CSV: [n] labels of the states; else NULL */
    double log_density;      /**< MAP in JSON: of the state; else NaN */
} gbs_result;

/**
 * Read a UAI result, or marginals or a state as the program writes them in CSV and JSON. If a UAI
 * file has several solutions (-BEGIN-), the last one is read.
 *
 * @param base     base of the logarithm in a PR file.
 * @param options  NULL for the defaults. With lenient, the number of evidence samples, 1, may
 * precede the solution, and an MMAP solution may consist of states only.
 * @param result   out; free with gbs_result_free().
 */
GBS_API GBS_MUST_USE gbs_status gbs_result_read(const char *path, gbs_log_base base,
                                                const gbs_read_options *options, gbs_result *result,
                                                gbs_error *err);
GBS_API void gbs_result_free(gbs_result *result); /**< frees the arrays, zeroes the struct */

/** Turn the labels of the states of a MAP in CSV into numbers of a model, variable by variable.
 *  @return GBS_ERR_ARGUMENT if the model has no such variable in that place or no such state. */
GBS_API GBS_MUST_USE gbs_status gbs_result_resolve(gbs_result *result, const gbs_model *model,
                                                   gbs_error *err);

/** Check that two results call their variables alike, place by place; a result without names
 *  agrees with any. @return GBS_ERR_ARGUMENT if a variable has two names; the message says which.
 */
GBS_API GBS_MUST_USE gbs_status gbs_result_check_names(const gbs_result *a, const gbs_result *b,
                                                       gbs_error *err);

/** Count the variables whose states differ between two MAP or two MMAP results.
 *  @param first out: the smallest id of these variables, 0 if there is none.
 *  @return GBS_ERR_ARGUMENT if the results have different tasks or different variables, or if one
 *          has labels and the other numbers: see gbs_result_resolve(). */
GBS_API GBS_MUST_USE gbs_status gbs_result_count_different(const gbs_result *a, const gbs_result *b,
                                                           uint32_t *n_different, uint32_t *first,
                                                           gbs_error *err);

/** Read a query file: N, then N variable ids. @param variable out: [n], in the order of the file;
 *  caller frees with gbs_free(). */
GBS_API GBS_MUST_USE gbs_status gbs_query_read(const char *path, const gbs_model *model,
                                               const gbs_read_options *options, uint32_t **variable,
                                               size_t *n, gbs_error *err);

/** Read a scan file: "scan 1", "variables N", optionally "model DIGEST", then variable ids.
 *  @param sequence out, caller frees with gbs_free(). @param n out: its length. */
GBS_API GBS_MUST_USE gbs_status gbs_scan_read(const char *path, const gbs_model *model,
                                              uint32_t **sequence, size_t *n, gbs_error *err);

/** Write a scan file for gbs_scan_read(). It contains the digest of the model, so that reading it
 * for another model fails. @param comment a line for human readers, or NULL. */
GBS_API GBS_MUST_USE gbs_status gbs_scan_write(const char *path, const gbs_model *model,
                                               const uint32_t *sequence, size_t n,
                                               const char *comment, gbs_error *err);

/** Read dummy edges for herded draws (see gbs_run_options.dummy_edges): "edges 1", "variables N",
 *  then two variable ids for each edge. @param pair out: [2 * n]; caller frees with gbs_free().
 *  @param n out: number of edges. */
GBS_API GBS_MUST_USE gbs_status gbs_edges_read(const char *path, const gbs_model *model,
                                               uint32_t **pair, size_t *n, gbs_error *err);

/** Read one state per variable from numbers separated by white space, from a UAI MAP file, or from
 * a picture with a pixel per variable, if all variables have the same arity; see
 * gibbsite-formats(5).
 *  @param options only warn is used; NULL for no warnings. @param state [n_variables], out. */
GBS_API GBS_MUST_USE gbs_status gbs_state_read(const char *path, const gbs_model *model,
                                               const gbs_read_options *options, uint32_t *state,
                                               gbs_error *err);

/** Free an array that a call of the library allocated. NULL is allowed. */
GBS_API void gbs_free(void *pointer);

/* ---- writing text ------------------------------------------------------------------------ */

/** A file that is being written; it appears complete, when committed, or not at all. Errors are
 * kept until the file is finished or committed. */
typedef struct gbs_output gbs_output;

/** Open a file for writing. @param path "-" for standard output; a final ".gz" or ".zst", in upper
 * or lower case, compresses. */
GBS_API GBS_MUST_USE gbs_status gbs_output_open(const char *path, gbs_output **output,
                                                gbs_error *err);
/** @return the length of path without a final ".gz" or ".zst". */
GBS_API size_t gbs_unpacked_length(const char *path);
GBS_API void gbs_output_text(gbs_output *output, const char *text);
GBS_API void gbs_output_bytes(gbs_output *output, const void *bytes, size_t n);
GBS_API void gbs_output_uint(gbs_output *output, uint64_t value);
/** Write the shortest decimal that reads back to the same double, or "inf", "-inf", "nan". */
GBS_API void gbs_output_double(gbs_output *output, double value);
/** Write a JSON string literal with quotes and escapes. */
GBS_API void gbs_output_json_string(gbs_output *output, const char *text);
/** Write a JSON number, or null if value is not finite. */
GBS_API void gbs_output_json_double(gbs_output *output, double value);
/** @return the first line of a result file: "PR", "MAR", "MAP" or "MMAP". */
GBS_API const char *gbs_task_word(gbs_task task);
/** Write the line of a UAI result that follows the task word; each marginal is scaled to sum to
 * one.
 *  @param base base of the logarithm in a PR result. */
GBS_API void gbs_result_write_solution(gbs_output *output, const gbs_result *result,
                                       gbs_log_base base);
/** Write a CSV field, quoted if RFC 4180 requires it. */
GBS_API void gbs_output_csv_field(gbs_output *output, const char *text);
/** Whether gbs_output_csv_field() puts an apostrophe before texts that a spreadsheet would take for
 * a formula: that begin with =, +, @, -, a tab or a carriage return. In all threads; 0 at first.
 * Such a file is not read back by the names of the model. */
GBS_API void gbs_set_csv_safe(int safe);
/** @return the bytes of the character that text begins with if it shows nothing or turns the order
 * of what stands beside it (of zero width, or a bidirectional control), so that a name looks like
 * another one; else 0.
 *  @param code [7] out: "\\u202e", say; NULL is allowed. */
GBS_API size_t gbs_unseen(const char *text, char *code);
/**
 * Write everything to disk and close the file, which keeps its temporary name until
 * gbs_output_commit(). Use it for several files that should appear together or not at all. Nothing
 * may be written afterwards.
 */
GBS_API GBS_MUST_USE gbs_status gbs_output_finish(gbs_output *output, gbs_error *err);
/** Flush the file to disk, rename it to its final name and free the output. @return also the error
 * of an earlier write. */
GBS_API GBS_MUST_USE gbs_status gbs_output_commit(gbs_output *output, gbs_error *err);
/** Commit several files that belong together: all are on disk before the first is renamed, and if
 * one cannot be written none is renamed. @param output [n], freed in any case. */
GBS_API GBS_MUST_USE gbs_status gbs_output_commit_all(gbs_output *const *output, size_t n,
                                                      gbs_error *err);
/** From here on files that this thread commits wait, complete and on disk, until
 * gbs_output_set_end() gives all of them their names together. What is written straight (pipes,
 * standard output) does not wait, nor do checkpoints. Sets are not nested. */
GBS_API void gbs_output_set_begin(void);
/** @param keep 0: the files of the set are discarded; those of their names are untouched.
 *  @return as gbs_output_commit_all(). */
GBS_API GBS_MUST_USE gbs_status gbs_output_set_end(int keep, gbs_error *err);
/** Discard what was written and free the output; an existing file of that name is untouched. NULL
 * is allowed. */
GBS_API void gbs_output_discard(gbs_output *output);

/** Open an output that collects its bytes in memory; end it with gbs_output_take(), not a commit.
 */
GBS_API GBS_MUST_USE gbs_status gbs_output_open_memory(gbs_output **output, gbs_error *err);
/** Free an output opened with gbs_output_open_memory() and return what was written, followed by a
 *  terminating 0. @param bytes out, caller frees with gbs_free(). @param n out: length without the
 *  0. */
GBS_API GBS_MUST_USE gbs_status gbs_output_take(gbs_output *output, char **bytes, size_t *n,
                                                gbs_error *err);

/** Format the shortest decimal that reads back to the same double. @param text [32], out. @return
 * its length. */
GBS_API size_t gbs_format_double(double value, char *text);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files in and out. Readers refuse what is wrong with FILE:LINE:COLUMN in the message; writers
 * write beside, flush to disk and rename, so that a file is there whole or not at all.
 * "-" is standard input or output. Inputs compressed with gzip or zstd are read through.
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_IO_H
#define GIBBSITE_IO_H

#include "gibbsite/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How to read a model; zero-initialised means: by the file's ending, strict. */
typedef struct gbs_read_options {
    size_t size; /**< sizeof(gbs_read_options), or 0: only the fields of version 0.2 are read */
    const char *format;          /**< NULL: by ending; else one of gbs_model_formats() */
    int lenient;                 /**< 1: deviations the format page marks lenient are warnings */
    int normalize_cpts;          /**< 1: scale columns of conditional tables to sum to one */
    const char *evidence_format; /**< NULL: decided by ending and content; else
                                      "single", "multi" or "tab" */
    const char *convention;      /**< sign of couplings: "physics", "bqm" or "maxcut"; NULL: the
                                      format's own */
    const char *diagonal;        /**< diagonal of a matrix of couplings: "field", "ignore" or
                                      "error"; NULL: "field" */
    double weight_scale;         /**< weights of clauses are multiplied by it; 0 stands for 1 */
    uint32_t states;             /**< colours of a graph to colour (.col); 0: not given */
    /** NULL, or called once per warning with one line of text, without a newline. */
    void (*warn)(void *context, const char *message);
    void *context;
} gbs_read_options;

/** How to write a model; zero-initialised means: by the file's ending, shortest decimals. */
typedef struct gbs_write_options {
    size_t size; /**< sizeof(gbs_write_options), or 0: only the fields of version 0.2 are read */
    const char *format;     /**< NULL: by ending; else one of gbs_model_formats() */
    int fixed_floats;       /**< 1: numbers as digits[.digits], without exponents */
    const char *convention; /**< sign of couplings, as in gbs_read_options */
    /** NULL, or called once per thing that the format cannot hold and that is lost. */
    void (*warn)(void *context, const char *message);
    void *context;
} gbs_write_options;

/** @return the names of model formats with '|' between them: "uai|lg|...". */
GBS_API const char *gbs_model_formats(void);
/** @return the name of the format that the ending of path tells, or NULL. */
GBS_API const char *gbs_model_format_of(const char *path);
/** @param options NULL for the defaults. @return "physics", "bqm" or "maxcut", what the couplings
 * of a file mean when it is read so; NULL if its format has none. */
GBS_API const char *gbs_model_convention_of(const char *path, const gbs_read_options *options);

/** Read a model. @param options NULL for the defaults. @param model out, caller frees. */
GBS_API gbs_status gbs_model_read(const char *path, const gbs_read_options *options,
                                  gbs_model **model, gbs_error *err);
/** Read a model from memory. @param name stands for the file in messages. */
GBS_API gbs_status gbs_model_read_memory(const char *name, const void *bytes, size_t n_bytes,
                                         const gbs_read_options *options, gbs_model **model,
                                         gbs_error *err);

/**
 * Write a model. Formats of tables expand other kinds of factors, refused where a table would have
 * more than 2^24 entries; a model that a format has no form for is GBS_ERR_UNSUPPORTED. What gets
 * lost on the way (names, labels, direction) is told to options->warn.
 *
 * @param options NULL: by the ending of path (".gz" and ".zst" compress).
 */
GBS_API gbs_status gbs_model_write(const gbs_model *model, const char *path,
                                   const gbs_write_options *options, gbs_error *err);

/** The samples of an evidence file, of which most files hold one. */
typedef struct gbs_evidence_set gbs_evidence_set;

/**
 * Read an evidence file: UAI evidence of either generation, or with the ending .tab (or
 * options->evidence_format "tab") data of libDAI, a sample per line; or a picture with a pixel per
 * variable, whose values are states (255 in 8-bit ones and transparent: not observed).
 *
 * @param model  borrowed, outlives the set. @param set out, caller frees.
 */
GBS_API gbs_status gbs_evidence_set_read(const gbs_model *model, const char *path,
                                         const gbs_read_options *options, gbs_evidence_set **set,
                                         gbs_error *err);
GBS_API void gbs_evidence_set_free(gbs_evidence_set *set); /**< NULL is allowed */
/** @return how many samples, 1 or more. */
GBS_API size_t gbs_evidence_set_size(const gbs_evidence_set *set);
/** Observe a sample on top of what was observed. Nothing changes where the two contradict.
 *  @param index 0-based. @param evidence of the same model. */
GBS_API gbs_status gbs_evidence_set_observe(const gbs_evidence_set *set, size_t index,
                                            gbs_evidence *evidence, gbs_error *err);

/** The number of samples of an evidence file. @param n out. */
GBS_API gbs_status gbs_evidence_count(const gbs_model *model, const char *path,
                                      const gbs_read_options *options, size_t *n, gbs_error *err);
/**
 * Read one sample of an evidence file into evidence: a set read, observed and freed.
 *
 * @param index  which sample of a file that holds several; 0-based.
 */
GBS_API gbs_status gbs_evidence_read(gbs_evidence *evidence, const char *path, uint32_t index,
                                     const gbs_read_options *options, gbs_error *err);
/** Read a virtual-evidence file: N, then N times "variable k v_0 ... v_{k-1}". */
GBS_API gbs_status gbs_evidence_read_virtual(gbs_evidence *evidence, const char *path,
                                             const gbs_read_options *options, gbs_error *err);

/** Marginals as a file holds them: n variables, state a of v at p[offset[v] + a]. */
typedef struct gbs_marginals {
    uint32_t n_variables;
    size_t *offset; /**< [n_variables + 1] */
    double *p;      /**< [offset[n_variables]], probability */
} gbs_marginals;

GBS_API gbs_status gbs_marginals_read(const char *path, const gbs_read_options *options,
                                      gbs_marginals *marginals, gbs_error *err);
GBS_API void
gbs_marginals_free(gbs_marginals *marginals); /**< frees the arrays, zeroes the struct */

/** How far two sets of marginals are apart. */
typedef struct gbs_comparison {
    double max_abs;  /**< largest |p - q| of any entry */
    double mean_abs; /**< mean |p - q| over entries */
    double max_tv;   /**< largest total variation of any variable */
    double mean_tv;  /**< mean total variation over variables */
    uint32_t worst;  /**< the variable of max_tv */
} gbs_comparison;

/** @return GBS_ERR_ARGUMENT if the shapes differ (the message says where). */
GBS_API gbs_status gbs_marginals_compare(const gbs_marginals *a, const gbs_marginals *b,
                                         gbs_comparison *comparison, gbs_error *err);

/** What a UAI result file answers; the task word at its beginning tells. */
typedef enum gbs_task {
    GBS_TASK_PR = 0,   /**< the logarithm of the partition function */
    GBS_TASK_MAR = 1,  /**< marginals */
    GBS_TASK_MAP = 2,  /**< the most probable state of all variables; the word may also be MPE */
    GBS_TASK_MMAP = 3, /**< of the query variables, the others summed out */
} gbs_task;

/** Of the number in a PR file: competitions have log10, some solvers write natural logarithms. */
typedef enum gbs_log_base { GBS_LOG_BASE_10 = 0, GBS_LOG_BASE_E = 1 } gbs_log_base;

/** A UAI result of any task; only the fields of the task are set. */
typedef struct gbs_result {
    gbs_task task;
    double log10_z;          /**< PR: log10 of Z, minus infinity for evidence of probability 0 */
    gbs_marginals marginals; /**< MAR */
    uint32_t n;              /**< MAP: variables, MMAP: query variables */
    uint32_t *variable;      /**< MMAP: [n]; NULL where the file has states alone. MAP: NULL */
    uint32_t *state;         /**< MAP, MMAP: [n] */
} gbs_result;

/**
 * Read a UAI result; of several solutions (-BEGIN-) the last counts.
 *
 * @param base     of the number in a PR file.
 * @param options  lenient: the number of evidence samples, 1, may stand before the solution; an
 *                 MMAP solution may have states alone.
 * @param result   out; free with gbs_result_free().
 */
GBS_API gbs_status gbs_result_read(const char *path, gbs_log_base base,
                                   const gbs_read_options *options, gbs_result *result,
                                   gbs_error *err);
GBS_API void gbs_result_free(gbs_result *result); /**< frees the arrays, zeroes the struct */

/** Of two MAP or two MMAP results: how many variables are in different states.
 *  @param first out: the lowest of them, 0 if there is none.
 *  @return GBS_ERR_ARGUMENT if they are of different tasks or variables. */
GBS_API gbs_status gbs_result_count_different(const gbs_result *a, const gbs_result *b,
                                              uint32_t *n_different, uint32_t *first,
                                              gbs_error *err);

/** Read a query file: N, then N variables. @param variable out, in the order of the file; caller
 *  frees with gbs_free(). */
GBS_API gbs_status gbs_query_read(const char *path, const gbs_model *model,
                                  const gbs_read_options *options, uint32_t **variable, size_t *n,
                                  gbs_error *err);

/** Read a scan file: "scan 1", "variables N", optionally "model DIGEST", then variable ids.
 *  @param sequence out, caller frees with gbs_free(). @param n out: its length. */
GBS_API gbs_status gbs_scan_read(const char *path, const gbs_model *model, uint32_t **sequence,
                                 size_t *n, gbs_error *err);

/** Write a scan file for gbs_scan_read(), bound to the model by its digest.
 *  @param comment one line for the reader, or NULL. */
GBS_API gbs_status gbs_scan_write(const char *path, const gbs_model *model,
                                  const uint32_t *sequence, size_t n, const char *comment,
                                  gbs_error *err);

/** Read dummy edges of herded draws: "edges 1", "variables N", then two variables each.
 *  @param pair out, two variables per edge; caller frees with gbs_free(). @param n out: edges. */
GBS_API gbs_status gbs_edges_read(const char *path, const gbs_model *model, uint32_t **pair,
                                  size_t *n, gbs_error *err);

/** Read one state per variable, white-space separated, optionally in the form of a UAI MAP file; or
 *  a picture with a pixel per variable (all of one arity): see gibbsite-formats(5).
 *  @param options only warn is used; NULL for none. @param state [n_variables], out. */
GBS_API gbs_status gbs_state_read(const char *path, const gbs_model *model,
                                  const gbs_read_options *options, uint32_t *state, gbs_error *err);

/** Free what a call above allocated as a plain array. NULL is allowed. */
GBS_API void gbs_free(void *pointer);

/* ---- writing text ------------------------------------------------------------------------ */

/** A file being written: buffered, whole or not at all. */
typedef struct gbs_output gbs_output;

/** Open for writing. @param path "-" for standard output; a final ".gz" or ".zst", in any case,
 *  compresses. */
GBS_API gbs_status gbs_output_open(const char *path, gbs_output **output, gbs_error *err);
/** The length of a path without a final ".gz" or ".zst": what comes before tells the format. */
GBS_API size_t gbs_unpacked_length(const char *path);
GBS_API void gbs_output_text(gbs_output *output, const char *text);
GBS_API void gbs_output_bytes(gbs_output *output, const void *bytes, size_t n);
GBS_API void gbs_output_uint(gbs_output *output, uint64_t value);
/** The shortest decimal that reads back to the same double; "inf", "-inf", "nan" where it is. */
GBS_API void gbs_output_double(gbs_output *output, double value);
/** A JSON string literal with quotes and escapes. */
GBS_API void gbs_output_json_string(gbs_output *output, const char *text);
/** A JSON number, null where value is not finite. */
GBS_API void gbs_output_json_double(gbs_output *output, double value);
/** @return the first line of a result file: "PR", "MAR", "MAP" or "MMAP". */
GBS_API const char *gbs_task_word(gbs_task task);
/** The line of a UAI result that follows the task word; rows of marginals are scaled to sum to one.
 *  @param base of the number of a PR result. */
GBS_API void gbs_result_write_solution(gbs_output *output, const gbs_result *result,
                                       gbs_log_base base);
/** A CSV field, quoted where RFC 4180 asks for it. */
GBS_API void gbs_output_csv_field(gbs_output *output, const char *text);
/**
 * Write everything out and close the file, which keeps its temporary name until
 * gbs_output_commit(): for several files that should appear together or not at all. Nothing may be
 * written afterwards.
 */
GBS_API gbs_status gbs_output_finish(gbs_output *output, gbs_error *err);
/** Flush, sync and rename into place; frees the output. Errors of earlier writes come out here. */
GBS_API gbs_status gbs_output_commit(gbs_output *output, gbs_error *err);
/** The same for files that belong together: all are on disk before the first is renamed, and if one
 *  cannot be written none is. @param output [n], freed whatever comes out. */
GBS_API gbs_status gbs_output_commit_all(gbs_output *const *output, size_t n, gbs_error *err);
/** Drop what was written: the file named in open is untouched. NULL is allowed. */
GBS_API void gbs_output_discard(gbs_output *output);

/** Open a piece of memory for writing; gbs_output_take() instead of a commit. */
GBS_API gbs_status gbs_output_open_memory(gbs_output **output, gbs_error *err);
/** Frees an output opened with gbs_output_open_memory() and hands out what was written, with a 0
 *  behind it. @param bytes out, caller frees with gbs_free(). @param n out: without the 0. */
GBS_API gbs_status gbs_output_take(gbs_output *output, char **bytes, size_t *n, gbs_error *err);

/** Shortest decimal that reads back to the same double. @param text [32], out. @return its length.
 */
GBS_API size_t gbs_format_double(double value, char *text);

#ifdef __cplusplus
}
#endif
#endif

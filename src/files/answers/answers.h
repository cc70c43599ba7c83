/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for files that accompany a model, in addition to the functions of the public headers.
 *
 * Only the program calls these functions. It links the static library, because the shared library
 * does not export these functions. If an object or output is NULL, or an index does not exist,
 * functions that return a status return GBS_ERR_ARGUMENT; all other functions return 0, or do
 * nothing.
 */
#ifndef GBSI_ANSWERS_ANSWERS_H
#define GBSI_ANSWERS_ANSWERS_H

#include <stdbool.h>

#include "gibbsite/io.h"

/* ---- evidence_set.c ---------------------------------------------------------------------- */

/* All samples of an evidence file, which is read only once. In contrast, gbs_evidence_read() reads
 * the file at each call and uses one of its samples. */
typedef struct gbsi_evidence_set gbsi_evidence_set;

/* @param model borrowed; must outlive the set. @param set out: the set, freed by the caller. */
gbs_status gbsi_evidence_set_read(const gbs_model *model, const char *path,
                                  const gbs_read_options *options, gbsi_evidence_set **set,
                                  gbs_error *err);
void gbsi_evidence_set_free(gbsi_evidence_set *set); /* NULL is allowed */
/* @return the number of samples, at least 1. */
size_t gbsi_evidence_set_size(const gbsi_evidence_set *set);
/* Adds the observations of one sample to evidence, as gbs_evidence_read() does. */
gbs_status gbsi_evidence_set_observe(const gbsi_evidence_set *set, size_t index,
                                     gbs_evidence *evidence, gbs_error *err);

/* ---- result_arrays.c --------------------------------------------------------------------- */

/* Marginals in arrays. */
typedef struct gbsi_result_arrays {
    uint32_t n;           /* number of variables */
    const uint64_t *id;   /* [n] numbers of the variables, which name variables without a name */
    const size_t *offset; /* [n + 1] index of the first entry of each variable */
    const double *p;      /* [offset[n]] probabilities */
    const double *error;  /* [offset[n]] standard errors, NaN: not known; NULL: none is known */
    char *const *name;    /* [n] names of the variables; NULL: numbers are their names */
    char *const *label;   /* [offset[n]] labels, NULL or an element NULL: numbers are the labels */
} gbsi_result_arrays;

/* Makes a result of marginals, and checks that the numbers are probabilities and errors. The arrays
 * are copied.
 * @param path path of the file that had the arrays, for messages. */
gbs_status gbsi_result_of_arrays(const char *path, const gbsi_result_arrays *arrays,
                                 gbs_result *result, gbs_error *err);

/* ---- result_match.c ---------------------------------------------------------------------- */

/* Whether the names of n variables, or of the n states of one variable, are 0, 1, 2, ... in this
 * order. */
bool gbsi_are_numbers(char *const *text, size_t n);

/* ---- query_file.c, edges_file.c, weights_file.c -------------------------------------------- */

/* Reads a query file: the number N, then N variable ids.
 * @param variable out: [n] variable ids in the order of the file; the caller frees the array with
 * gbs_free(). */
gbs_status gbsi_query_read(const char *path, const gbs_model *model,
                           const gbs_read_options *options, uint32_t **variable, size_t *n,
                           gbs_error *err);

/* Reads dummy edges for herded draws (gbs_run_options.dummy_edges): "edges 1", "variables N",
 * then two variable ids for each edge.
 * @param pair out: [2 * n] the two variable ids of each edge; the caller frees the array with
 * gbs_free().
 * @param n out: number of edges. */
gbs_status gbsi_edges_read(const char *path, const gbs_model *model, uint32_t **pair, size_t *n,
                           gbs_error *err);

/* Reads a file of weights of target variables: "weights 1", "variables N", then pairs of a variable
 * and its weight. @param weight out: [n_variables] weight of each variable; 0 for variables that
 * are not listed. */
gbs_status gbsi_weights_read(const char *path, const gbs_model *model, double *weight,
                             gbs_error *err);

/* ---- result_write.c ---------------------------------------------------------------------- */

/* Writes the line behind the task word of a UAI result; each marginal is scaled to sum to one.
 * @param base base of the logarithm that a PR result has. */
void gbsi_result_write_solution(gbs_output *output, const gbs_result *result, gbs_log_base base);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for files that accompany a model, in addition to the functions of the public headers.
 *
 * Only the program calls these functions. It links the static library, because the shared library
 * does not export these functions. If an object or output is NULL, or an index does not exist,
 * calls that return a status return GBS_ERR_ARGUMENT; other calls return 0, or do nothing.
 */
#ifndef GBSI_ANSWERS_ANSWERS_H
#define GBSI_ANSWERS_ANSWERS_H

#include <stdbool.h>

#include "gibbsite/io.h"

/* ---- evidence_set.c ---------------------------------------------------------------------- */

/* All samples of an evidence file, which is read only once. In contrast, gbs_evidence_read() reads
 * the file and uses one of its samples. */
typedef struct gbsi_evidence_set gbsi_evidence_set;

/* @param model borrowed; must outlive the set. @param set out: the set, freed by the caller. */
gbs_status gbsi_evidence_set_read(const gbs_model *model, const char *path,
                                  const gbs_read_options *options, gbsi_evidence_set **set,
                                  gbs_error *err);
void gbsi_evidence_set_free(gbsi_evidence_set *set); /* NULL is allowed */
/* @return the number of samples, at least 1. */
size_t gbsi_evidence_set_size(const gbsi_evidence_set *set);
/* Adds the observations of a sample to evidence, as gbs_evidence_read() does. */
gbs_status gbsi_evidence_set_observe(const gbsi_evidence_set *set, size_t index,
                                     gbs_evidence *evidence, gbs_error *err);

/* ---- result_match.c ---------------------------------------------------------------------- */

/* Whether the texts of n variables, or of the n states of one variable, are 0, 1, 2, ... in this
 * order. */
bool gbsi_are_numbers(char *const *text, size_t n);

/* ---- query_file.c, edges_file.c, weights_file.c -------------------------------------------- */

/* Reads a query file: the number N, then N variable ids.
 * @param variable out: [n] variable ids in the order of the file; caller frees with gbs_free(). */
gbs_status gbsi_query_read(const char *path, const gbs_model *model,
                           const gbs_read_options *options, uint32_t **variable, size_t *n,
                           gbs_error *err);

/* Reads dummy edges for herded draws (gbs_run_options.dummy_edges): "edges 1", "variables N",
 * then two variable ids for each edge.
 * @param pair out: [2 * n] variable ids; caller frees with gbs_free().
 * @param n out: number of edges. */
gbs_status gbsi_edges_read(const char *path, const gbs_model *model, uint32_t **pair, size_t *n,
                           gbs_error *err);

/* Reads a file of weights of target variables: "weights 1", "variables N", then pairs of a variable
 * and its weight. @param weight out: [n_variables] weight of each variable; 0 for variables that
 * are not listed. */
gbs_status gbsi_weights_read(const char *path, const gbs_model *model, double *weight,
                             gbs_error *err);

/* ---- result_write.c ---------------------------------------------------------------------- */

/* Writes the line of a UAI result that follows the task word; each marginal is scaled to sum to
 * one. @param base base of the logarithm in a PR result. */
void gbsi_result_write_solution(gbs_output *output, const gbs_result *result, gbs_log_base base);

#endif

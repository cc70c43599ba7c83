/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A model that several processes share (gibbsite/ranks.h). Each process has its own variables and
 * the factors over at least one own variable. The other variables of these factors are the halo of
 * the process. A run on any number of shares gives the same bits as the run on the whole model. The
 * splash scan is an exception: splashes stay inside a rank, so that results depend on the
 * partition. On one rank, the results of the splash scan are the results for the whole model.
 *
 *     gbs_partition *partition = NULL;
 *     gbs_share *share = NULL;
 *     gbs_run *run = NULL;
 *     gbs_ranks ranks = {0}; // of gbs_mpi_ranks()
 *     gbs_partition_new(model, evidence, NULL, ranks.n_ranks, GBS_PARTS_AUTO, &partition, &err);
 *     gbs_partition_share(partition, ranks.rank, &share, &err);
 *     const gbs_run_setup setup = {
 *         .size = sizeof setup, .ranks = &ranks, .share = share, .partition = partition};
 *     gbs_run_new_with(&setup, &run, &err);
 *
 * Only gbs_partition_new() and gbs_partition_share() need the whole model. Shares can also be
 * written to files and read from files: gbs_share_write(), gbs_share_read().
 */
#ifndef GIBBSITE_SHARE_H
#define GIBBSITE_SHARE_H

#include "gibbsite/generate.h"
#include "gibbsite/ranks.h"
#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbs_partition gbs_partition;
typedef struct gbs_share gbs_share;

/** The rule by which the variables of a model are divided among ranks. The rule does not change
 * results, except results of the splash scan. */
typedef enum gbs_parts {
    GBS_PARTS_AUTO,      /**< the quick rule that gives the smallest halo */
    GBS_PARTS_METIS,     /**< the METIS library; fails if gibbsite was built without METIS */
    GBS_PARTS_BISECTION, /**< lattices: recursive bisection by coordinates */
    GBS_PARTS_BREADTH,   /**< intervals of a breadth-first order */
    GBS_PARTS_INTERVALS, /**< intervals of the order in which memory holds the variables */
} gbs_parts;

/** "auto", "metis" and so on: the name of a rule; static storage. NULL beyond the last. */
GBS_API const char *gbs_parts_name(gbs_parts parts);

/** The sizes of one rank's share, and the amount of the rank's communication. */
typedef struct gbs_share_figures {
    size_t size;    /**< size of the library's struct in bytes; fields beyond this size must not be
                       read */
    uint32_t n_own; /**< number of variables that the rank updates */
    /** number of variables of other ranks whose states the rank keeps up to date */
    uint32_t n_halo;
    uint32_t n_boundary; /**< number of own variables, in the halo of another rank, that are updated
                            in a pass, counted with repetition */
    uint32_t n_neighbours; /**< number of ranks that this rank exchanges messages with */
    uint64_t n_messages;   /**< number of messages that the rank sends in a pass */
    uint64_t n_values;     /**< number of states that the rank sends in a pass for one chain */
    /** number of groups of consecutive updates in a pass; fewer groups are faster */
    uint64_t n_runs;
    uint64_t bytes; /**< memory of the share in bytes, before the share is compiled */
} gbs_share_figures;

/**
 * Decide which rank owns which variable, and in which order variables are updated.
 *
 * @param options scan, draw, seed and the options that belong to them, as for the run; method must
 * be sample or auto, which means sample here. Borrowed until the call returns. NULL: the defaults.
 * @param n_ranks at least 1, and at most the number of free variables.
 * @param model, evidence borrowed until gbs_partition_free(); evidence may be NULL.
 * @return GBS_ERR_UNSUPPORTED for scans whose single updates differ from pass to pass, for splashes
 *         with --locking blanket and for draws that look at variables beyond the neighbours;
 *         otherwise the values of gbs_run_new().
 */
GBS_API GBS_MUST_USE gbs_status gbs_partition_new(const gbs_model *model,
                                                  const gbs_evidence *evidence,
                                                  const gbs_run_options *options, uint32_t n_ranks,
                                                  gbs_parts parts, gbs_partition **partition,
                                                  gbs_error *err);
GBS_API void gbs_partition_free(gbs_partition *partition); /**< NULL is allowed */

/**
 * Partition the model of gbs_generate_ising() without making that model: parts are blocks between
 * planes (bisection), updates follow the colours of a chessboard, and the memory and time of a
 * share depend only on its own part. The shares are byte for byte the shares that
 * gbs_partition_new() makes of the model with GBS_PARTS_BISECTION and default options. The digest
 * of the model is computed in one walk through all couplings.
 *
 * @return GBS_ERR_UNSUPPORTED if formulas would not give the bytes of gbs_partition_new(): closed
 *         sides of odd length, sides below 4, cuts between planes after which a part has more than
 *         3 % more work than the mean, sides whose breadth-first order may be local (only beyond
 *         65535 variables: in two dimensions, 4096 columns or more unless both sides are at least
 *         8192; in three dimensions, columns times rows of 4096 or more unless all sides are at
 *         least 128), and couplings or fields so strong that a conditional spans more than e^39.
 */
GBS_API GBS_MUST_USE gbs_status
gbs_partition_new_of_ising(const gbs_generate_ising_options *lattice, uint32_t n_ranks,
                           gbs_partition **partition, gbs_error *err);
/** Partition the model of gbs_generate_potts(), as gbs_partition_new_of_ising() does for its model.
 * If some conditionals span more than e^40, the partition takes a fifth of a byte for each
 * variable.
 * @return GBS_ERR_UNSUPPORTED also for one state and for more than 64 states. The limit e^39 is
 *         replaced by e^60, for the couplings of an inner variable and the largest data term
 *         together. Little noise makes data terms large: they are -(y - k)^2 / (2 noise^2) for
 *         state k and observed grey level y. */
GBS_API GBS_MUST_USE gbs_status
gbs_partition_new_of_potts(const gbs_generate_potts_options *lattice, uint32_t n_ranks,
                           gbs_partition **partition, gbs_error *err);

/** Write the names and states of all variables, without factors, as a .gbm file for
 * gbs_run_name_variables(). On failure no file is left. */
GBS_API GBS_MUST_USE gbs_status gbs_partition_write_variables(const gbs_partition *partition,
                                                              const char *path, gbs_error *err);
/** @return the rule that divided the variables: "metis", "bisection", "breadth", "intervals". */
GBS_API const char *gbs_partition_kind(const gbs_partition *partition);

/** Find the first states of the run's chains for all ranks, if these states depend on the whole
 * model (gbs_share_needs_whole()); otherwise do nothing. Shares made afterwards contain these
 * states, so that runs with this seed and at most n_chains chains need no partition. @param
 * n_chains number of chains, see option chains; the seed is the seed in the options.
 * @return GBS_ERR_NOT_FOUND if no states of positive weight are found, GBS_ERR_IMPOSSIBLE if no
 *         such states are proved to exist. */
GBS_API GBS_MUST_USE gbs_status gbs_partition_find_starts(gbs_partition *partition,
                                                          uint32_t n_chains, gbs_error *err);

/** Make the share of one rank. @param share out, caller frees; independent of the partition. */
GBS_API GBS_MUST_USE gbs_status gbs_partition_share(const gbs_partition *partition, uint32_t rank,
                                                    gbs_share **share, gbs_error *err);
/** @return 1 if the first states of chains depend on the whole model, because of hard zeros or
 * conditional tables: rank 0 then gives the partition to gbs_run_new_with(). 0: every rank finds
 * the first states of its own variables. */
GBS_API int gbs_share_needs_whole(const gbs_share *share);

GBS_API void gbs_share_free(gbs_share *share); /**< NULL is allowed */
/** Get the figures of a share. @param figures in: figures->size; out: all other fields. */
GBS_API GBS_MUST_USE gbs_status gbs_share_tell(const gbs_share *share, gbs_share_figures *figures,
                                               gbs_error *err);
/** @return the rank that the share belongs to; gbs_share_n_ranks() returns the number of ranks. */
GBS_API uint32_t gbs_share_rank(const gbs_share *share);
GBS_API uint32_t gbs_share_n_ranks(const gbs_share *share);

/** Write a share to a file, or read it back. If writing fails, no file is left. A file that is read
 * is checked.
 * @return GBS_ERR_IO; GBS_ERR_FORMAT for other or damaged files; GBS_ERR_LIMIT if a pass has more
 * than 2^34 updates in all shares, because the random number generator has no numbers for more
 * updates. */
GBS_API GBS_MUST_USE gbs_status gbs_share_write(const gbs_share *share, const char *path,
                                                gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_share_read(const char *path, gbs_share **share, gbs_error *err);

/** Convert a share to bytes, to be sent as a message, and back. @param bytes out, [n]; free with
 * gbs_share_bytes_free(). */
GBS_API GBS_MUST_USE gbs_status gbs_share_pack(const gbs_share *share, void **bytes, size_t *n,
                                               gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_share_unpack(const void *bytes, size_t n, gbs_share **share,
                                                 gbs_error *err);
GBS_API void gbs_share_bytes_free(void *bytes);

/** Set the names of variables that messages, summaries and reports of the run use. @param model the
 * model, or a model with these variables and without factors; borrowed until gbs_run_free(). */
GBS_API GBS_MUST_USE gbs_status gbs_run_name_variables(gbs_run *run, const gbs_model *model,
                                                       gbs_error *err);

/** Gather the estimates of all ranks on rank 0, where gbs_run_marginals() then returns them.
 * The call is collective; rank 0 needs 32 bytes for each state of the whole model. For a run in one
 * process the call does nothing. */
GBS_API GBS_MUST_USE gbs_status gbs_run_gather_marginals(gbs_run *run, gbs_error *err);

/** Callback that receives the estimates of one variable after another, in ascending order of
 * variable ids; the arrays are as in gbs_run_marginals(). If the run is on several ranks,
 * gbs_run_each_marginal() is collective and calls this function on rank 0 only. */
typedef gbs_status gbs_on_marginal(void *context, uint32_t variable, uint32_t arity,
                                   const double *p, const double *mcse, const double *ess,
                                   const double *rhat, gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_run_each_marginal(const gbs_run *run,
                                                      gbs_on_marginal *on_marginal, void *context,
                                                      gbs_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Markov logic (Richardson & Domingos 2006, Machine Learning 62:107-136): weighted formulas of
 * first-order logic over a database, turned into a factor graph.
 *
 *     gbs_model *model = NULL;
 *     const gbs_ground_options options = {.size = sizeof options,
 *                                         .query_predicates = "Smokes,Cancer"};
 *     gbs_ground("smoking.mln", "smoking.db", &options, NULL, &model, NULL, &err);
 *
 * A formula of weight w gives a factor for each binding of its variables to constants. The factor
 * is exp(w) if the formula holds, else 1 [M1]. The variables of the model are the atoms of query
 * predicates that the database does not decide. They are named as in the program, such as
 * Friends(Anna,Bob), and state 1 means that the atom holds. Atoms of other predicates are false
 * unless the database says otherwise (the closed world). A grounding that evidence decides is a
 * constant and is left out. An atom that is in no factor is left out, too; its probability is 1/2.
 *
 * If an argument is marked '!' in the declaration of a predicate, such as At(thing, place!),
 * exactly one of its values holds for each combination of the other arguments. These atoms are
 * variables, and a hard factor GBS_LOGICAL_EXACTLY requires that exactly one of them holds. If the
 * database states which value holds, all other values are false.
 *
 * A function f(x) with values y is the predicate f(x, y!). If f(x) is written in place of a
 * constant, it means a variable bound by EXIST. A formula with neither a weight nor a period has
 * weight 0, and a warning of the report counts it. If a predicate is declared with '*' in front,
 * all predicates without '*' are query predicates, unless options name query predicates.
 *
 * A grounding that is a clause, a conjunction, or <=> of two literals becomes a logical factor that
 * is tied to the weight of its formula. Equal groundings of one formula become one factor, whose
 * feature is the number of these groundings. All other groundings become tables, which are not
 * tied; they may have up to 16 open atoms.
 *
 * Similarity predicates that a database lacks can be computed. With `similarity` "Score", the
 * predicates Score0, Score20, ... all have two arguments of one type. For a pair of constants, the
 * share of common words is the number of words that both names have, divided by the number of words
 * that at least one name has, in percent. Of the predicates whose number is at most this share, the
 * one with the greatest number holds. Words are runs of letters and digits; case is ignored, and
 * words that all constants of the type have are left out. The share of a constant and itself is
 * 100.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a built model can be shared by any number of threads.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT. NULL options mean the defaults.
 */
#ifndef GIBBSITE_GROUND_H
#define GIBBSITE_GROUND_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Zero-initialised means the defaults. */
typedef struct gbs_ground_options {
    size_t size;                  /**< sizeof(gbs_ground_options) */
    const char *query_predicates; /**< names with ',' between; NULL: predicates without a fact, or,
                                     if '*' is used, predicates without '*' */
    double time_s;                /**< fail after this many seconds; 0: no limit */
    uint64_t memory_limit;  /**< memory limit in bytes, program included; 0: half of the machine's
                               memory */
    const char *similarity; /**< names of similarity predicates with ',' between, or NULL */
    uint64_t threads;       /**< number of threads; has no effect, since one thread does the work */
} gbs_ground_options;

/** The results of grounding. */
typedef struct gbs_ground_report {
    size_t size;           /**< sizeof(gbs_ground_report), set by the caller */
    uint64_t n_formulas;   /**< number of formulas of the program */
    uint64_t n_facts;      /**< number of different facts of the database */
    double n_instances;    /**< number of bindings of the variables of all formulas */
    uint64_t n_groundings; /**< number of instances that the evidence does not decide */
    uint64_t n_merged;  /**< number of groundings equal to an earlier grounding; the factor of the
                           earlier one counts them */
    uint64_t n_factors; /**< number of factors of the model */
    uint64_t n_tables;  /**< number of factors that are tables */
    double n_atoms; /**< number of open atoms, which are atoms that the database does not decide */
    uint64_t n_variables; /**< number of open atoms that occur in a factor */
    uint64_t n_similar;   /**< number of facts of similarity predicates that were computed */
    uint32_t n_warnings;  /**< number of texts in warning */
    char warning[3][256]; /**< [n_warnings] assumptions that grounding made, each in one sentence */
} gbs_ground_report;

/**
 * Ground a program over a database; the files are described in gibbsite-formats(5).
 *
 * @param program, database paths of the two files; "-" is standard input.
 * @param callbacks NULL; progress is called from time to time and may stop the work.
 * @param model  out, caller frees.
 * @param report out or NULL.
 * @return GBS_ERR_FORMAT with FILE:LINE:COLUMN if a file cannot be parsed, facts contradict one
 *         another or a formula that must hold, no formula has a grounding with the constants of the
 *         database, or a query predicate is not declared; GBS_ERR_UNSUPPORTED for formulas over too
 *         many open atoms; GBS_ERR_LIMIT, GBS_ERR_STOPPED, GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_ground(const char *program, const char *database,
                                           const gbs_ground_options *options,
                                           const gbs_run_callbacks *callbacks, gbs_model **model,
                                           gbs_ground_report *report, gbs_error *err);
/** Ground texts in memory. @param program_name, database_name used in messages. */
GBS_API GBS_MUST_USE gbs_status gbs_ground_memory(const char *program_name, const void *program,
                                                  size_t program_bytes, const char *database_name,
                                                  const void *database, size_t database_bytes,
                                                  const gbs_ground_options *options,
                                                  const gbs_run_callbacks *callbacks,
                                                  gbs_model **model, gbs_ground_report *report,
                                                  gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif

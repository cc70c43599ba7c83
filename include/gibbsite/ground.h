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
 * predicates that the database does not decide. Their names are written as in the program, such as
 * Friends(Anna,Bob), and state 1 means that the atom holds. Atoms of other predicates are false
 * unless the database says otherwise (the closed world). A grounding (a formula with constants
 * bound to all of its variables) is left out if the evidence decides whether the grounding holds.
 * An atom that is in no factor is left out, too; the probability of such an atom is 1/2.
 *
 * If an argument is marked '!' in the declaration of a predicate, such as At(thing, place!),
 * exactly one value of this argument makes the predicate true, for each combination of the other
 * arguments. The atoms with these values are variables, and a hard factor GBS_LOGICAL_EXACTLY
 * requires that exactly one of these atoms holds. If the database states which atom holds, all
 * others are false.
 *
 * A function f(x) with values y is the predicate f(x, y!). In place of a constant, f(x) means a
 * variable that is bound by EXIST. A formula with neither a weight nor a period has weight 0; a
 * warning of the report gives the number of such formulas. If a predicate is declared with '*' in
 * front, the query predicates are all predicates without '*', unless the options name the query
 * predicates.
 *
 * A grounding that is a clause, a conjunction, or <=> of two literals becomes a logical factor,
 * which is tied to the weight of the formula. Equal groundings of one formula become one factor,
 * whose feature is the number of these groundings. All other groundings become tables that are not
 * tied to a weight. Such a grounding may have up to 16 open atoms.
 *
 * gbs_ground() can compute similarity predicates for which the database has no facts. With
 * `similarity` "Score", the predicates Score0, Score20, ... all have two arguments of one type. For
 * a pair of constants, the share of common words is the number of words that both names have,
 * divided by the number of words that at least one name has, in percent. Some predicates have
 * numbers that are at most this share; the predicate with the greatest of these numbers holds for
 * the pair. Words are runs of letters and digits; case is ignored, and words that all constants of
 * the type have are left out. For a constant paired with itself, this share is 100.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT. NULL options mean the defaults.
 */
#ifndef GIBBSITE_GROUND_H
#define GIBBSITE_GROUND_H

#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A struct that is set to zero means the defaults. */
typedef struct gbs_ground_options {
    size_t size;                  /**< sizeof(gbs_ground_options) */
    const char *query_predicates; /**< names of query predicates with ',' between; NULL: predicates
                                     without a fact, or, if '*' is used, predicates without '*' */
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
    uint64_t n_groundings; /**< number of bindings that the evidence does not decide */
    uint64_t n_merged;  /**< number of groundings that equal an earlier grounding; the factor of the
                           earlier grounding counts such groundings */
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

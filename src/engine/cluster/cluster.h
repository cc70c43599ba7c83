/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of clusters of Ising and Potts models [M90] (Swendsen & Wang 1987; Wolff 1989; Edwards &
 * Sokal 1988). A factor that favours equal states is a bond, which joins its two variables with
 * probability 1 - exp(-J) if their states are equal. Given the bonds that join, the variables of a
 * cluster have one state, and the weight of the state is the product of the fields of these
 * variables. */
#ifndef GBSI_CLUSTER_CLUSTER_H
#define GBSI_CLUSTER_CLUSTER_H

#include "condition/condition.h"
#include "plan/pass.h"

/* A factor of two variables, as a bond. */
typedef struct gbsi_bond {
    uint32_t slot[2];
    /* The bond joins if a word of 64 bits is at most `most`: with probability (most + 1) / 2^64. */
    uint64_t most;
    uint32_t differ; /* 1: the bond joins variables whose states differ, else 0 */
} gbsi_bond;

/* The bonds and fields of a model, by slots. If all variables have two states, a cluster is
 * *turned*: all its variables change their states. Otherwise a cluster takes a *label*, which is a
 * state in the user's numbering, so that equal labels are equal states for variables from which
 * evidence has removed different states. */
typedef struct gbsi_bonds {
    uint32_t n_slots;
    uint32_t n_labels; /* 2 if clusters are turned */
    bool turns;
    bool always; /* whether some bond joins with probability 1, because its factor has zeros */
    size_t n_bonds;
    gbsi_bond *bond; /* [n_bonds] */
    /* Logarithms in multiples of `unit`, which is a power of two, so that the order of a sum over
     * the variables of a cluster does not matter. turned: [n_slots] log-weight of state 1 minus
     * that of state 0; else [n_slots][n_labels] log-weights. NULL: there are no fields. */
    int64_t *field;
    double unit;
    uint16_t *label_of; /* [n_slots][n_labels] label of each state; NULL: states are labels */
    uint16_t *state_of; /* [n_slots][n_labels] state of each label, or GBSI_NO_STATE */
    /* The bonds at each slot: numbers bond_at[start[slot]] to bond_at[start[slot + 1] - 1]. NULL if
     * the bonds are not wanted by slot. */
    size_t *start;
    uint32_t *bond_at;
} gbsi_bonds;

#define GBSI_NO_STATE UINT16_MAX

/* Checks that a model has clusters. @param scan name of the scan, for the message.
 * @return GBS_ERR_UNSUPPORTED with a message that names the first factor that has no bond. */
gbs_status gbsi_bonds_check(const gbsi_conditioned *model, const char *scan, gbs_error *err);

/* Whether every factor is a bond that favours equal states, without fields. The chains of such a
 * model are the slower, the stronger its couplings, and clusters move where single updates hardly
 * do. */
bool gbsi_bonds_favour_equal(const gbsi_conditioned *model);

/* Whether states differ from labels, because evidence has removed states or arities differ.
 * @param n_labels receives the number of labels, at least 2. */
bool gbsi_bonds_label(const gbsi_conditioned *model, uint32_t *n_labels);

/* @param by_slot whether the bonds are also wanted by slot. */
gbs_status gbsi_bonds_new(const gbsi_plan *plan, bool by_slot, gbsi_bonds **out, gbs_error *err);
/* Upper bound of the bytes that gbsi_bonds_new() takes. */
uint64_t gbsi_bonds_bytes(const gbsi_plan *plan, bool by_slot);
void gbsi_bonds_free(gbsi_bonds *bonds);

/* ---- moves.c --------------------------------------------------------------------------------- */

typedef struct gbsi_clusters gbsi_clusters;

/* Returns an upper bound of the bytes that gbsi_clusters_new() takes. @param n_clusters 0: all
 * clusters of a pass move (Swendsen & Wang); else number of clusters that grow and move one after
 * the other (Wolff). */
uint64_t gbsi_clusters_bytes(const gbsi_pass_setting *setting, uint64_t n_clusters);
gbs_status gbsi_clusters_new(const gbsi_pass_setting *setting, uint64_t n_clusters,
                             gbsi_clusters **out, gbs_error *err);
void gbsi_clusters_free(gbsi_clusters *clusters);

/* Moves the clusters of all chains. If the watch stops the work, some chains have moved, and the
 * others have their old states. @param watch NULL: nothing stops the work. */
void gbsi_clusters_move(gbsi_clusters *clusters, uint64_t pass, gbsi_watch *watch);

/* Makes the moves of all clusters also find the means of m^2 and m^4 given the bonds [M92]. Does
 * nothing for models with fields and for moves of some clusters, which have no such means. */
gbs_status gbsi_clusters_measure(gbsi_clusters *clusters, gbs_error *err);
/* Upper bound of the bytes that gbsi_clusters_measure() takes. */
uint64_t gbsi_clusters_measure_bytes(uint32_t n_slots, uint32_t n_chains, uint32_t n_threads);
/* The means of m^2 and m^4 of chain `number` in the last move; NAN if they were not measured. */
void gbsi_clusters_moments(const gbsi_clusters *clusters, uint32_t number, double *square,
                           double *fourth);

/* Number of operations (counted nanoseconds) of gbsi_clusters_move(). */
double gbsi_clusters_operations(const gbsi_clusters *clusters, uint32_t n_chains);

#endif

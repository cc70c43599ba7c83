/* SPDX-License-Identifier: Apache-2.0 */
/* A focus variable X of a small model: the joint distribution of X and all other variables Z, the
 * key of each z, and the components of the error of counted states [M30]. */
#ifndef LAB_FOCUS_H
#define LAB_FOCUS_H

#include "condition/condition.h"
#include "graph/graph.h"
#include "lab/decomposition.h"

/* Keys that select the weight of a herded variable. */
typedef struct lab_focus_keys {
    int scheme;      /* gbs_keys_kind, never auto */
    uint32_t n_bins; /* number of bins */
    bool left_edge;
    bool rounded; /* bins of two states: p is rounded at random to b / n_bins, and b is the key */
    /* free variables that are neighbours by dummy edges; NULL if there are none */
    const gbsi_edges *extra;
} lab_focus_keys;

typedef struct lab_focus {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t x;                    /* number of the free variable X */
    uint32_t n_x;                  /* number of states of X */
    /* number of joint states of the other free variables; the first variable is the slowest */
    size_t n_z;
    size_t *stride; /* [n_variables] strides in the index of z; 0 for x */
    /* [state_offset of the user's model] contribution of a user's state to the index of z; 0 for x
     */
    size_t *cell;
    double *joint; /* [n_z][n_x] pi(x, z) */
    double *pz;    /* [n_z] pi(z) */
    size_t n_keys;
    uint32_t n_choices; /* number of keys that one z may have: 1, or 2 if keys are random */
    uint32_t *key;      /* [n_z][n_choices] */
    double *chance;     /* [n_z][n_choices] pi(y|z) */
    /* [n_keys] probability P(x = 1) that a random key herds; NULL if keys herd pi(x|z) */
    double *theta;
    uint32_t n_neighbours; /* neighbours of x by factors and extra edges */
    uint32_t *neighbour;   /* [n_neighbours] free variables, ascending */
} lab_focus;

/* @param x number of the free variable. */
gbs_status lab_focus_new(const gbsi_conditioned *model, uint32_t x, const lab_focus_keys *keys,
                         lab_focus **out, gbs_error *err);
void lab_focus_free(lab_focus *focus);

/* Index z of a state in the user's numbering. */
size_t lab_focus_z(const lab_focus *focus, const uint32_t *user_state);
/* State of free variable v (not x) in z. */
uint32_t lab_focus_state(const lab_focus *focus, size_t z, uint32_t v);

/* Returns the index of the key of z that an update takes. If keys are random, the random word of
 * the update decides. */
static inline uint32_t lab_focus_choice(const lab_focus *focus, size_t z, uint32_t word)
{
    /* the upper key if u < p B - floor(p B), which is the probability of the upper key */
    return focus->n_choices == 2 && (double)word < focus->chance[2 * z + 1] * 0x1p32;
}

/* Computes the components of the error of counts.
 * @param count [n_z][n_choices][n_x] numbers of visits, with a positive sum.
 * @param scratch [lab_focus_scratch()] numbers.
 * @param value [LAB_N_COMPONENTS] out. */
void lab_focus_components(const lab_focus *focus, const uint64_t *count, double *scratch,
                          double *value);
size_t lab_focus_scratch(const lab_focus *focus);

/* Options of a user, converted for a focus variable (decomposition.c). */
typedef struct lab_focus_setting {
    gbs_run_options options; /* options of the run, with final scan, burn-in and sweeps */
    gbsi_conditioned *model;
    lab_focus *focus;
    gbsi_edges extra; /* dummy edges between free variables */
} lab_focus_setting;

/* @param focus number of the variable for the user. @param most_states largest number of states
 * of the free variables. @param setting out; must be zero before, and must be freed in any case. */
gbs_status lab_focus_set(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, uint32_t focus, uint64_t most_states,
                         lab_focus_setting *setting, gbs_error *err);
void lab_focus_setting_free(lab_focus_setting *setting);

/* Context of a caller who waits for an enumeration. Its callback receives the progress, and may
 * stop the work. */
typedef struct lab_wait {
    const gbs_run_callbacks *callbacks; /* NULL if there are no callbacks */
    double begun_s;
    /* number of parts done, and of all parts; 0 if progress is not reported in parts */
    uint64_t done, all;
} lab_wait;

/* Look function of a gbsi_watch whose context is a lab_wait. */
bool lab_wait_look(void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A focus variable X of a small model: the joint distribution of X and all others Z, the key of
 * each z, and the components of the error of counted states ([M30]). */
#ifndef LAB_FOCUS_H
#define LAB_FOCUS_H

#include "condition/condition.h"
#include "graph/graph.h"
#include "lab/decomposition.h"

/* The keys by which the weights of a herded variable are told apart. */
typedef struct lab_focus_keys {
    int scheme;      /* gbs_keys_kind, never auto */
    uint32_t n_bins; /* bins */
    bool left_edge;
    bool rounded; /* bins of two states: p is rounded at random to b / n_bins, which is the key */
    const gbsi_edges *extra; /* neighbours beyond the factors', free variables; NULL for none */
} lab_focus_keys;

typedef struct lab_focus {
    const gbsi_conditioned *model; /* borrowed */
    uint32_t x;                    /* free variable */
    uint32_t n_x;                  /* its states */
    size_t n_z;                    /* joint states of the other free variables, the first slowest */
    size_t *stride;                /* [n_variables] of z; 0 for x */
    size_t *cell;  /* [state_offset of the user's model] amount that a user's state adds to the
                      index of z; 0 for x */
    double *joint; /* [n_z][n_x] pi(x, z) */
    double *pz;    /* [n_z] pi(z) */
    size_t n_keys;
    uint32_t n_choices;    /* keys that one z may have: 1, or 2 where keys are drawn */
    uint32_t *key;         /* [n_z][n_choices] */
    double *chance;        /* [n_z][n_choices] pi(y|z) */
    double *theta;         /* [n_keys] the probability P(x = 1) that a drawn key herds; NULL:
                              pi(x|z) itself */
    uint32_t n_neighbours; /* neighbours of x by factors and extra edges */
    uint32_t *neighbour;   /* [n_neighbours] free variables, ascending */
} lab_focus;

/* @param x free variable. */
gbs_status lab_focus_new(const gbsi_conditioned *model, uint32_t x, const lab_focus_keys *keys,
                         lab_focus **out, gbs_error *err);
void lab_focus_free(lab_focus *focus);

/* z of a state in the user's numbering. */
size_t lab_focus_z(const lab_focus *focus, const uint32_t *user_state);
/* The state of free variable v (not x) in z. */
uint32_t lab_focus_state(const lab_focus *focus, size_t z, uint32_t v);

/* The key, of those of z, that an update takes: by the word of the update if keys are drawn at
 * random. */
static inline uint32_t lab_focus_choice(const lab_focus *focus, size_t z, uint32_t word)
{
    /* up if u < p B - floor(p B), which is the chance of the upper one */
    return focus->n_choices == 2 && (double)word < focus->chance[2 * z + 1] * 0x1p32;
}

/* Components of the error of counts.
 * @param count   [n_z][n_choices][n_x], with a sum above 0.
 * @param scratch [lab_focus_scratch()].
 * @param value   [LAB_N_COMPONENTS] out. */
void lab_focus_components(const lab_focus *focus, const uint64_t *count, double *scratch,
                          double *value);
size_t lab_focus_scratch(const lab_focus *focus);

/* The options of a user, converted for a focus variable (decomposition.c). */
typedef struct lab_focus_setting {
    gbs_run_options options; /* of the run: scan, burn-in and sweeps settled */
    gbsi_conditioned *model;
    lab_focus *focus;
    gbsi_edges extra; /* dummy edges between free variables */
} lab_focus_setting;

/* @param focus the user's variable. @param most_states of the free variables. @param setting out,
 * zero before; free in either case. */
gbs_status lab_focus_set(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, uint32_t focus, uint64_t most_states,
                         lab_focus_setting *setting, gbs_error *err);
void lab_focus_setting_free(lab_focus_setting *setting);

/* The callback of a caller who waits for an enumeration: it is told how much is done, and may stop
 * the work. */
typedef struct lab_wait {
    const gbs_run_callbacks *callbacks; /* NULL: nobody waits */
    double begun_s;
    uint64_t done, all; /* parts of the work; 0: progress is not reported in parts */
} lab_wait;

/* The look of a gbsi_watch whose context is a lab_wait. */
bool lab_wait_look(void *context);

#endif

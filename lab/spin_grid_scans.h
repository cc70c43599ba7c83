/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the experiments of Mitliagkas & Mackey (2017) share: grids of spins as in section
 * 5 of the paper, exact values at a corner of a grid, variations of scans, and short chains, each
 * of which makes one draw. */
#ifndef LAB_SPIN_GRID_SCANS_H
#define LAB_SPIN_GRID_SCANS_H

#include "gibbsite/dobrushin.h"
#include "lab/lab.h"

#define LAB_DOGS_PAPER "Mitliagkas & Mackey (2017), Improving Gibbs sampler scan quality with DoGS"

/* The model exp( sum over neighbours of J_ij s_i s_j + sum of h_i s_i ), s = -1, +1. Variable
 * numbers are row * columns + column. */
typedef struct lab_spin_grid {
    uint32_t rows, columns;
    bool torus;
    double low, high; /* smallest and largest value of the couplings J, which are uniform */
    bool fields;      /* 1 if each h is 0 or 1 with equal probability; 0 if each h is 0 */
    uint32_t index;   /* number of the model within the experiment, which selects its random numbers
                       */
} lab_spin_grid;

/* The grids of section 5, side x side, without torus. The first has fields 0 or 1 and couplings
 * uniform in [0, 0.25]. The second has these couplings and no fields. The third has couplings
 * 1/3.915. */
#define LAB_N_DOGS_GRIDS 3
lab_spin_grid lab_dogs_grid(size_t which, uint32_t side);
extern const char *const lab_dogs_grid_name[LAB_N_DOGS_GRIDS];

gbs_status lab_spin_grid_make(const laboratory *lab, const lab_spin_grid *grid, gbs_model **model,
                              gbs_error *err);

/* Computes a lower and an upper bound of P(s = +1) for variable 0 of a grid of any size without
 * torus. The bounds are exact probabilities in the corner of size x size variables, given that all
 * spins around the corner are down, or up. Couplings must not be negative; other states of the
 * spins around the corner then give probabilities between the bounds (Fortuin, Kasteleyn & Ginibre
 * 1971, Commun. Math. Phys. 22:89-103). @param p out: lower and upper bound. */
gbs_status lab_spin_grid_corner(const laboratory *lab, const lab_spin_grid *grid, uint32_t size,
                                double p[2], gbs_error *err);

/* Processor time of this program in seconds, which does not depend on other programs. */
double lab_processor_s(void);

/* A scan, and the properties of the scan that experiments use. */
typedef struct lab_made_scan {
    uint32_t *sequence; /* [n] variable of each update */
    size_t n;
    /* Dobrushin variation of the sequence, computed by the certificate and not taken from the
     * optimiser */
    double variation;
    gbs_scan_report report;
} lab_made_scan;

/* Makes a scan. @param out must be zero before, and must be freed in any case. @return
 * GBS_ERR_STOPPED if the watch of the influences stopped the work. */
gbs_status lab_made_scan_new(const gbs_influences *influences, const gbs_scan_request *request,
                             lab_made_scan *out, gbs_error *err);
/* Computes the variation of a sequence of n updates. @param weight weights of the variables; NULL
 * for weight 1 of each. */
gbs_status lab_sequence_bound(const gbs_influences *influences, const double *weight,
                              const uint32_t *sequence, size_t n, double *variation,
                              gbs_error *err);
void lab_made_scan_free(lab_made_scan *scan);

/* Computes the variation of a scan after several numbers of updates. @param scan gbs_scan_kind.
 * @param weight weights of the variables; NULL for weight 1 of each. @param steps [n] numbers of
 * updates. @param bound [n] out. */
gbs_status lab_scan_bounds(const gbs_influences *influences, int scan, uint64_t origin,
                           const double *weight, size_t n, const uint64_t *steps, double *bound,
                           gbs_error *err);

/* Short chains, each of which is one pass of a scan from a new start; and the estimate for variable
 * 0 from these chains. */
typedef struct lab_short_chains {
    uint64_t draws;        /* number of draws, which is rounded up to a multiple of `chains` */
    uint32_t chains;       /* number of chains that run at once; 16 fill all lanes */
    uint64_t seed;         /* seed of the run */
    const uint32_t *start; /* [n_variables] start of every chain; NULL for dispersed starts */
    /* results */
    /* estimated probability of state 1 of variable 0, from averaged conditionals of its last
     * updates */
    double p;
    double mcse;    /* standard error of p */
    double bound;   /* bound on the total variation of variable 0 after the scan */
    double seconds; /* processor time of the whole call on one thread */
} lab_short_chains;

gbs_status lab_short_chains_run(laboratory *lab, const gbs_model *model, const lab_made_scan *scan,
                                lab_short_chains *chains, gbs_error *err);

#endif

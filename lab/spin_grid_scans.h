/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the experiments of Mitliagkas & Mackey (2017) share: grids of spins as in section
 * 5 of the paper, exact values at a corner of them, variations of scans, and short chains that end
 * in one draw each.
 */
#ifndef LAB_SPIN_GRID_SCANS_H
#define LAB_SPIN_GRID_SCANS_H

#include "gibbsite/dobrushin.h"
#include "lab/lab.h"

#define LAB_DOGS_PAPER "Mitliagkas & Mackey (2017), Improving Gibbs sampler scan quality with DoGS"

/* exp( sum over neighbours of J_ij s_i s_j + sum of h_i s_i ), s = -1, +1; variable =
 * row * columns + column. */
typedef struct lab_spin_grid {
    uint32_t rows, columns;
    bool torus;
    double low, high; /* J uniform in between */
    bool fields;      /* h is 0 or 1, a fair coin each; else 0 */
    uint32_t index;   /* number of the model within the experiment, which selects its random numbers
                       */
} lab_spin_grid;

/* The grids of section 5, side x side without torus: fields 0 or 1 and couplings uniform in
 * [0, 0.25]; the couplings alone; couplings 1/3.915. */
#define LAB_N_DOGS_GRIDS 3
lab_spin_grid lab_dogs_grid(size_t which, uint32_t side);
extern const char *const lab_dogs_grid_name[LAB_N_DOGS_GRIDS];

gbs_status lab_spin_grid_make(const laboratory *lab, const lab_spin_grid *grid, gbs_model **model,
                              gbs_error *err);

/* Bounds P(s = +1) of variable 0 of a grid of any size without torus between two numbers. They are
 * exact answers for the corner of size x size variables with all spins around it down, or up.
 * Couplings must not be negative: then no other spins around give less or more (Fortuin, Kasteleyn
 * & Ginibre 1971, Commun. Math. Phys. 22:89-103). @param p out, low and high. */
gbs_status lab_spin_grid_corner(const laboratory *lab, const lab_spin_grid *grid, uint32_t size,
                                double p[2], gbs_error *err);

/* Processor time of this program, seconds: what one thread took, whoever else is at work. */
double lab_processor_s(void);

/* A scan, and what an experiment has computed about it. */
typedef struct lab_made_scan {
    uint32_t *sequence; /* [n] */
    size_t n;
    double variation; /* Dobrushin variation of the sequence: by its certificate, not as its maker
                         reports it */
    gbs_scan_report report;
} lab_made_scan;

/* @param out zero before; free in any case. @return GBS_ERR_STOPPED where the influences were told
 * to stop. */
gbs_status lab_made_scan_new(const gbs_influences *influences, const gbs_scan_request *request,
                             lab_made_scan *out, gbs_error *err);
/* The variation of a sequence of n updates. @param weight NULL: of all variables. */
gbs_status lab_sequence_bound(const gbs_influences *influences, const double *weight,
                              const uint32_t *sequence, size_t n, double *variation,
                              gbs_error *err);
void lab_made_scan_free(lab_made_scan *scan);

/* The variation of a scan after this many updates. @param scan gbs_scan_kind. @param weight NULL:
 * of all variables. @param steps [n]. @param bound [n], out. */
gbs_status lab_scan_bounds(const gbs_influences *influences, int scan, uint64_t origin,
                           const double *weight, size_t n, const uint64_t *steps, double *bound,
                           gbs_error *err);

/* Runs passes of a scan, each from a fresh start, as many as wanted, and estimates the state of
 * variable 0. */
typedef struct lab_short_chains {
    uint64_t draws;        /* at least this many, a multiple of the chains */
    uint32_t chains;       /* at once, 16 for all lanes */
    uint64_t seed;         /* of the run */
    const uint32_t *start; /* [n_variables] or NULL: dispersed */
    /* results */
    double p;       /* estimated probability of state 1 of variable 0: averaged conditionals of its
                       last updates */
    double mcse;    /* its standard error */
    double bound;   /* bound of the scan on its total variation */
    double seconds; /* processor time of the whole call, on one thread */
} lab_short_chains;

gbs_status lab_short_chains_run(laboratory *lab, const gbs_model *model, const lab_made_scan *scan,
                                lab_short_chains *chains, gbs_error *err);

#endif

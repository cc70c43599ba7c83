/* SPDX-License-Identifier: Apache-2.0 */
/* Components of the error of counted states [M30] (Yamashita & Suzuki 2019, section 4.3). */
#include <math.h>

#include "lab/focus.h"

const char *lab_component_name(lab_component component)
{
    static const char *const name[LAB_N_COMPONENTS] = {"cor", "herding", "approx",
                                                       "z",   "bin",     "all"};
    return (unsigned)component < LAB_N_COMPONENTS ? name[component] : NULL;
}

size_t lab_focus_scratch(const lab_focus *focus)
{
    return focus->n_keys * (2 * (size_t)focus->n_x + 1) + focus->n_x;
}

/* Sums over z for each key: P(y), P(x, y) and P(y) q(x|y). */
typedef struct by_key {
    double *py;  /* [n_keys] */
    double *pxy; /* [n_keys][n_x] */
    double *qxy; /* [n_keys][n_x] */
} by_key;

static double count_all(const lab_focus *f, const uint64_t *count)
{
    uint64_t total = 0;
    for (size_t i = 0; i < f->n_z * f->n_choices * f->n_x; i++) {
        total += count[i];
    }
    return (double)total;
}

/* Total count of one pair (z, choice). */
static double count_x(const lab_focus *f, const uint64_t *row)
{
    uint64_t total = 0;
    for (uint32_t x = 0; x < f->n_x; x++) {
        total += row[x];
    }
    return (double)total;
}

/* pi(x|z). */
static double given(const lab_focus *f, size_t z, uint32_t x)
{
    return f->joint[z * f->n_x + x] / f->pz[z];
}

static void sum_by_key(const lab_focus *f, const uint64_t *count, double total, by_key *k)
{
    const uint32_t n_x = f->n_x;
    for (size_t i = 0; i < lab_focus_scratch(f); i++) {
        k->py[i] = 0.0; /* the three arrays follow one another in one allocation */
    }
    for (size_t i = 0; i < f->n_z * f->n_choices; i++) {
        const double pzy = count_x(f, count + i * n_x) / total;
        const size_t y = f->key[i];
        k->py[y] += pzy;
        for (uint32_t x = 0; x < n_x && pzy > 0.0; x++) {
            k->pxy[y * n_x + x] += (double)count[i * n_x + x] / total;
            k->qxy[y * n_x + x] += f->theta == NULL ? pzy * given(f, i, x) : 0.0;
        }
    }
    for (size_t y = 0; f->theta != NULL && y < f->n_keys; y++) {
        k->qxy[2 * y] = k->py[y] * (1.0 - f->theta[y]);
        k->qxy[2 * y + 1] = k->py[y] * f->theta[y];
    }
}

/* q(x|y). For a key that was never used, the value is known in some schemes. */
static double herded(const lab_focus *f, const by_key *k, size_t y, uint32_t x)
{
    if (f->theta != NULL) {
        return x == 1 ? f->theta[y] : 1.0 - f->theta[y];
    }
    return k->py[y] > 0.0 ? k->qxy[y * f->n_x + x] / k->py[y] : 0.0;
}

/* Adds the components cor and bin, and the frequencies of x over all choices. @param px [n_x] sums
 * to which the frequencies are added. @return P(z). */
static double add_choices(const lab_focus *f, const uint64_t *count, double total, const by_key *k,
                          size_t z, double *px, double *value)
{
    const uint32_t n_x = f->n_x;
    double pz = 0.0;
    for (uint32_t m = 0; m < f->n_choices; m++) {
        pz += count_x(f, count + (z * f->n_choices + m) * n_x) / total;
    }
    for (uint32_t m = 0; m < f->n_choices; m++) {
        const size_t i = z * f->n_choices + m;
        const size_t y = f->key[i];
        const double pzy = count_x(f, count + i * n_x) / total;
        value[LAB_BIN] += fabs(pzy - pz * f->chance[i]);
        for (uint32_t x = 0; x < n_x && pzy > 0.0; x++) {
            const double pxz = (double)count[i * n_x + x] / total;
            px[x] += pxz;
            /* P(y) P(x|y) P(z|y) = P(x, y) P(z, y) / P(y) */
            value[LAB_COR] += fabs(pxz - k->pxy[y * n_x + x] * (pzy / k->py[y]));
        }
    }
    return pz;
}

void lab_focus_components(const lab_focus *f, const uint64_t *count, double *scratch, double *value)
{
    const uint32_t n_x = f->n_x;
    const double total = count_all(f, count);
    by_key k = {
        .py = scratch, .pxy = scratch + f->n_keys, .qxy = scratch + f->n_keys * ((size_t)n_x + 1)};
    double *px = scratch + f->n_keys * (2 * (size_t)n_x + 1); /* [n_x] P(x, z) of the current z */
    sum_by_key(f, count, total, &k);
    for (int c = 0; c < LAB_N_COMPONENTS; c++) {
        value[c] = 0.0;
    }
    for (size_t i = 0; i < f->n_keys * n_x; i++) {
        value[LAB_HERDING] += fabs(k.pxy[i] - k.qxy[i]);
    }
    for (size_t z = 0; z < f->n_z; z++) {
        for (uint32_t x = 0; x < n_x; x++) {
            px[x] = 0.0;
        }
        const double pz = add_choices(f, count, total, &k, z, px, value);
        value[LAB_Z] += fabs(pz - f->pz[z]);
        for (uint32_t x = 0; x < n_x; x++) {
            double q = 0.0;
            for (uint32_t m = 0; m < f->n_choices; m++) {
                const size_t i = z * f->n_choices + m;
                q += f->chance[i] * herded(f, &k, f->key[i], x);
            }
            value[LAB_ALL] += fabs(px[x] - f->joint[z * n_x + x]);
            value[LAB_APPROX] += pz > 0.0 ? pz * fabs(q - given(f, z, x)) : 0.0;
        }
    }
}

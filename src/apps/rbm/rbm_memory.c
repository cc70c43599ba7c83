/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of learning a restricted Boltzmann machine, its first weights, and the model. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "rbm/rbm.h"
#include "simd/math.h"

#define SPREAD 0.01 /* standard deviation of the first couplings, as Hinton (2010) advises */
#define ROOT_3 0x1.bb67ae8584caap0
#define FIRST \
    UINT32_MAX /* stream of the random first weights, used in place of the number of a chain */

double gbsi_rbm_bytes(const gbsi_rbm *rbm, size_t n_held_out)
{
    const gbsi_rbm *r = rbm;
    const double batch = (double)r->options.batch;
    const double members = gbsi_pool_size(r->work->pool);
    const double judged = (double)(r->rows->n > n_held_out ? r->rows->n : n_held_out);
    const double units = (double)(r->n + r->m);
    const double kept = r->options.checkpoints != NULL
                            ? 2.0
                            : 1.0; /* factor for the arrays of chains and their copy */
    const double doubles =
        (double)(r->n * r->wide_m + r->m * r->wide_n + r->wide_n + r->wide_m) +
        2.0 * batch * (double)r->wide_m + judged + members * (double)r->wide +
        2.0 * (double)r->options.epochs +
        (double)(gbsi_rbm_n_best(r) + gbsi_rbm_n_slope(r) + gbsi_rbm_n_owed(r)) +
        (r->options.draw == GBS_RBM_HERDED ? kept * batch * units * GBSI_RBM_BINS : 0.0);
    const double words =
        members * (double)(r->n_list + r->n_word) + (double)r->rows->n + batch * units;
    return 8.0 * doubles + 4.0 * words + kept * batch * units;
}

static gbs_status take_memory(gbsi_rbm *r, size_t n_held_out, gbs_error *err)
{
    const size_t members = gbsi_pool_size(r->work->pool);
    const size_t batch = (size_t)r->options.batch;
    const size_t judged = r->rows->n > n_held_out ? r->rows->n : n_held_out;
    const size_t herd =
        r->options.draw == GBS_RBM_HERDED ? batch * (r->n + r->m) * GBSI_RBM_BINS : 0;
    const bool keeps = r->options.checkpoints != NULL;
    struct {
        void **to;
        size_t n, size;
    } arrays[] = {{(void **)&r->w, r->n * r->wide_m, sizeof *r->w},
                  {(void **)&r->wt, r->m * r->wide_n, sizeof *r->wt},
                  {(void **)&r->a, r->wide_n, sizeof *r->a},
                  {(void **)&r->b, r->wide_m, sizeof *r->b},
                  {(void **)&r->order, r->rows->n, sizeof *r->order},
                  {(void **)&r->v, batch * r->n, 1},
                  {(void **)&r->h, batch * r->m, 1},
                  {(void **)&r->up, batch * r->wide_m, sizeof *r->up},
                  {(void **)&r->down, batch * r->wide_m, sizeof *r->down},
                  {(void **)&r->list, members * r->n_list, sizeof *r->list},
                  {(void **)&r->word, members * r->n_word, sizeof *r->word},
                  {(void **)&r->p, members * r->wide, sizeof *r->p},
                  {(void **)&r->log_pl, judged, sizeof *r->log_pl},
                  {(void **)&r->curve, 2 * (size_t)r->options.epochs, sizeof *r->curve},
                  {(void **)&r->owed, gbsi_rbm_n_owed(r), sizeof *r->owed},
                  {(void **)&r->best, gbsi_rbm_n_best(r), sizeof *r->best},
                  {(void **)&r->kept_v, keeps ? batch * r->n : 1, 1},
                  {(void **)&r->kept_h, keeps ? batch * r->m : 1, 1},
                  {(void **)&r->kept_herd, keeps ? herd : 0, sizeof *r->herd},
                  {(void **)&r->herd, herd, sizeof *r->herd}};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0] - (herd == 0); ++k) {
        *arrays[k].to = gbsi_alloc_array_zero(arrays[k].n, arrays[k].size);
        if (*arrays[k].to == NULL) {
            return gbsi_no_memory(err, "a restricted Boltzmann machine",
                                  arrays[k].n * arrays[k].size);
        }
    }
    return GBS_OK;
}

void gbsi_rbm_turn(gbsi_rbm *rbm)
{
    for (size_t i = 0; i < rbm->n; ++i) {
        for (size_t j = 0; j < rbm->m; ++j) {
            rbm->wt[j * rbm->wide_n + i] = rbm->w[i * rbm->wide_m + j];
        }
    }
}

/* Sets the fields a_i = ln(p_i / (1 - p_i)) of independent units. p_i is the frequency of state 1
 * among the rows and two more rows, one with each state. */
static void set_fields(gbsi_rbm *r)
{
    const double n_rows = (double)r->rows->n;
    for (size_t k = 0; k < r->rows->n && !gbsi_rbm_stops(r, 0, r->n / 4); ++k) {
        const uint8_t *v = gbsi_row(r->rows, k);
        for (size_t i = 0; i < r->n; ++i) {
            r->a[i] += v[i];
        }
    }
    for (size_t i = 0; i < r->n; ++i) {
        r->a[i] = gbsi_log((r->a[i] + 1.0) / (n_rows - r->a[i] + 1.0));
    }
}

/* Draws the couplings from a uniform distribution with standard deviation SPREAD. */
static void set_couplings(gbsi_rbm *r)
{
    for (size_t i = 0; i < r->n && !gbsi_rbm_stops(r, 0, 16 * r->m); ++i) {
        for (size_t j = 0; j < r->m; ++j) {
            uint32_t word[4];
            gbsi_philox(r->options.seed, FIRST, i, (uint32_t)j, GBSI_PURPOSE_MACHINE, word);
            const double u = gbsi_uniform(word[0], word[1]);
            r->w[i * r->wide_m + j] = SPREAD * ROOT_3 * (2.0 * u - 1.0);
            r->wt[j * r->wide_n + i] = r->w[i * r->wide_m + j];
        }
    }
}

/* Starts the chains at rows, and the weights of herded draws at random values. */
static void set_chains(gbsi_rbm *r)
{
    const size_t units = r->n + r->m;
    for (size_t c = 0; c < r->options.batch && !gbsi_rbm_stops(r, 0, 16 * units); ++c) {
        memcpy(r->v + c * r->n, gbsi_row(r->rows, c % r->rows->n), r->n);
        for (size_t u = 0; r->herd != NULL && u < units * GBSI_RBM_BINS; ++u) {
            uint32_t word[4];
            gbsi_philox(r->options.seed, (uint32_t)c, 0, (uint32_t)u, GBSI_PURPOSE_HERD, word);
            r->herd[c * units * GBSI_RBM_BINS + u] = gbsi_uniform(word[0], word[1]);
        }
    }
}

gbs_status gbsi_rbm_begin(gbsi_rbm *rbm, size_t n_held_out, gbs_error *err)
{
    GBSI_PASS(take_memory(rbm, n_held_out, err));
    set_fields(rbm);
    set_couplings(rbm);
    set_chains(rbm);
    return gbsi_watch_stopped(&rbm->work->watch) ? gbsi_watch_fail(err, "learning") : GBS_OK;
}

void gbsi_rbm_free(gbsi_rbm *rbm)
{
    gbsi_keep_end(&rbm->keep);
    void *const arrays[] = {rbm->kept_v, rbm->kept_h, rbm->kept_herd, rbm->w,    rbm->wt,
                            rbm->a,      rbm->b,      rbm->order,     rbm->v,    rbm->h,
                            rbm->up,     rbm->down,   rbm->list,      rbm->p,    rbm->log_pl,
                            rbm->herd,   rbm->word,   rbm->curve,     rbm->best, rbm->owed};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; ++k) {
        gbsi_free(arrays[k]);
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

static gbs_status name_units(const gbsi_rbm *r, gbs_builder *builder, gbs_error *err)
{
    for (size_t u = 0; u < r->n + r->m; ++u) {
        char name[24];
        const char *given = gbs_rows_site_name(r->rows, (uint32_t)u);
        (void)snprintf(name, sizeof name, "%c%zu", u < r->n ? 'v' : 'h',
                       u < r->n ? u + 1 : u - r->n + 1);
        GBSI_PASS(gbs_builder_name_variable(builder, (uint32_t)u,
                                            u < r->n && given != NULL ? given : name, err));
    }
    return GBS_OK;
}

/* With v = (1 + s) / 2 and h = (1 + t) / 2, except for a constant:
 *     a.v + b.h + v.W.h = sum over i of s_i (a_i / 2 + sum over j of W_ij / 4)
 *                       + sum over j of t_j (b_j / 2 + sum over i of W_ij / 4)
 *                       + sum over i, j of s_i t_j W_ij / 4 */
static gbs_status add_factors(const gbsi_rbm *r, gbs_builder *builder, gbs_error *err)
{
    for (size_t i = 0; i < r->n; ++i) {
        double field = 0.5 * r->a[i];
        for (size_t j = 0; j < r->m; ++j) {
            field += 0.25 * r->w[i * r->wide_m + j];
        }
        GBSI_PASS(gbs_builder_add_field(builder, (uint32_t)i, field, err));
    }
    for (size_t j = 0; j < r->m; ++j) {
        double field = 0.5 * r->b[j];
        for (size_t i = 0; i < r->n; ++i) {
            field += 0.25 * r->wt[j * r->wide_n + i];
        }
        GBSI_PASS(gbs_builder_add_field(builder, (uint32_t)(r->n + j), field, err));
    }
    for (size_t i = 0; i < r->n; ++i) {
        for (size_t j = 0; j < r->m; ++j) {
            GBSI_PASS(gbs_builder_add_ising(builder, (uint32_t)i, (uint32_t)(r->n + j),
                                            0.25 * r->w[i * r->wide_m + j], err));
        }
    }
    return GBS_OK;
}

gbs_status gbsi_rbm_model(const gbsi_rbm *rbm, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t two = 2;
    gbs_builder *builder = NULL;
    GBSI_TRY(gbs_builder_new(&builder, err));
    for (size_t u = 0; u < rbm->n + rbm->m; ++u) {
        GBSI_TRY(gbs_builder_add_variables(builder, 1, &two, NULL, err));
    }
    GBSI_TRY(name_units(rbm, builder, err));
    GBSI_TRY(add_factors(rbm, builder, err));
    GBSI_TRY(gbs_builder_build(builder, model, err));

cleanup:
    gbs_builder_free(builder);
    return status;
}

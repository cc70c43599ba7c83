/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/families.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

/* number of rows of a block; the rows of a block stay in the cache while all tables are counted */
#define BLOCK ((size_t)2048)

void gbsi_families_free(gbsi_families *families)
{
    GBSI_FREE(families->start, families->own);
}

const uint32_t *gbsi_family_scope(const gbsi_families *families, uint32_t child, uint32_t *n)
{
    const gbsi_factors *f = &families->network->factors;
    const size_t factor = families->network->cpt[child];
    *n = (uint32_t)(f->scope_start[factor + 1] - f->scope_start[factor]);
    return f->scope + f->scope_start[factor];
}

/* ---- the network's own tables ---------------------------------------------------------------- */

static void normalize(double *column, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t a = 0; a < n; ++a) {
        sum += column[a];
    }
    for (uint32_t a = 0; a < n; ++a) {
        column[a] = sum > 0.0 ? column[a] / sum : 1.0 / n;
    }
}

static void take_own(gbsi_families *s, uint32_t child)
{
    const gbs_model *m = s->network;
    const double *logw = m->factors.table + m->factors.table_start[m->factors.aux[m->cpt[child]]];
    for (size_t i = s->start[child]; i < s->start[child + (size_t)1]; i += m->arity[child]) {
        for (uint32_t a = 0; a < m->arity[child]; ++a) {
            s->own[i + a] = gbsi_exp(logw[i - s->start[child] + a]);
        }
        normalize(s->own + i, m->arity[child]);
    }
}

gbs_status gbsi_families_init(gbsi_families *families, const gbs_model *network, gbs_error *err)
{
    gbsi_families *s = families;
    const gbsi_factors *f = &network->factors;
    const size_t n = network->n_variables;
    if (!network->directed) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found a model that is no Bayesian network, expected one: only these have "
                         "conditional tables to fit");
    }
    s->network = network;
    s->start = gbsi_alloc_array_zero(n + 1, sizeof *s->start);
    GBSI_PASS(GBSI_HAVE(err, "fit", s->start));
    for (size_t v = 0; v < n; ++v) {
        const size_t factor = network->cpt[v];
        if (f->kind[factor] != GBS_FACTOR_TABLE) {
            return gbsi_fail(
                err, GBS_ERR_ARGUMENT,
                "factor %zu: found a noisy factor, expected a conditional table: 'gibbsite "
                "convert NETWORK -o tables.bif' writes tables in the place of noisy factors",
                factor);
        }
        s->start[v + 1] = s->start[v] + f->table_start[f->aux[factor] + (size_t)1] -
                          f->table_start[f->aux[factor]];
    }
    s->own = gbsi_alloc_array(s->start[n], sizeof *s->own);
    GBSI_PASS(GBSI_HAVE(err, "fit", s->own));
    for (uint32_t v = 0; v < network->n_variables; ++v) {
        take_own(s, v);
    }
    return GBS_OK;
}

/* ---- counting -------------------------------------------------------------------------------- */

void gbsi_families_columns(const gbsi_families *families, const gbs_data *data, uint32_t *column)
{
    memset(column, 0xff, families->network->n_variables * sizeof *column);
    for (uint32_t k = 0; k < data->n_columns; ++k) {
        column[data->column[k]] = k;
    }
}

/* @return the entry of a child's table that a row selects. */
static size_t entry_of(const gbsi_families *s, const uint32_t *column, uint32_t child,
                       const uint16_t *row)
{
    uint32_t n = 0;
    const uint32_t *scope = gbsi_family_scope(s, child, &n);
    size_t at = 0;
    for (uint32_t k = 0; k < n; ++k) {
        const uint32_t v = scope[k];
        const uint32_t r = s->network->arity[v];
        at = at * r + (r < 2 ? 0 : row[column[v]]); /* a variable of one state does not affect the
                                                       entry, even if its value is missing */
    }
    return s->start[child] + at;
}

typedef struct counting {
    const gbsi_families *families;
    const gbs_data *data;
    const uint32_t *column;
    const uint8_t *direct, *complete;
    gbsi_pool *pool;
    gbsi_watch *watch;
    double *count;
} counting;

/* Counts all rows for the families of one thread. Only this thread adds to the counts of these
 * families, in the order of the rows. */
static void count_share(void *context, uint32_t member)
{
    const counting *c = context;
    const gbs_data *d = c->data;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(c->families->network->n_variables, 1, member, gbsi_pool_size(c->pool), &first,
                    &end);
    for (size_t block = 0; block < d->n_distinct; block += BLOCK) {
        const size_t stop = d->n_distinct - block < BLOCK ? d->n_distinct : block + BLOCK;
        for (uint32_t v = (uint32_t)first; v < end; ++v) {
            if (c->families->network->arity[v] < 2) {
                continue;
            }
            if (gbsi_watch_stopped(c->watch) ||
                (member == 0 && gbsi_watch_spend(c->watch, 4 * BLOCK))) {
                return;
            }
            for (size_t i = block; i < stop; ++i) {
                if (c->direct[v] || c->complete[i]) {
                    c->count[entry_of(c->families, c->column, v, d->state + i * d->n_columns)] +=
                        d->weight[i];
                }
            }
        }
    }
}

void gbsi_families_count(const gbsi_families *families, const gbs_data *data,
                         const uint32_t *column, const uint8_t *direct, const uint8_t *complete,
                         gbsi_pool *pool, gbsi_watch *watch, double *count)
{
    counting c = {.families = families,
                  .data = data,
                  .column = column,
                  .direct = direct,
                  .complete = complete,
                  .pool = pool,
                  .watch = watch,
                  .count = count};
    gbsi_pool_run(pool, count_share, &c);
}

double gbsi_families_log_p(const gbsi_families *families, const uint32_t *column,
                           const double *log_theta, const uint16_t *row)
{
    double log_p = 0.0;
    for (uint32_t v = 0; v < families->network->n_variables; ++v) {
        log_p += log_theta[entry_of(families, column, v, row)];
    }
    return log_p;
}

/* ---- estimating ------------------------------------------------------------------------------ */

double gbsi_family_prior(const gbsi_families *families, uint32_t child,
                         const gbs_fit_options *options)
{
    const size_t n = families->start[child + (size_t)1] - families->start[child];
    return options->prior == GBS_PRIOR_BDEU        ? options->weight / (double)n
           : options->prior == GBS_PRIOR_DIRICHLET ? options->weight
                                                   : 0.0;
}

double gbsi_families_estimate(const gbsi_families *families, const gbs_fit_options *options,
                              const double *count, double *theta)
{
    const gbs_model *m = families->network;
    double change = 0.0;
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        const uint32_t r = m->arity[v];
        const double alpha = gbsi_family_prior(families, v, options);
        for (size_t i = families->start[v]; i < families->start[v + (size_t)1]; i += r) {
            double sum = 0.0;
            for (uint32_t a = 0; a < r; ++a) {
                sum += count[i + a] + alpha;
            }
            for (uint32_t a = 0; a < r; ++a) {
                const double next = sum > 0.0 ? (count[i + a] + alpha) / sum : families->own[i + a];
                change = fabs(next - theta[i + a]) > change ? fabs(next - theta[i + a]) : change;
                theta[i + a] = next;
            }
        }
    }
    return change;
}

/* ---- the network with new tables ------------------------------------------------------------- */

static gbs_status add_names(const gbs_model *m, gbs_builder *builder, uint32_t v,
                            const char **label, gbs_error *err)
{
    const char *name = gbs_model_variable_name(m, v);
    bool labelled = true;
    if (name != NULL) {
        GBSI_PASS(gbs_builder_name_variable(builder, v, name, err));
    }
    for (uint32_t a = 0; a < m->arity[v]; ++a) {
        label[a] = gbs_model_state_label(m, v, a);
        labelled = labelled && label[a] != NULL;
    }
    if (labelled) {
        GBSI_PASS(gbs_builder_label_states(builder, v, label, err));
    }
    return GBS_OK;
}

static gbs_status add_tables(const gbsi_families *s, gbs_builder *builder, const double *theta,
                             double *logw, gbs_error *err)
{
    const gbsi_factors *f = &s->network->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        uint32_t n = 0;
        uint32_t table = 0;
        const uint32_t child = f->scope[f->scope_start[i + 1] - 1];
        const uint32_t *scope = gbsi_family_scope(s, child, &n);
        const size_t n_entries = s->start[child + (size_t)1] - s->start[child];
        memcpy(logw, theta + s->start[child], n_entries * sizeof *logw);
        gbsi_log_many(logw, n_entries);
        GBSI_PASS(gbs_builder_add_table(builder, n_entries, logw, &table, err));
        GBSI_PASS(gbs_builder_add_table_factor(builder, n, scope, table, err));
    }
    return GBS_OK;
}

gbs_status gbsi_families_model(const gbsi_families *families, const double *theta, gbs_model **out,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_model *m = families->network;
    gbs_builder *builder = NULL;
    double *logw = gbsi_alloc_array(gbsi_families_entries(families), sizeof *logw);
    const char **label = gbsi_alloc_array(GBS_MAX_ARITY, sizeof(const char *));
    GBSI_TRY(GBSI_HAVE(err, "fit", logw, label));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_add_variables(builder, m->n_variables, m->arity, NULL, err));
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        GBSI_TRY(add_names(m, builder, v, label, err));
    }
    GBSI_TRY(add_tables(families, builder, theta, logw, err));
    gbs_builder_set_directed(builder);
    GBSI_TRY(gbs_builder_build(builder, out, err));

cleanup:
    gbs_builder_free(builder);
    GBSI_FREE(logw, label);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar.h"

#include <math.h>
#include <stdlib.h>

#include "timing.h"

typedef enum term_kind { COUPLING, POTTS, TABLE, LOGICAL } term_kind;

/* A factor, as seen from one of its variables. */
typedef struct term {
    uint8_t kind;      /* a term_kind */
    uint8_t own_head;  /* LOGICAL: the variable is the head */
    uint8_t head_link; /* LOGICAL: the last link is the head */
    uint32_t n;        /* number of links; COUPLING, POTTS: the neighbour */
    uint32_t own;      /* TABLE: stride of the variable's state; LOGICAL: the state that is true */
    uint32_t first;    /* index of the first link */
    union {
        float weight;  /* COUPLING, POTTS */
        uint32_t base; /* TABLE: pool[base + own x + sum of strides]; LOGICAL: pool[base + 2 n + h],
                          n true literals in the body, head h */
    } at;
} term;

typedef struct link {
    uint32_t variable;
    uint32_t aux; /* TABLE: stride; LOGICAL: the state that is true */
} link;

struct bench_scalar {
    const gbsi_conditioned *model;
    uint32_t n;
    uint16_t *x;
    uint64_t stream;
    float *field;       /* [state_offset[n]] log-weight of each state */
    size_t *term_start; /* [n + 1] index of each variable's first term */
    term *term;
    link *link;
    size_t n_links;
    float *pool;
    size_t n_pool;
    float *weight; /* [max_arity] */
    uint32_t *count;
};

/* ---- packing --------------------------------------------------------------------------------- */

static uint32_t size_of(const gbsi_factors *factors, size_t f)
{
    return (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
}

static bool known(const gbsi_factors *factors)
{
    for (size_t f = 0; f < factors->n_factors; ++f) {
        if (factors->kind[f] == GBS_FACTOR_SPIN && size_of(factors, f) > 1) {
            return false;
        }
    }
    return true;
}

/* Where the tables of logical factors begin. Each logical factor has a table of its own, after the
 * tables of the model. */
static size_t logical_entries(const gbsi_factors *factors, size_t f)
{
    return factors->kind[f] == GBS_FACTOR_LOGICAL ? 2 * ((size_t)size_of(factors, f) + 1) : 0;
}

static void fill_pool(bench_scalar *s, size_t *base_of)
{
    const gbsi_factors *factors = &s->model->factors;
    const size_t n_tables = factors->n_tables == 0 ? 0 : factors->table_start[factors->n_tables];
    s->n_pool = n_tables;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        base_of[f] = s->n_pool;
        s->n_pool += logical_entries(factors, f);
        if (factors->kind[f] == GBS_FACTOR_TABLE) {
            base_of[f] = factors->table_start[factors->aux[f]];
        }
    }
    s->pool = bench_alloc(s->n_pool, sizeof *s->pool);
    for (size_t i = 0; i < n_tables; ++i) {
        s->pool[i] = (float)factors->table[i];
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        for (size_t i = 0; i < logical_entries(factors, f); ++i) {
            const gbsi_logical *logical = &factors->logical[factors->aux[f]];
            const bool head =
                logical->head == GBSI_HEAD_FREE ? i % 2 == 1 : logical->head == GBSI_HEAD_TRUE;
            s->pool[base_of[f] + i] = (float)gbsi_logical_value(
                logical, factors->weight[f], logical->n_body_true + (uint32_t)(i / 2), head);
        }
    }
}

static void add_field(bench_scalar *s, size_t f)
{
    const gbsi_factors *factors = &s->model->factors;
    const uint32_t v = factors->scope[factors->scope_start[f]];
    for (uint32_t a = 0; a < s->model->arity[v]; ++a) {
        s->field[s->model->state_offset[v] + a] +=
            (float)gbsi_factor_value_at(factors, s->model->arity, f, &a);
    }
}

/* Describes factor f as the variable at `position` sees it. In spins J s s' is 4 J x x' and
 * fields [M3]. */
static term see(bench_scalar *s, size_t f, uint32_t position, uint32_t base)
{
    const gbsi_factors *factors = &s->model->factors;
    const size_t start = factors->scope_start[f];
    const uint32_t n = size_of(factors, f);
    term t = {.n = n - 1, .first = (uint32_t)s->n_links, .at.base = base};
    uint32_t stride = 1;
    switch ((gbs_factor_kind)factors->kind[f]) {
    case GBS_FACTOR_ISING:
        t.kind = COUPLING;
        t.n = factors->scope[start + 1 - position];
        t.at.weight = (float)(4.0 * factors->weight[f]);
        s->field[s->model->state_offset[factors->scope[start + position]] + 1] -=
            0.5F * t.at.weight;
        return t;
    case GBS_FACTOR_POTTS:
        t.kind = POTTS;
        t.n = factors->scope[start + 1 - position];
        t.at.weight = (float)factors->weight[f];
        return t;
    case GBS_FACTOR_LOGICAL:
        t.kind = LOGICAL;
        t.own = factors->literal[start + position];
        if (factors->logical[factors->aux[f]].head == GBSI_HEAD_FREE) {
            t.own_head = position == n - 1;
            t.head_link = position != n - 1;
        }
        break;
    default:
        t.kind = TABLE;
        break;
    }
    for (uint32_t q = n; q-- > 0;) { /* the last variable runs fastest */
        if (q == position && t.kind == TABLE) {
            t.own = stride;
        }
        stride *= s->model->arity[factors->scope[start + q]];
    }
    for (uint32_t q = 0; q < n; ++q) {
        uint32_t aux = t.kind == LOGICAL ? factors->literal[start + q] : 1;
        for (uint32_t r = q + 1; r < n && t.kind == TABLE; ++r) {
            aux *= s->model->arity[factors->scope[start + r]];
        }
        if (q != position) {
            s->link[s->n_links++] = (link){factors->scope[start + q], aux};
        }
    }
    return t;
}

static void fill_terms(bench_scalar *s, const size_t *base_of)
{
    const gbsi_factors *factors = &s->model->factors;
    size_t n_links = 0;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const uint32_t n = size_of(factors, f);
        const bool linked =
            factors->kind[f] != GBS_FACTOR_ISING && factors->kind[f] != GBS_FACTOR_POTTS;
        for (size_t e = factors->scope_start[f]; n > 1 && e < factors->scope_start[f + 1]; ++e) {
            ++s->term_start[factors->scope[e] + 1];
            n_links += linked ? n - 1 : 0;
        }
    }
    for (uint32_t v = 0; v < s->n; ++v) {
        s->term_start[v + 1] += s->term_start[v];
    }
    size_t *end = bench_alloc(s->n, sizeof *end);
    for (uint32_t v = 0; v < s->n; ++v) {
        end[v] = s->term_start[v];
    }
    s->term = bench_alloc(s->term_start[s->n], sizeof *s->term);
    s->link = bench_alloc(n_links, sizeof *s->link);
    bench_check(n_links < UINT32_MAX && s->n_pool < UINT32_MAX, "too large for the scalar loop");
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t start = factors->scope_start[f];
        if (size_of(factors, f) == 1) {
            add_field(s, f);
            continue;
        }
        for (uint32_t q = 0; q < size_of(factors, f); ++q) {
            s->term[end[factors->scope[start + q]]++] = see(s, f, q, (uint32_t)base_of[f]);
        }
    }
    free(end);
}

bench_scalar *bench_scalar_new(const gbsi_conditioned *model)
{
    if (!known(&model->factors)) {
        return NULL;
    }
    bench_scalar *s = bench_alloc(1, sizeof *s);
    size_t *base_of = bench_alloc(model->factors.n_factors, sizeof *base_of);
    uint32_t most = 2;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        most = model->arity[v] > most ? model->arity[v] : most;
    }
    s->model = model;
    s->n = model->n_variables;
    s->stream = 88172645463325252U;
    s->x = bench_alloc(s->n, sizeof *s->x);
    s->field = bench_alloc(model->state_offset[s->n], sizeof *s->field);
    s->count = bench_alloc(model->state_offset[s->n], sizeof *s->count);
    s->weight = bench_alloc(most, sizeof *s->weight);
    s->term_start = bench_alloc((size_t)s->n + 1, sizeof *s->term_start);
    fill_pool(s, base_of);
    fill_terms(s, base_of);
    free(base_of);
    return s;
}

void bench_scalar_free(bench_scalar *s)
{
    if (s == NULL) {
        return;
    }
    free(s->x);
    free(s->field);
    free(s->count);
    free(s->weight);
    free(s->term_start);
    free(s->term);
    free(s->link);
    free(s->pool);
    free(s);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void add_term(const bench_scalar *s, const term *t, uint32_t k, float *weight)
{
    const link *links = s->link + t->first;
    switch ((term_kind)t->kind) {
    case COUPLING:
        weight[1] += t->at.weight * (float)s->x[t->n];
        return;
    case POTTS:
        weight[s->x[t->n]] += t->at.weight;
        return;
    case TABLE: {
        const float *entry = s->pool + t->at.base;
        for (uint32_t i = 0; i < t->n; ++i) {
            entry += (size_t)links[i].aux * s->x[links[i].variable];
        }
        for (uint32_t a = 0; a < k; ++a) {
            weight[a] += entry[(size_t)a * t->own];
        }
        return;
    }
    case LOGICAL: {
        uint32_t n_true = 0;
        for (uint32_t i = 0; i + t->head_link < t->n; ++i) {
            n_true += s->x[links[i].variable] == links[i].aux;
        }
        const link *last = &links[t->n - 1];
        const uint32_t head = t->head_link && s->x[last->variable] == last->aux;
        for (uint32_t a = 0; a < k; ++a) {
            const uint32_t own = a == t->own;
            weight[a] +=
                s->pool[t->at.base + (t->own_head ? 2 * n_true + own : 2 * (n_true + own) + head)];
        }
        return;
    }
    }
}

/* Computes the log-weights of the states of one variable. */
static void log_weights(bench_scalar *s, uint32_t v)
{
    const uint32_t k = s->model->arity[v];
    const float *field = s->field + s->model->state_offset[v];
    for (uint32_t a = 0; a < k; ++a) {
        s->weight[a] = field[a];
    }
    for (size_t i = s->term_start[v]; i < s->term_start[v + 1]; ++i) {
        add_term(s, &s->term[i], k, s->weight);
    }
}

/* Makes s->weight cumulative. @return the total. */
static float accumulate(bench_scalar *s, uint32_t k)
{
    float top = s->weight[0];
    float total = 0.0F;
    for (uint32_t a = 1; a < k; ++a) {
        top = s->weight[a] > top ? s->weight[a] : top;
    }
    for (uint32_t a = 0; a < k; ++a) {
        total += expf(s->weight[a] - top);
        s->weight[a] = total;
    }
    return total;
}

static float next_uniform(uint64_t *stream)
{
    *stream ^= *stream << 13;
    *stream ^= *stream >> 7;
    *stream ^= *stream << 17;
    return (float)(*stream >> 40) * 0x1p-24F;
}

void bench_scalar_pass(bench_scalar *s)
{
    for (uint32_t v = 0; v < s->n; ++v) {
        const uint32_t k = s->model->arity[v];
        uint32_t value = 0;
        log_weights(s, v);
        const float u = next_uniform(&s->stream);
        if (k == 2) {
            value = u * (1.0F + expf(s->weight[0] - s->weight[1])) < 1.0F;
        } else {
            const float total = accumulate(s, k);
            while (value + 1 < k && s->weight[value] <= u * total) {
                ++value;
            }
        }
        s->x[v] = (uint16_t)value;
        ++s->count[s->model->state_offset[v] + value];
    }
}

void bench_scalar_set(bench_scalar *s, uint32_t variable, uint32_t state)
{
    s->x[variable] = (uint16_t)state;
}

const float *bench_scalar_conditional(bench_scalar *s, uint32_t variable)
{
    const uint32_t k = s->model->arity[variable];
    log_weights(s, variable);
    const float total = accumulate(s, k);
    for (uint32_t a = k; a-- > 0;) {
        s->weight[a] = (s->weight[a] - (a == 0 ? 0.0F : s->weight[a - 1])) / total;
    }
    return s->weight;
}

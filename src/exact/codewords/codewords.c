/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which components get codewords, and prepares their visits. */
#include "codewords/codewords.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "satisfy/parity.h"
#include "sparse/sparse.h"

enum { MOST_TABLE = 8 }; /* variables of a factor whose values are stored */

/* Words of 64 bits that an elimination may read, a fraction of a nanosecond each. */
#define ELIMINATION ((uint64_t)1 << 27)

/* Predicted nanoseconds of one thread. */
#define STEP_NS    8.0  /* a step */
#define FLIP_NS    1.0  /* a variable that a step flips */
#define READ_NS    2.5  /* a factor that a step reads in a table */
#define COMPUTE_NS 12.0 /* a factor that a step computes, and for each of its variables READ_NS */
#define SUM_NS     30.0 /* the exponential and the sums of a step */
#define SETTLE_NS  4.0  /* a variable whose sums a step adds to */

typedef struct making {
    const gbsi_components *of;
    const gbsi_conditioned *whole;
    gbsi_hard_part part; /* owns `factor` and `number` */
    gbsi_parity *parity;
    uint64_t *basis; /* [n_free][words] */
    gbsi_codewords *c;
    const gbsi_codewords_limits *limits;
} making;

static uint32_t scope_size(const gbsi_factors *f, size_t factor)
{
    return (uint32_t)(f->scope_start[factor + 1] - f->scope_start[factor]);
}

static const uint64_t *word_at(const making *m, uint32_t word)
{
    return m->basis + (size_t)word * m->parity->words;
}

/* ---- the parities of a component ------------------------------------------------------------- */

static bool is_boolean(const gbsi_components *of, uint32_t component)
{
    size_t i = of->variable_start[component];
    while (i < of->variable_start[component + (size_t)1] &&
           of->model->arity[of->variable[i]] == 2) {
        ++i;
    }
    return i == of->variable_start[component + (size_t)1];
}

static gbs_status solve_parities(making *m, uint32_t component, gbs_error *err)
{
    const size_t start = m->of->factor_start[component];
    const size_t end = m->of->factor_start[component + (size_t)1];
    size_t *factor = gbsi_alloc_array(end - start, sizeof *factor);
    uint32_t *number = gbsi_alloc_array(m->whole->n_variables, sizeof *number);
    const size_t first = m->of->variable_start[component];
    m->part = (gbsi_hard_part){.factors = &m->whole->factors,
                               .arity = m->whole->arity,
                               .factor = factor,
                               .variable = m->of->variable + first,
                               .n_variables =
                                   (uint32_t)(m->of->variable_start[component + (size_t)1] - first),
                               .number = number};
    GBSI_PASS(GBSI_HAVE(err, "codewords", factor, number));
    for (size_t i = start; i < end; ++i) {
        if (m->whole->has_zeros[m->of->factor[i]]) {
            factor[m->part.n_factors++] = m->of->factor[i];
        }
    }
    return gbsi_parity_new(&m->part, m->limits->watch, ELIMINATION, &m->parity, err);
}

static void making_free(making *m)
{
    gbsi_codewords_free(m->c);
    gbsi_parity_free(m->parity);
    GBSI_FREE((void *)m->part.factor, m->part.number, m->basis);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Finds a basis and a first solution. */
static gbs_status take_words(making *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_parity *p = m->parity;
    gbsi_codewords *c = m->c;
    uint64_t *bits = gbsi_alloc_array_zero(p->words, sizeof *bits);
    m->basis = gbsi_alloc_array((size_t)p->n_free * p->words, sizeof *m->basis);
    c->first = gbsi_alloc_array(p->n_columns, 1);
    GBSI_TRY(GBSI_HAVE(err, "codewords", bits, m->basis, c->first));
    gbsi_parity_solve(p, true, bits);
    for (uint32_t i = 0; i < p->n_columns; ++i) {
        c->first[i] = gbsi_bit(bits, i);
    }
    gbsi_parity_basis(p, m->limits->watch, m->basis);
    c->n_words = p->n_free;
    c->n_steps = (double)((uint64_t)1 << p->n_free);

cleanup:
    gbsi_free(bits);
    return status;
}

/* Lists the variables of each word, and sorts the variables of the component by their first word.
 */
static gbs_status list_variables(making *m, gbs_error *err)
{
    gbsi_codewords *c = m->c;
    const uint32_t n = m->part.n_variables;
    size_t n_flips = 0;
    size_t n_settled = 0;
    for (size_t i = 0; i < (size_t)c->n_words * m->parity->words; ++i) {
        n_flips += (size_t)__builtin_popcountll(m->basis[i]);
    }
    c->flip_start = gbsi_alloc_array_zero((size_t)c->n_words + 1, sizeof *c->flip_start);
    c->flip = gbsi_alloc_array(n_flips, sizeof *c->flip);
    c->settled_start = gbsi_alloc_array_zero((size_t)c->n_words + 2, sizeof *c->settled_start);
    c->settled = gbsi_alloc_array(n, sizeof *c->settled);
    GBSI_PASS(GBSI_HAVE(err, "codewords", c->flip_start, c->flip, c->settled_start, c->settled));
    for (uint32_t k = 0; k <= c->n_words; ++k) {
        size_t at = k < c->n_words ? c->flip_start[k] : 0;
        for (uint32_t i = 0; i < n; ++i) {
            bool flipped = false; /* by an earlier word */
            for (uint32_t e = 0; e < k && !flipped; ++e) {
                flipped = gbsi_bit(word_at(m, e), i);
            }
            const bool flips = k == c->n_words || gbsi_bit(word_at(m, k), i);
            if (flips && !flipped) {
                c->settled[n_settled++] = i;
            }
            if (flips && k < c->n_words) {
                c->flip[at++] = m->part.variable[i];
            }
        }
        if (k < c->n_words) {
            c->flip_start[k + (size_t)1] = at;
        }
        c->settled_start[k + (size_t)1] = n_settled;
        (void)gbsi_watch_spend(m->limits->watch, (uint64_t)n * (k + 1));
    }
    assert(n_settled == n);
    return GBS_OK;
}

/* ---- factors --------------------------------------------------------------------------------- */

/* Returns whether a word flips some variable of a factor. @param mask out: the flipped variables,
 * as bits of the number of the factor's entry; only for at most MOST_TABLE variables. */
static bool touches(const making *m, uint32_t word, size_t factor, uint32_t *mask)
{
    const gbsi_factors *f = &m->whole->factors;
    const bool small = scope_size(f, factor) <= MOST_TABLE;
    bool any = false;
    *mask = 0;
    for (size_t e = f->scope_start[factor]; e < f->scope_start[factor + 1]; ++e) {
        const bool set = gbsi_bit(word_at(m, word), m->part.number[f->scope[e]]);
        any |= set;
        *mask = small ? 2 * *mask + set : 0;
    }
    return any;
}

/* Writes the log-weights of a factor for all joint states of its variables. */
static void fill_table(const making *m, size_t factor, double *value)
{
    const uint32_t n = scope_size(&m->whole->factors, factor);
    uint32_t at[MOST_TABLE];
    for (uint32_t i = 0; i < (uint32_t)1 << n; ++i) {
        for (uint32_t k = 0; k < n; ++k) {
            at[k] = i >> (n - 1 - k) & 1;
        }
        value[i] = gbsi_factor_value_at(&m->whole->factors, m->whole->arity, factor, at);
    }
}

/* Lists the factors that have several values among the solutions, and adds up the others.
 * @param x [whole variables] the first solution. */
static size_t list_factors(making *m, const uint32_t *x)
{
    gbsi_codewords *c = m->c;
    const gbsi_factors *f = &m->whole->factors;
    size_t n_table = 0;
    c->constant = 0.0;
    for (size_t i = m->of->factor_start[c->component];
         i < m->of->factor_start[c->component + (size_t)1]; ++i) {
        const size_t factor = m->of->factor[i];
        const uint32_t n = scope_size(f, factor);
        uint32_t mask = 0;
        bool flat = false;
        uint32_t word = 0;
        (void)gbsi_is_parity(f, m->whole->arity, factor, &flat);
        while (word < c->n_words && !touches(m, word, factor, &mask)) {
            ++word;
        }
        if (flat || word == c->n_words) {
            c->constant += gbsi_factor_value(f, m->whole->arity, factor, x);
            continue;
        }
        c->read[c->n_read++] =
            (gbsi_read_factor){.factor = factor, .table = n <= MOST_TABLE ? n_table : SIZE_MAX};
        n_table += n <= MOST_TABLE ? (size_t)1 << n : 0;
        (void)gbsi_watch_spend(m->limits->watch, gbsi_factor_size(f, factor) + (uint64_t)word * n);
    }
    return n_table;
}

/* Lists the factors that each word touches. @return the number of pairs of a word and a factor.
 * @param touch NULL if only the number is wanted. */
static size_t list_touches(const making *m, gbsi_touch *touch)
{
    gbsi_codewords *c = m->c;
    size_t n = 0;
    for (uint32_t k = 0; k < c->n_words; ++k) {
        for (size_t i = 0; i < c->n_read; ++i) {
            uint32_t mask = 0;
            const bool touched = touches(m, k, c->read[i].factor, &mask);
            if (touched && touch != NULL) {
                touch[n] = (gbsi_touch){.read = (uint32_t)i, .mask = mask};
            }
            n += touched;
        }
        c->touch_start[k + (size_t)1] = n;
        (void)gbsi_watch_spend(m->limits->watch, 4 * c->n_read);
    }
    return n;
}

static gbs_status take_factors(making *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_codewords *c = m->c;
    const size_t n_factors =
        m->of->factor_start[c->component + (size_t)1] - m->of->factor_start[c->component];
    uint32_t *x = gbsi_alloc_array(m->whole->n_variables, sizeof *x);
    c->read = gbsi_alloc_array(n_factors, sizeof *c->read);
    c->touch_start = gbsi_alloc_array_zero((size_t)c->n_words + 1, sizeof *c->touch_start);
    GBSI_TRY(GBSI_HAVE(err, "codewords", x, c->read, c->touch_start));
    for (uint32_t i = 0; i < m->part.n_variables; ++i) {
        x[m->part.variable[i]] = c->first[i];
    }
    const size_t n_table = list_factors(m, x);
    c->table = gbsi_alloc_array(n_table, sizeof *c->table);
    c->touch = gbsi_alloc_array(list_touches(m, NULL), sizeof *c->touch);
    GBSI_TRY(GBSI_HAVE(err, "codewords", c->table, c->touch));
    (void)list_touches(m, c->touch);
    for (size_t i = 0; i < c->n_read; ++i) {
        if (c->read[i].table != SIZE_MAX) {
            fill_table(m, c->read[i].factor, c->table + c->read[i].table);
        }
    }
    c->bytes = n_table * sizeof *c->table;

cleanup:
    gbsi_free(x);
    return status;
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* Predicts the time and the memory of the answer. Word k is added in one of 2^(k + 1) steps, and
 * blocks of 2^k steps end in one of 2^k steps. */
static void predict(making *m)
{
    gbsi_codewords *c = m->c;
    double visit_ns = STEP_NS;
    double sum_ns = SUM_NS;
    double share = 1.0;
    for (uint32_t k = 0; k < c->n_words; ++k) {
        sum_ns +=
            share * SETTLE_NS * (double)(c->settled_start[k + (size_t)1] - c->settled_start[k]);
        share *= 0.5;
        visit_ns += share * FLIP_NS * (double)(c->flip_start[k + (size_t)1] - c->flip_start[k]);
        for (size_t i = c->touch_start[k]; i < c->touch_start[k + (size_t)1]; ++i) {
            const gbsi_read_factor *r = &c->read[c->touch[i].read];
            const double n = scope_size(&m->whole->factors, r->factor);
            visit_ns += share * (r->table != SIZE_MAX ? READ_NS : COMPUTE_NS + READ_NS * n);
        }
    }
    c->ns = c->n_steps * (m->limits->maximise ? visit_ns : 2.0 * visit_ns + sum_ns);
    c->bytes += c->touch_start[c->n_words] * sizeof *c->touch +
                c->flip_start[c->n_words] * sizeof *c->flip +
                c->n_read * (sizeof *c->read + sizeof(double) + sizeof(uint32_t)) +
                m->part.n_variables * (uint64_t)(4 * sizeof(double) + sizeof(uint32_t) + 1) +
                m->whole->n_variables * (uint64_t)sizeof(uint32_t);
}

/* Makes the codewords of one component. @param out NULL if it gets none. */
static gbs_status make(const gbsi_components *of, uint32_t component,
                       const gbsi_codewords_limits *limits, double most_ns, gbsi_codewords **out,
                       gbs_error *err)
{
    gbs_status status = GBS_OK;
    making m = {.of = of, .whole = of->model, .limits = limits};
    *out = NULL;
    GBSI_TRY(solve_parities(&m, component, err));
    if (m.parity == NULL ||
        (m.parity->contradicts == GBSI_NONE && m.parity->n_free > GBSI_CODEWORDS_BITS)) {
        goto cleanup;
    }
    m.c = gbsi_alloc_zero(sizeof *m.c);
    GBSI_TRY(GBSI_HAVE(err, "codewords", m.c));
    m.c->components = of;
    m.c->component = component;
    m.c->impossible = m.parity->contradicts != GBSI_NONE;
    if (!m.c->impossible) {
        GBSI_TRY(take_words(&m, err));
        GBSI_TRY(list_variables(&m, err));
        GBSI_TRY(take_factors(&m, err));
        predict(&m);
    }
    if (m.c->ns <= most_ns && m.c->bytes <= limits->bytes && !gbsi_watch_stopped(limits->watch)) {
        *out = m.c;
        m.c = NULL;
    }

cleanup:
    making_free(&m);
    return status;
}

/* Returns the nanoseconds that the codewords of a component may take; 0 if it needs none. */
static double most_ns_of(const gbsi_components *of, uint32_t component, const gbsi_exact_plan *plan,
                         double left_ns, bool dense, double dense_ns)
{
    const double entries = (double)plan->elimination->part[component].entries;
    if (of->has_zeros[component] == 0 || !is_boolean(of, component) ||
        (dense && entries < (double)GBSI_SPARSE_LEAST)) {
        return 0.0;
    }
    return dense ? entries * dense_ns : left_ns;
}

gbs_status gbsi_codewords_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                              const gbsi_codewords_limits *limits, const uint8_t *dense,
                              double dense_ns, gbsi_codewords **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_codewords_limits left = *limits;
    gbsi_codewords *first = NULL;
    gbsi_codewords **end = &first;
    for (uint32_t i = 0; i < components->n; ++i) {
        const double most_ns = most_ns_of(components, i, plan, left.ns, dense[i] != 0, dense_ns);
        if (most_ns <= 0.0) {
            continue;
        }
        status = make(components, i, &left, most_ns, end, err);
        if (status == GBS_ERR_LIMIT) {
            continue; /* not enough memory for the elimination */
        }
        GBSI_TRY(status);
        if (*end != NULL) {
            left.ns -= dense[i] != 0 ? 0.0 : (*end)->ns;
            left.bytes -= (*end)->bytes;
            end = &(*end)->next;
        }
    }
    status = GBS_OK;
    *out = first;
    first = NULL;

cleanup:
    gbsi_codewords_free(first);
    return status;
}

void gbsi_codewords_mark(const gbsi_codewords *codewords, uint8_t mark, uint8_t *to)
{
    for (; codewords != NULL; codewords = codewords->next) {
        to[codewords->component] = mark;
    }
}

void gbsi_codewords_free(gbsi_codewords *codewords)
{
    while (codewords != NULL) {
        gbsi_codewords *next = codewords->next;
        GBSI_FREE(codewords->first, codewords->flip_start, codewords->flip, codewords->touch_start,
                  codewords->touch, codewords->read, codewords->table, codewords->settled_start,
                  codewords->settled, codewords);
        codewords = next;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and removes barren variables (Shachter 1986; Lauritzen et al. 1990). The search keeps a
 * stack of variables that have one factor left. It removes such a variable if the sum of the factor
 * over the variable is constant. */
#include "condition/prune.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "condition/condition_inside.h"
#include "simd/math.h"

/* Largest number of configurations, and of variables, of a factor without a table whose sum is
 * computed by enumeration. */
enum { MOST_CONFIGURATIONS = 4096, MOST_SCOPE = 12 };

#define NO_FACTOR SIZE_MAX

typedef struct pruner {
    const gbsi_conditioned *whole;
    const uint8_t *asked;
    gbsi_watch *watch;
    uint32_t *degree; /* [variables] number of remaining factors of the variable */
    size_t *link; /* [variables] exclusive or of the numbers of the variable's remaining factors; if
                     one factor remains, the exclusive or is its number */
    size_t *
        level; /* [variables] first level of the noisy factor whose child is the variable; NO_FACTOR
                  if there is no such factor, or if a state of the variable is ruled out */
    uint32_t *stack;  /* [variables] stack of variables that must be examined */
    uint8_t *stacked; /* [variables] 1 if the variable is on the stack */
    uint32_t n_stacked;
    uint32_t *at; /* scratch: [longest scope of a factor] */
    gbsi_pruning *out;
    size_t n_taken; /* number of elements of out->factor in use */
} pruner;

/* ---- sums over a variable ------------------------------------------------------------------- */

/* Smallest and largest sum over the variable so far, both divided by exp(top). */
typedef struct sums {
    double least, most;
} sums;

static bool is_constant(const sums *s)
{
    return s->least > 0.0 && s->most / s->least - 1.0 <= GBSI_CONSTANT_SUM;
}

static void add_sum(sums *s, double sum)
{
    s->least = sum < s->least ? sum : s->least;
    s->most = sum > s->most ? sum : s->most;
}

bool gbsi_table_has_one_sum(const double *entry, size_t n, size_t k, size_t stride,
                            gbsi_watch *watch, double *log_sum)
{
    const double top = gbsi_largest_real(entry, n);
    sums s = {INFINITY, 0.0};
    if (top == -INFINITY) {
        return false;
    }
    for (size_t block = 0; block < n; block += k * stride) {
        for (size_t inner = 0; inner < stride; ++inner) {
            double sum = 0.0;
            for (size_t a = 0; a < k; ++a) {
                sum += gbsi_exp(entry[block + a * stride + inner] - top);
            }
            add_sum(&s, sum);
        }
        if (!is_constant(&s) || gbsi_watch_spend(watch, k * stride)) {
            return false;
        }
    }
    *log_sum = top + gbsi_log(0.5 * (s.least + s.most));
    return true;
}

/* Returns ln of the sum over the variable at position `at_v`; the other variables are in the
 * states `at`. */
static double log_sum_at(const pruner *p, size_t f, uint32_t *at, uint32_t at_v)
{
    const gbsi_factors *factors = &p->whole->factors;
    const uint32_t k = p->whole->arity[factors->scope[factors->scope_start[f] + at_v]];
    double top = -INFINITY;
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        at[at_v] = a;
        const double value = gbsi_factor_value_at(factors, p->whole->arity, f, at);
        if (value > top) {
            sum = (top == -INFINITY ? 0.0 : sum * gbsi_exp(top - value)) + 1.0;
            top = value;
        } else if (value > -INFINITY) {
            sum += gbsi_exp(value - top);
        }
    }
    at[at_v] = 0;
    return top == -INFINITY ? top : top + gbsi_log(sum);
}

/* Returns whether the kind of the factor implies a constant sum over the variable. */
static bool kind_is_constant(const gbsi_conditioned *c, size_t f, uint32_t at_v)
{
    const gbsi_factors *factors = &c->factors;
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
    switch ((int)factors->kind[f]) {
    case GBS_FACTOR_FIELD:
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_SPIN:
    case GBS_FACTOR_POTTS:
        return true;
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX:
    case GBS_FACTOR_NOISY_MIN:
        return at_v + 1 == n; /* true if the variable at at_v is the child */
    case GBS_FACTOR_LOGICAL:  /* a literal is true in one of its two states */
        return n == 1 || (factors->logical[factors->aux[f]].function == GBS_LOGICAL_PARITY &&
                          c->arity[factors->scope[factors->scope_start[f] + at_v]] == 2);
    default:
        return n == 1;
    }
}

/* Returns whether the sum over a variable is constant, for factors without a table that have few
 * configurations. The function walks through all configurations. */
static bool walk_is_constant(const pruner *p, size_t f, uint32_t at_v, double *log_sum)
{
    const gbsi_factors *factors = &p->whole->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    double least = INFINITY;
    double most = -INFINITY;
    size_t n_configurations = 1;
    for (size_t i = 0; i < n && n_configurations <= MOST_CONFIGURATIONS; ++i) {
        n_configurations *= p->whole->arity[scope[i]];
    }
    if (n > MOST_SCOPE || n_configurations > MOST_CONFIGURATIONS) {
        return false;
    }
    for (size_t left = n_configurations / p->whole->arity[scope[at_v]]; left > 0; --left) {
        const double sum = log_sum_at(p, f, p->at, at_v);
        least = sum < least ? sum : least;
        most = sum > most ? sum : most;
        /* also true if both logarithms are minus infinity */
        if (!(most - least <= GBSI_CONSTANT_SUM)) {
            memset(p->at, 0, n * sizeof *p->at);
            return false;
        }
        for (size_t i = n; i-- > 0;) {
            if (i != at_v && ++p->at[i] < p->whole->arity[scope[i]]) {
                break;
            }
            p->at[i] = 0;
        }
    }
    (void)gbsi_watch_spend(p->watch, n * n_configurations);
    *log_sum = 0.5 * (least + most);
    return true;
}

/* Returns whether the sum of factor f over variable v is constant; *log_sum is then the
 * logarithm of this sum. */
static bool factor_is_constant(const pruner *p, size_t f, uint32_t v, double *log_sum)
{
    const gbsi_factors *factors = &p->whole->factors;
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    size_t stride = 1;
    uint32_t at_v = (uint32_t)n - 1;
    for (; scope[at_v] != v; --at_v) {
        stride *= p->whole->arity[scope[at_v]];
        assert(at_v > 0); /* the factor contains the variable */
    }
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        const size_t first = factors->table_start[factors->aux[f]];
        const size_t n_entries = factors->table_start[factors->aux[f] + (size_t)1] - first;
        return gbsi_table_has_one_sum(factors->table + first, n_entries, p->whole->arity[v], stride,
                                      p->watch, log_sum);
    }
    if (!kind_is_constant(p->whole, f, at_v)) {
        return walk_is_constant(p, f, at_v, log_sum);
    }
    *log_sum = gbsi_is_noisy(factors->kind[f]) ? 0.0 : log_sum_at(p, f, p->at, at_v);
    return *log_sum > -INFINITY;
}

/* ---- the queue ------------------------------------------------------------------------------ */

static bool same_origin(const gbsi_conditioned *c, size_t f, size_t g)
{
    return gbsi_conditioned_origin(c, f) != SIZE_MAX &&
           gbsi_conditioned_origin(c, f) == gbsi_conditioned_origin(c, g);
}

/* Returns the end of the levels of a noisy-max or noisy-min factor whose first level is f. */
static size_t levels_end(const gbsi_conditioned *c, size_t f)
{
    size_t end = f + 1;
    while (end < c->factors.n_factors && same_origin(c, f, end)) {
        ++end;
    }
    return end;
}

/* Returns the child of the user's noisy-max or noisy-min factor that has f as a level, if all
 * states of the child remain; otherwise GBSI_NONE. */
static uint32_t whole_child(const gbsi_conditioned *c, size_t f)
{
    const gbs_model *m = c->model;
    const size_t origin = gbsi_conditioned_origin(c, f);
    if (origin == SIZE_MAX || !gbsi_noisy_is_graded(m->factors.kind[origin])) {
        return GBSI_NONE;
    }
    const uint32_t child = m->factors.scope[m->factors.scope_start[origin + 1] - 1];
    const uint32_t v = c->free_variable[child];
    return v != GBSI_NONE && c->arity[v] == m->arity[child] ? v : GBSI_NONE;
}

static void find_levels(pruner *p)
{
    const gbsi_conditioned *c = p->whole;
    memset(p->level, 0xff, c->n_variables * sizeof *p->level);
    for (size_t f = 0; f < c->factors.n_factors; ++f) {
        const uint32_t v = f > 0 && same_origin(c, f - 1, f) ? GBSI_NONE : whole_child(c, f);
        if (v != GBSI_NONE) {
            p->level[v] = f;
        }
    }
}

static void look_at(pruner *p, uint32_t v)
{
    const bool alone = p->degree[v] <= 1 || p->level[v] != NO_FACTOR;
    if (alone && p->stacked[v] == 0 && p->out->pruned[v] == 0 &&
        (p->asked == NULL || p->asked[v] == 0)) {
        p->stacked[v] = 1;
        p->stack[p->n_stacked++] = v;
    }
}

static gbs_status take_room(pruner *p, gbs_error *err)
{
    const size_t n = p->whole->n_variables;
    const gbsi_factors *f = &p->whole->factors;
    size_t longest = 1;
    for (size_t i = 0; i < f->n_factors; ++i) {
        const size_t own = f->scope_start[i + 1] - f->scope_start[i];
        longest = own > longest ? own : longest;
    }
    p->degree = gbsi_alloc_array_zero(n, sizeof *p->degree);
    p->link = gbsi_alloc_array_zero(n, sizeof *p->link);
    p->level = gbsi_alloc_array(n, sizeof *p->level);
    p->stack = gbsi_alloc_array(n, sizeof *p->stack);
    p->stacked = gbsi_alloc_array_zero(n, 1);
    p->at = gbsi_alloc_array_zero(longest, sizeof *p->at);
    p->out->variable = gbsi_alloc_array(n, sizeof *p->out->variable);
    p->out->factor_start = gbsi_alloc_array_zero(n + 1, sizeof *p->out->factor_start);
    p->out->factor = gbsi_alloc_array(f->n_factors, sizeof *p->out->factor);
    p->out->pruned = gbsi_alloc_array_zero(n, 1);
    p->out->dropped = gbsi_alloc_array_zero(f->n_factors, 1);
    return GBSI_HAVE(err, "pruning", p->degree, p->link, p->level, p->stack, p->stacked, p->at,
                     p->out->variable, p->out->factor_start, p->out->factor, p->out->pruned,
                     p->out->dropped);
}

static void count_factors(pruner *p)
{
    const gbsi_factors *f = &p->whole->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        for (size_t s = f->scope_start[i]; s < f->scope_start[i + 1]; ++s) {
            ++p->degree[f->scope[s]];
            p->link[f->scope[s]] ^= i;
        }
    }
}

static void drop_factor(pruner *p, size_t f)
{
    const gbsi_factors *factors = &p->whole->factors;
    p->out->dropped[f] = 1;
    p->out->factor[p->n_taken++] = f;
    for (size_t s = factors->scope_start[f]; s < factors->scope_start[f + 1]; ++s) {
        --p->degree[factors->scope[s]];
        p->link[factors->scope[s]] ^= f;
    }
}

/* Returns whether the remaining factors of v are exactly the levels of the noisy factor whose
 * child is v. */
static bool is_noisy_child(const pruner *p, uint32_t v)
{
    const gbsi_factors *f = &p->whole->factors;
    const size_t first = p->level[v];
    if (first == NO_FACTOR || p->out->dropped[first] != 0) {
        return false;
    }
    const size_t end = levels_end(p->whole, first);
    bool child = p->degree[v] == end - first;
    for (size_t l = first; child && l < end; ++l) {
        child = f->scope[f->scope_start[l + 1] - 1] == v && p->out->dropped[l] == 0;
    }
    return child;
}

/* Removes v if it is barren, and puts the variables that may have become barren on the stack. */
static void try_variable(pruner *p, uint32_t v)
{
    const gbsi_factors *f = &p->whole->factors;
    gbsi_pruning *out = p->out;
    size_t first = p->link[v];
    size_t end = first + (p->degree[v] == 1);
    double log_sum = 0.0;
    if (p->degree[v] == 0) {
        log_sum = gbsi_log(p->whole->arity[v]);
    } else if (is_noisy_child(p, v)) {
        first = p->level[v];
        end = levels_end(p->whole, first);
    } else if (p->degree[v] > 1 || !factor_is_constant(p, first, v, &log_sum)) {
        return;
    }
    out->pruned[v] = 1;
    out->log_sum += log_sum;
    out->variable[out->n++] = v;
    for (size_t l = first; l < end; ++l) {
        drop_factor(p, l);
    }
    out->factor_start[out->n] = p->n_taken;
    for (size_t s = end > first ? f->scope_start[first] : 0;
         end > first && s < f->scope_start[first + 1]; ++s) {
        look_at(p, f->scope[s]); /* examines the scope of one level only, because all levels of a
                                    noisy factor have the same scope */
    }
}

gbs_status gbsi_prune(const gbsi_conditioned *whole, const uint8_t *asked, gbsi_watch *watch,
                      gbsi_pruning *pruning, gbs_error *err)
{
    gbs_status status = GBS_OK;
    pruner p = {.whole = whole, .asked = asked, .watch = watch, .out = pruning};
    *pruning = (gbsi_pruning){0};
    GBSI_TRY(take_room(&p, err));
    count_factors(&p);
    find_levels(&p);
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        look_at(&p, v);
    }
    while (p.n_stacked > 0) {
        const uint32_t v = p.stack[--p.n_stacked];
        p.stacked[v] = 0;
        try_variable(&p, v);
        if (gbsi_watch_spend(watch, 1)) {
            GBSI_TRY(gbsi_watch_fail(err, GBSI_CONDITIONING));
        }
    }

cleanup:
    GBSI_FREE(p.degree, p.link, p.level, p.stack, p.stacked, p.at);
    return status;
}

void gbsi_pruning_clear(gbsi_pruning *p)
{
    GBSI_FREE(p->variable, p->factor_start, p->factor, p->pruned, p->dropped);
    *p = (gbsi_pruning){0};
}

gbs_status gbsi_prune_for(gbsi_conditioned **whole, size_t n, const uint32_t *user,
                          gbsi_watch *watch, uint32_t *n_pruned, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_pruning pruning = {0};
    gbsi_conditioned *part = NULL;
    uint8_t *asked = gbsi_alloc_array_zero((*whole)->n_variables, 1);
    GBSI_PASS(GBSI_HAVE(err, "pruning", asked));
    for (size_t i = 0; i < n; ++i) {
        const uint32_t v = (*whole)->free_variable[user[i]];
        if (v != GBSI_NONE) {
            asked[v] = 1;
        }
    }
    GBSI_TRY(gbsi_prune(*whole, asked, watch, &pruning, err));
    if (pruning.n > 0) {
        GBSI_TRY(gbsi_pruned_part(*whole, &pruning, &part, err));
        gbsi_conditioned_free(*whole);
        *whole = part;
    }
    if (n_pruned != NULL) {
        *n_pruned = pruning.n;
    }

cleanup:
    gbsi_pruning_clear(&pruning);
    gbsi_free(asked);
    return status;
}

/* ---- pruned variables
 * ------------------------------------------------------------------------- */

void gbsi_pruned_law(const gbsi_conditioned *whole, const gbsi_pruning *pruning, uint32_t i,
                     uint32_t *x, double *p)
{
    const uint32_t v = pruning->variable[i];
    const uint32_t k = whole->arity[v];
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        x[v] = a;
        p[a] = 0.0;
        for (size_t l = pruning->factor_start[i]; l < pruning->factor_start[i + (size_t)1]; ++l) {
            p[a] += gbsi_factor_value(&whole->factors, whole->arity, pruning->factor[l], x);
        }
    }
    const double top = gbsi_largest_real(p, k);
    assert(top > -INFINITY); /* the sum over v is positive for all states of the other variables */
    for (uint32_t a = 0; a < k; ++a) {
        p[a] = gbsi_exp(p[a] - top);
        sum += p[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] /= sum;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the log domain [M81].
 *
 * A message of a variable to a factor is the sum of the messages from its other factors. Such a
 * message is computed when it is needed: as the sum of the messages from all factors of the
 * variable minus one message. The cost of a variable with many factors is therefore proportional to
 * the number of its factors. Messages of minus infinity are counted instead of added, because they
 * must be subtracted later.
 *
 * The order follows residual belief propagation (Elidan, McGraw & Koller 2006, UAI), with the
 * estimate of the residual by Sutton & McCallum (2007, UAI). This estimate is the change of the
 * messages into a factor since the factor last computed its own messages. There is no queue.
 * Instead, a round skips the factors whose estimate is below a given fraction of the largest
 * estimate. On any graph, a round costs time at most proportional to the number of edges. */
#include "variational/belief.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "simd/math.h"

/* a factor waits if its estimate is below this fraction of the largest estimate */
#define SHARE       0.1
#define MOST_STATES ((uint64_t)1 << 22) /* largest number of states of a factor without a table */
#define TOGETHER    1024u               /* number of states between two checks of the watch */

struct gbsi_belief {
    const gbsi_conditioned *model; /* borrowed */
    gbsi_watch *watch;             /* NULL if nothing may stop the work */
    size_t *start;   /* [n_edges + 1] offset in `message` for each edge, that is, for each entry of
                        the factors' scopes */
    double *message; /* [start[n_edges]] logarithms of the messages from factors to variables; the
                        largest entry of each message is 0 */
    double *sum; /* [state_offset[n_variables]] for each state, the sum of the finite entries of the
                    messages to the state */
    uint32_t *n_zeros;  /* [state_offset[n_variables]] for each state, the number of messages whose
                           entry is minus infinity */
    uint8_t *ruled_out; /* [state_offset[n_variables]] 1 for states that are ruled out; they count
                           as a message of minus infinity */
    double *moved;  /* [n_variables] sum of the sizes of all changes of messages to the variable so
                       far */
    double *seen;   /* [n_edges] value of `moved` of the edge's variable when the edge's factor last
                       computed its messages */
    uint32_t *at;   /* [longest scope] current state of a factor */
    double *in;     /* [most states of a scope] messages to the current factor */
    double *out;    /* [largest arity] message of the current factor */
    double *top;    /* [largest arity] scratch */
    double least;   /* factors whose estimate is below this value wait */
    bool backwards; /* whether the next round runs from the last factor to the first */
};

/* Sizes of the arrays of a gbsi_belief. */
typedef struct sizes {
    size_t messages, longest, in, arity;
} sizes;

static sizes count(const gbsi_conditioned *model)
{
    const gbsi_factors *factors = &model->factors;
    sizes s = {.arity = gbsi_largest(model->arity, model->n_variables)};
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t begin = factors->scope_start[f];
        const size_t end = factors->scope_start[f + 1];
        size_t in = 0;
        for (size_t e = begin; e < end; ++e) {
            in += model->arity[factors->scope[e]];
        }
        s.messages += in;
        s.in = in > s.in ? in : s.in;
        s.longest = end - begin > s.longest ? end - begin : s.longest;
    }
    return s;
}

uint64_t gbsi_belief_bytes(const gbsi_conditioned *model)
{
    const sizes s = count(model);
    const uint64_t edges = gbsi_scope_entries(&model->factors);
    return (edges + 1) * sizeof(size_t) + edges * sizeof(double) +
           model->state_offset[model->n_variables] * (sizeof(double) + sizeof(uint32_t) + 1) +
           model->n_variables * sizeof(double) + s.longest * sizeof(uint32_t) +
           (s.messages + s.in + 2 * s.arity) * sizeof(double);
}

/* Checks that every factor has a table, or few enough states to be enumerated. */
static gbs_status check_factors(const gbsi_conditioned *model, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        double n = 1.0;
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            n *= model->arity[factors->scope[e]];
        }
        if (factors->kind[f] != GBS_FACTOR_TABLE && factors->kind[f] != GBS_FACTOR_POTTS &&
            n > (double)MOST_STATES) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "belief propagation: a factor over %zu variables has too many states "
                             "to sum over: use --method sample",
                             factors->scope_start[f + 1] - factors->scope_start[f]);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_belief_new(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_belief **out,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *factors = &model->factors;
    const size_t edges = gbsi_scope_entries(&model->factors);
    const size_t states = model->state_offset[model->n_variables];
    const sizes s = count(model);
    gbsi_belief *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "belief propagation", b));
    GBSI_TRY(check_factors(model, err));
    *b = (gbsi_belief){.model = model, .watch = watch};
    b->start = gbsi_alloc_array(edges + 1, sizeof *b->start);
    b->message = gbsi_alloc_array_zero(s.messages, sizeof *b->message);
    b->sum = gbsi_alloc_array_zero(states, sizeof *b->sum);
    b->n_zeros = gbsi_alloc_array_zero(states, sizeof *b->n_zeros);
    b->ruled_out = gbsi_alloc_array_zero(states, 1);
    b->moved = gbsi_alloc_array_zero(model->n_variables, sizeof *b->moved);
    b->seen = gbsi_alloc_array(edges, sizeof *b->seen);
    b->at = gbsi_alloc_array(s.longest, sizeof *b->at);
    b->in = gbsi_alloc_array(s.in, sizeof *b->in);
    b->out = gbsi_alloc_array(s.arity, sizeof *b->out);
    b->top = gbsi_alloc_array(s.arity, sizeof *b->top);
    GBSI_TRY(GBSI_HAVE(err, "belief propagation", b->start, b->message, b->sum, b->n_zeros,
                       b->ruled_out, b->moved, b->seen, b->at, b->in, b->out, b->top));
    b->start[0] = 0;
    for (size_t e = 0; e < edges; ++e) {
        b->start[e + 1] = b->start[e] + model->arity[factors->scope[e]];
        b->seen[e] = -INFINITY; /* before the first round no message was computed */
    }
    *out = b;
    b = NULL;

cleanup:
    gbsi_belief_free(b);
    return status;
}

void gbsi_belief_free(gbsi_belief *b)
{
    if (b != NULL) {
        GBSI_FREE(b->start, b->message, b->sum, b->n_zeros, b->ruled_out, b->moved, b->seen, b->at,
                  b->in, b->out, b->top, b);
    }
}

void gbsi_belief_rule_out(gbsi_belief *b, uint32_t variable, uint32_t state)
{
    const size_t at = b->model->state_offset[variable] + state;
    if (b->ruled_out[at] == 0) {
        b->ruled_out[at] = 1;
        ++b->n_zeros[at];
        b->moved[variable] += 1.0; /* so that the variable's factors take notice */
    }
}

double gbsi_belief_operations(const gbsi_conditioned *model)
{
    enum { EXPONENTIAL_NS = 10 };
    const gbsi_factors *factors = &model->factors;
    double operations = 0.0;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const double n = (double)(factors->scope_start[f + 1] - factors->scope_start[f]);
        double states = 1.0;
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            states *= model->arity[factors->scope[e]];
        }
        operations +=
            factors->kind[f] == GBS_FACTOR_POTTS
                ? 4.0 * EXPONENTIAL_NS * model->arity[factors->scope[factors->scope_start[f]]]
                : n * states * (n + EXPONENTIAL_NS);
    }
    return operations;
}

/* ---- messages ------------------------------------------------------------------------------ */

/* Subtracts the largest entry from all entries; the largest is then 0. */
static void scale(double *message, uint32_t k)
{
    double top = message[0];
    for (uint32_t a = 1; a < k; ++a) {
        top = message[a] > top ? message[a] : top;
    }
    for (uint32_t a = 0; a < k && top > -INFINITY; ++a) {
        message[a] -= top;
    }
}

/* Computes the message of the variable of edge e to its factor: the sum of the messages from the
 * variable's other factors.
 * @param to [arity] out. */
static void take_in(const gbsi_belief *b, size_t e, double *to)
{
    const uint32_t v = b->model->factors.scope[e];
    const size_t offset = b->model->state_offset[v];
    const double *own = b->message + b->start[e];
    for (uint32_t a = 0; a < b->model->arity[v]; ++a) {
        const bool zero = own[a] == -INFINITY;
        const uint32_t others = b->n_zeros[offset + a] - (zero ? 1 : 0);
        to[a] = others > 0 ? -INFINITY : b->sum[offset + a] - (zero ? 0.0 : own[a]);
    }
    scale(to, b->model->arity[v]);
}

/* Adds a log-weight to a sum of exponentials, which is kept as exp(top) * sum. */
static void add_log(double logw, double *top, double *sum)
{
    if (logw == -INFINITY) {
        return;
    }
    if (logw > *top) {
        *sum = *sum * gbsi_exp(*top - logw) + 1.0;
        *top = logw;
    } else {
        *sum += gbsi_exp(logw - *top);
    }
}

/* Moves to the next state of a factor; the last variable moves fastest. */
static void next_state(const gbsi_conditioned *model, size_t f, uint32_t *at)
{
    const gbsi_factors *factors = &model->factors;
    for (size_t i = factors->scope_start[f + 1] - factors->scope_start[f]; i-- > 0;) {
        if (++at[i] < model->arity[factors->scope[factors->scope_start[f] + i]]) {
            return;
        }
        at[i] = 0;
    }
}

/* Computes a message of factor f to one variable of its scope. Entry a of the message is the
 * logarithm of a sum over the states of f in which this variable has state a. Each term is the
 * value of f times the messages from the other variables.
 * @param position position of the variable in the scope. @param in messages to f, in the order
 * of the scope. @param out [arity] */
static void sum_states(gbsi_belief *b, size_t f, size_t position, const double *in, double *out)
{
    const gbsi_factors *factors = &b->model->factors;
    const size_t begin = factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - begin;
    const uint32_t k = b->model->arity[factors->scope[begin + position]];
    const double *table = factors->kind[f] == GBS_FACTOR_TABLE
                              ? factors->table + factors->table_start[factors->aux[f]]
                              : NULL;
    size_t n_states = 1;
    for (size_t i = 0; i < n; ++i) {
        n_states *= b->model->arity[factors->scope[begin + i]];
        b->at[i] = 0;
    }
    for (uint32_t a = 0; a < k; ++a) {
        b->top[a] = -INFINITY;
        out[a] = 0.0;
    }
    for (size_t state = 0; state < n_states; ++state, next_state(b->model, f, b->at)) {
        double logw =
            table != NULL ? table[state] : gbsi_factor_value_at(factors, b->model->arity, f, b->at);
        const double *message = in;
        for (size_t i = 0; i < n; ++i) {
            logw += i == position ? 0.0 : message[b->at[i]];
            message += b->model->arity[factors->scope[begin + i]];
        }
        const uint32_t a = b->at[position];
        add_log(logw, &b->top[a], &out[a]);
        if (state % TOGETHER == TOGETHER - 1 && gbsi_watch_spend(b->watch, TOGETHER * n)) {
            return;
        }
    }
    (void)gbsi_watch_spend(b->watch, n_states % TOGETHER * n);
    for (uint32_t a = 0; a < k; ++a) {
        out[a] = b->top[a] == -INFINITY ? -INFINITY : b->top[a] + gbsi_log(out[a]);
    }
}

/* Computes the message of a Potts factor in time linear in the number of states. Entry a of the
 * message has two parts: the term in which the other variable also has state a, and the sum over
 * all other states. This sum is computed from running sums over the states below a and over the
 * states above a.
 * @param in [arity] message of the other variable, with largest entry 0. @param out [arity] */
static void sum_potts(gbsi_belief *b, size_t f, const double *in, double *out)
{
    const double coupling = b->model->factors.weight[f];
    const uint32_t k = b->model->arity[b->model->factors.scope[b->model->factors.scope_start[f]]];
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        out[a] = sum;
        sum += gbsi_exp(in[a]);
    }
    sum = 0.0;
    for (uint32_t a = k; a-- > 0;) {
        double top = gbsi_log(out[a] + sum);
        double rest = top == -INFINITY ? 0.0 : 1.0;
        sum += gbsi_exp(in[a]);
        add_log(coupling + in[a], &top, &rest);
        out[a] = rest == 0.0 ? -INFINITY : top + gbsi_log(rest);
    }
    (void)gbsi_watch_spend(b->watch, 4 * (uint64_t)k);
}

/* Computes the message of factor f to one variable of its scope, from the messages in b->in, and
 * stores it in b->out. */
static void make_message(gbsi_belief *b, size_t f, size_t position)
{
    const gbsi_factors *factors = &b->model->factors;
    const uint32_t k = b->model->arity[factors->scope[factors->scope_start[f]]];
    if (factors->kind[f] == GBS_FACTOR_POTTS) {
        sum_potts(b, f, b->in + (position == 0 ? k : 0), b->out);
    } else {
        sum_states(b, f, position, b->in, b->out);
    }
}

/* Replaces a message by the new one. @return the size of the change. */
static double replace(gbsi_belief *b, size_t e, double damping)
{
    const uint32_t v = b->model->factors.scope[e];
    const size_t offset = b->model->state_offset[v];
    double *message = b->message + b->start[e];
    double most = 0.0;
    scale(b->out, b->model->arity[v]);
    for (uint32_t a = 0; a < b->model->arity[v]; ++a) {
        const bool was = message[a] > -INFINITY;
        const bool is = b->out[a] > -INFINITY;
        const double now =
            was && is ? (1.0 - damping) * message[a] + damping * b->out[a] : b->out[a];
        const double change = was && is ? fabs(b->out[a] - message[a]) / (1.0 + fabs(b->out[a]))
                                        : (double)(was != is);
        most = change > most ? change : most;
        b->sum[offset + a] += (is ? now : 0.0) - (was ? message[a] : 0.0);
        b->n_zeros[offset + a] += (is ? 0u : 1u) - (was ? 0u : 1u);
        message[a] = now;
    }
    return most;
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* Computes the messages to factor f, in the order of the scope, into b->in. */
static void take_all(gbsi_belief *b, size_t f)
{
    const gbsi_factors *factors = &b->model->factors;
    double *in = b->in;
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        take_in(b, e, in);
        in += b->model->arity[factors->scope[e]];
    }
}

/* Returns how much the messages to factor f have changed since f last computed its own messages. */
static double estimate(const gbsi_belief *b, size_t f)
{
    const gbsi_factors *factors = &b->model->factors;
    double most = 0.0;
    for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
        const double change = b->moved[factors->scope[e]] - b->seen[e];
        most = change > most ? change : most;
    }
    return most;
}

/* Computes the messages of factor f. A message does not depend on the message in the opposite
 * direction. If damping makes only part of a change, the rest is added to the estimate, so that a
 * later round makes it. */
static void send(gbsi_belief *b, size_t f, double damping)
{
    const gbsi_factors *factors = &b->model->factors;
    const size_t begin = factors->scope_start[f];
    const size_t end = factors->scope_start[f + 1];
    take_all(b, f);
    for (size_t e = begin; e < end; ++e) {
        const uint32_t v = factors->scope[e];
        make_message(b, f, e - begin);
        if (gbsi_watch_stopped(b->watch)) {
            return;
        }
        const double change = replace(b, e, damping);
        b->moved[v] += damping * change;
        b->seen[e] = b->moved[v] - (1.0 - damping) * change;
    }
}

/* Computes the sums of the messages to each variable from the beginning; rounding errors
 * therefore do not accumulate. */
static void sum_messages(gbsi_belief *b)
{
    const gbsi_conditioned *model = b->model;
    const size_t states = model->state_offset[model->n_variables];
    memset(b->sum, 0, states * sizeof *b->sum);
    for (size_t a = 0; a < states; ++a) {
        b->n_zeros[a] = b->ruled_out[a];
    }
    for (size_t e = 0; e < gbsi_scope_entries(&model->factors); ++e) {
        const uint32_t v = model->factors.scope[e];
        const double *message = b->message + b->start[e];
        for (uint32_t a = 0; a < model->arity[v]; ++a) {
            const bool zero = message[a] == -INFINITY;
            b->sum[model->state_offset[v] + a] += zero ? 0.0 : message[a];
            b->n_zeros[model->state_offset[v] + a] += zero;
        }
    }
}

double gbsi_belief_damping(uint64_t n)
{
    enum { UNDAMPED = 50 };
    return n < UNDAMPED ? 1.0 : 0.5;
}

double gbsi_belief_round(gbsi_belief *b, double damping)
{
    const size_t n = b->model->factors.n_factors;
    double most = 0.0;
    sum_messages(b);
    for (size_t i = 0; i < n && !gbsi_watch_spend(b->watch, 4); ++i) {
        const size_t f = b->backwards ? n - 1 - i : i;
        const double change = estimate(b, f);
        most = change > most ? change : most;
        if (change > b->least) {
            send(b, f, damping);
        }
    }
    b->backwards = !b->backwards;
    b->least = most < INFINITY ? SHARE * most : 0.0;
    return gbsi_watch_stopped(b->watch) ? NAN : most;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Computes ln of the product of all messages to the states of variable v. @param to [arity] out. */
static void total(const gbsi_belief *b, uint32_t v, double *to)
{
    const size_t offset = b->model->state_offset[v];
    for (uint32_t a = 0; a < b->model->arity[v]; ++a) {
        to[a] = b->n_zeros[offset + a] > 0 ? -INFINITY : b->sum[offset + a];
    }
}

/* Returns the logarithm of the sum over states of the product of two messages, which are given by
 * their logarithms. @param y NULL if all entries of this message are 1. */
static double log_product(const double *x, const double *y, uint32_t k)
{
    double top = -INFINITY;
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        add_log(x[a] + (y == NULL ? 0.0 : y[a]), &top, &sum);
    }
    return top == -INFINITY ? -INFINITY : top + gbsi_log(sum);
}

gbs_status gbsi_belief_marginals(const gbsi_belief *b, double *p, gbs_error *err)
{
    for (uint32_t v = 0; v < b->model->n_variables; ++v) {
        double *row = p + b->model->state_offset[v];
        total(b, v, row);
        const double all = log_product(row, NULL, b->model->arity[v]);
        if (all == -INFINITY) {
            return gbsi_fail(err, GBS_ERR_IMPOSSIBLE, "no state of the model has positive weight");
        }
        for (uint32_t a = 0; a < b->model->arity[v]; ++a) {
            row[a] = gbsi_exp(row[a] - all);
        }
    }
    return GBS_OK;
}

/* The Bethe value: sum over factors of ln Z_f + sum over variables of ln Z_v - sum over edges of
 * ln Z_fv, where Z_f = sum_x f(x) prod m_v→f(x_v), Z_v = sum_a prod m_f→v(a) and Z_fv = sum_a
 * m_f→v(a) m_v→f(a). At a fixed point this value does not depend on the scale of the messages
 * (Yedidia, Freeman & Weiss 2005, eq. 37). */
double gbsi_belief_log_z(gbsi_belief *b)
{
    const gbsi_conditioned *model = b->model;
    const gbsi_factors *factors = &model->factors;
    double log_z = model->log_constant;
    sum_messages(b);
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        total(b, v, b->out);
        log_z += log_product(b->out, NULL, model->arity[v]);
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        take_all(b, f);
        make_message(b, f, 0);
        if (gbsi_watch_stopped(b->watch)) {
            return NAN;
        }
        log_z += log_product(b->in, b->out, model->arity[factors->scope[factors->scope_start[f]]]);
        const double *in = b->in;
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            const uint32_t k = model->arity[factors->scope[e]];
            log_z -= log_product(in, b->message + b->start[e], k);
            in += k;
        }
    }
    return log_z;
}

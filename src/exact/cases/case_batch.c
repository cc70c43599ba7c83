/* SPDX-License-Identifier: Apache-2.0 */
/* Answers some cases side by side: passes messages up from the observed variables, and then down to
 * the queried variables.
 *
 * Weights are scaled so that the largest weight of a table, and of a message, is at most 1. A
 * product that is too small for a double is lost. The `risk` of a message bounds the effect of lost
 * products. If a message may lack a lost product, its risk is the binary logarithm of the product
 * of all later divisors: of this message and of the messages that were computed from it. The lost
 * part of the message is at most 2^(risk - 1022) of the whole, times the number of products. Cases
 * whose risk exceeds MOST_RISK are returned as unsure, and must be computed in logarithms. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cases/case_tree_inside.h"
#include "simd/math.h"

#define LANES     GBSI_CASE_LANES
#define LEAST     GBSI_CASE_LEAST
#define MOST_RISK 700.0
#define NO_RISK   (-1.0)
#define LN2       0.69314718055994530942
#define BLOCK     ((size_t)1 << 13) /* number of table entries between two checks of the watch */

struct gbsi_case_worker {
    const gbsi_case_tree *cases;
    double *room;  /* [n_rows][LANES] messages */
    double *least; /* [n_messages][LANES] the least positive weight of each message, scaled so that
                      its largest weight is in (1/2, 1] */
    double *risk;  /* [n_messages][LANES] risk of each message, as described above */
    double *scale; /* [n_nodes][LANES] binary logarithm of the number by which the message of each
                      clique to its parent was divided */
    size_t *at;    /* [most_operands + 1] current row of each operand and of the target */
    const case_operand **use; /* [most_operands] operands of the current sweep */
    gbsi_watch *watch;        /* watch of the current batch */
    bool spends;              /* whether this thread adds steps to the watch */
    uint32_t *x;              /* [most_axes] current state of the clique in a sweep */
    double log_sum[LANES];
    uint8_t end[LANES];   /* a gbsi_case_end for each lane */
    uint8_t begin[LANES]; /* value with which `end` begins in every case, from messages that do not
                             depend on the case */
};

uint64_t gbsi_case_worker_bytes(const gbsi_case_tree *cases)
{
    const gbsi_case_tree *t = cases;
    return (uint64_t)LANES * sizeof(double) *
           (t->n_rows + 2 * (uint64_t)t->n_messages + t->n_nodes);
}

void gbsi_case_worker_free(gbsi_case_worker *worker)
{
    gbsi_case_worker *w = worker;
    if (w == NULL) {
        return;
    }
    GBSI_FREE(w->room, w->least, w->risk, w->scale, w->at, w->use, w->x, w);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* Moves the operands and the target to the next state of the clique. */
static void advance(const gbsi_case_tree *t, const case_node *node, uint32_t n_use,
                    gbsi_case_worker *w, const case_operand *target)
{
    const uint32_t *arity = t->arity + node->axis;
    for (uint32_t a = node->n_axes; a-- > 0;) {
        const bool wraps = ++w->x[a] == arity[a];
        const size_t back = arity[a] - (size_t)1;
        for (uint32_t k = 0; k < n_use; ++k) {
            const size_t stride = t->stride[w->use[k]->stride + a];
            w->at[k] = wraps ? w->at[k] - back * stride : w->at[k] + stride;
        }
        const size_t stride = t->stride[target->stride + a];
        w->at[n_use] = wraps ? w->at[n_use] - back * stride : w->at[n_use] + stride;
        if (!wraps) {
            return;
        }
        w->x[a] = 0;
    }
}

static bool stops(gbsi_case_worker *w, uint64_t n_operations)
{
    return w->spends ? gbsi_watch_spend(w->watch, n_operations) : gbsi_watch_stopped(w->watch);
}

/* Multiplies the table of a clique by the messages in w->use, and sums over the variables that are
 * not in the target message. */
static void sweep(gbsi_case_worker *w, const case_node *node, uint32_t n_use,
                  const case_operand *target)
{
    const gbsi_case_tree *t = w->cases;
    const double *table = t->table + node->table;
    const case_message *out = &t->message[target->message];
    memset(w->room + out->row * LANES, 0, out->n_rows * LANES * sizeof *w->room);
    memset(w->x, 0, node->n_axes * sizeof *w->x);
    for (uint32_t k = 0; k < n_use; ++k) {
        w->at[k] = t->message[w->use[k]->message].row;
    }
    w->at[n_use] = out->row;
    for (size_t e = 0; e < node->n_entries; ++e) {
        const size_t left = node->n_entries - e;
        if (e % BLOCK == 0 && stops(w, (left < BLOCK ? left : BLOCK) * (n_use + (uint64_t)2))) {
            return;
        }
        if (table[e] > 0.0) {
            double product[LANES];
            for (uint32_t lane = 0; lane < LANES; ++lane) {
                product[lane] = table[e];
            }
            for (uint32_t k = 0; k < n_use; ++k) {
                const double *message = w->room + w->at[k] * LANES;
                for (uint32_t lane = 0; lane < LANES; ++lane) {
                    product[lane] *= message[lane];
                }
            }
            double *sum = w->room + w->at[n_use] * LANES;
            for (uint32_t lane = 0; lane < LANES; ++lane) {
                sum[lane] += product[lane];
            }
        }
        advance(t, node, n_use, w, target);
    }
    assert(w->at[n_use] ==
           out->row); /* the walk over the clique's states has returned to the first state */
}

/* ---- scales and risks ------------------------------------------------------------------------ */

/* Returns k, where x = f 2^k and f is in [1/2, 1). x must be normal and positive. */
static int exponent_of(double x)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52 & 0x7ff) - 1022;
}

static double power_of_two(int k)
{
    assert(k > -1023 && k < 1024); /* x is a normal number */
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double x = 0.0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns the risk of a message that a sweep has just computed, before the message is scaled. */
static double risk_of(const gbsi_case_worker *w, const case_node *node, uint32_t n_use,
                      uint32_t lane)
{
    double least = node->least;
    double risk = NO_RISK;
    for (uint32_t k = 0; k < n_use; ++k) {
        const size_t i = (size_t)w->use[k]->message * LANES + lane;
        least *= w->least[i];
        risk = w->risk[i] > risk ? w->risk[i] : risk;
    }
    return least < LEAST && risk < 0.0 ? 0.0 : risk;
}

/* Scales a message so that its largest weight is in (1/2, 1], in each lane.
 * @param scale NULL, or [LANES] out: binary logarithm of the number that the message was divided
 * by. */
static void scale_message(gbsi_case_worker *w, const case_node *node, uint32_t n_use,
                          uint32_t message, double *scale)
{
    const case_message *m = &w->cases->message[message];
    double *row = w->room + m->row * LANES;
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        double most = 0.0;
        double least = INFINITY;
        for (size_t i = 0; i < m->n_rows; ++i) {
            const double x = row[i * LANES + lane];
            most = x > most ? x : most;
            least = x > 0.0 && x < least ? x : least;
        }
        const double risk = risk_of(w, node, n_use, lane);
        const bool held = most >= LEAST;
        const int k = held ? exponent_of(most) : 0;
        if (!held && w->end[lane] == GBSI_CASE_DONE) {
            w->end[lane] = most > 0.0 || risk >= 0.0 ? GBSI_CASE_UNSURE : GBSI_CASE_IMPOSSIBLE;
        }
        const double factor = power_of_two(-k);
        for (size_t i = 0; i < m->n_rows; ++i) {
            row[i * LANES + lane] *= factor;
        }
        const size_t at = (size_t)message * LANES + lane;
        w->least[at] = most > 0.0 ? least * factor : 1.0;
        w->risk[at] = risk >= 0.0 ? risk - k : NO_RISK;
        if (risk >= 0.0 && risk - k < 0.0) {
            w->risk[at] = 0.0;
        }
        if (w->risk[at] > MOST_RISK && w->end[lane] == GBSI_CASE_DONE) {
            w->end[lane] = GBSI_CASE_UNSURE;
        }
        if (scale != NULL) {
            scale[lane] = k;
        }
    }
}

/* ---- up and down ----------------------------------------------------------------------------- */

/* Lists in w->use the operands that are multiplied into the table of a clique, except `message`.
 * @param down whether the message from the parent is listed too. @return the number of listed
 * operands. */
static uint32_t use_but(gbsi_case_worker *w, const case_node *node, uint32_t message, bool down)
{
    uint32_t n = 0;
    const case_operand *operand = w->cases->operand + node->operand;
    for (uint32_t k = 0; k < node->n_operands; ++k) {
        if (operand[k].message != message) {
            w->use[n++] = &operand[k];
        }
    }
    if (down && node->down.message != GBSI_NONE) {
        w->use[n++] = &node->down;
    }
    return n;
}

static void node_up(gbsi_case_worker *w, uint32_t i)
{
    const case_node *node = &w->cases->node[i];
    const uint32_t n_use = use_but(w, node, GBSI_NONE, false);
    sweep(w, node, n_use, &node->up);
    scale_message(w, node, n_use, node->up.message, w->scale + (size_t)i * LANES);
}

/* Computes the messages from a clique to the children whose subtrees contain queried variables. */
static void node_down(gbsi_case_worker *w, uint32_t i)
{
    const gbsi_case_tree *t = w->cases;
    const case_node *node = &t->node[i];
    const case_operand *operand = t->operand + node->operand;
    for (uint32_t k = 0; k < node->n_operands; ++k) {
        if (operand[k].message < t->n_columns || operand[k].message >= t->first_factor) {
            continue;
        }
        const uint32_t child = operand[k].message - t->n_columns;
        if (t->node[child].asked) {
            const uint32_t n_use = use_but(w, node, operand[k].message, true);
            const case_operand target = {.message = t->node[child].down.message,
                                         .stride = operand[k].stride};
            sweep(w, node, n_use, &target);
            scale_message(w, node, n_use, target.message, NULL);
        }
    }
}

/* ---- evidence and answers ------------------------------------------------------------------- */

static void observe(gbsi_case_worker *w, uint32_t k, const gbsi_case *cases, uint32_t n)
{
    const gbsi_case_tree *t = w->cases;
    const case_column *column = &t->column[k];
    for (uint32_t lane = 0; lane < n; ++lane) {
        const uint32_t state = cases[lane].state[k];
        const uint32_t row = state == GBSI_NONE ? GBSI_NONE : t->state[column->state + state];
        if (state != GBSI_NONE && row == GBSI_NONE) {
            w->end[lane] = GBSI_CASE_IMPOSSIBLE;
        }
        for (size_t i = 0; column->message != GBSI_NONE && i < t->message[k].n_rows; ++i) {
            w->room[(t->message[k].row + i) * LANES + lane] = row == GBSI_NONE || row == i;
        }
    }
}

static void answer(gbsi_case_worker *w, const case_query *query, gbsi_case *cases, uint32_t n)
{
    const gbsi_case_tree *t = w->cases;
    const uint32_t *state = t->state + query->state;
    const case_message *m = &t->message[query->target.message];
    if (query->node != GBSI_NONE) {
        const case_node *node = &t->node[query->node];
        const uint32_t n_use = use_but(w, node, query->without, true);
        sweep(w, node, n_use, &query->target);
        scale_message(w, node, n_use, query->target.message, NULL);
    }
    for (uint32_t lane = 0; lane < n; ++lane) {
        double *p = cases[lane].p + query->p;
        double sum = 0.0;
        memset(p, 0, query->n_states * sizeof *p);
        if (query->node == GBSI_NONE) {
            p[state[0]] = 1.0;
            continue;
        }
        for (size_t a = 0; a < m->n_rows; ++a) {
            sum += w->room[(m->row + a) * LANES + lane];
        }
        for (size_t a = 0; a < m->n_rows; ++a) {
            p[state[a]] = w->room[(m->row + a) * LANES + lane] / sum;
        }
    }
}

/* Computes ln of the sum over all states for each lane, from the messages of the roots. */
static void add_up(gbsi_case_worker *w)
{
    const gbsi_case_tree *t = w->cases;
    for (uint32_t lane = 0; lane < LANES; ++lane) {
        double exponents = 0.0; /* a sum of whole numbers, which is exact */
        double log_roots = 0.0;
        for (uint32_t i = 0; i < t->n_nodes; ++i) {
            exponents += w->scale[(size_t)i * LANES + lane];
            if (t->node[i].parent == GBSI_NONE) {
                log_roots +=
                    gbsi_log(w->room[t->message[t->node[i].up.message].row * LANES + lane]);
            }
        }
        w->log_sum[lane] = t->log_constant + (exponents * LN2 + log_roots);
    }
}

void gbsi_case_batch(gbsi_case_worker *worker, gbsi_case *cases, uint32_t n, gbsi_watch *watch,
                     bool spends)
{
    gbsi_case_worker *w = worker;
    const gbsi_case_tree *t = w->cases;
    assert(n <= LANES);
    w->watch = watch;
    w->spends = spends;
    memcpy(w->end, w->begin, sizeof w->end);
    for (uint32_t k = 0; k < t->n_columns; ++k) {
        observe(w, k, cases, n);
    }
    for (uint32_t i = 0; i < t->n_nodes; ++i) {
        if (t->node[i].observed && !gbsi_watch_stopped(watch)) {
            node_up(w, i);
        }
    }
    add_up(w);
    for (uint32_t i = t->n_nodes; i-- > 0;) {
        if (t->node[i].asked && !gbsi_watch_stopped(watch)) {
            node_down(w, i);
        }
    }
    for (uint32_t k = 0; k < t->n_query; ++k) {
        answer(w, &t->query[k], cases, n);
    }
    for (uint32_t lane = 0; lane < n; ++lane) {
        cases[lane].end = (gbsi_case_end)w->end[lane];
        cases[lane].log_sum = w->log_sum[lane];
    }
}

/* ---- a worker -------------------------------------------------------------------------------- */

static void prepare_factors(gbsi_case_worker *w)
{
    const gbsi_case_tree *t = w->cases;
    const double *weight = t->weight;
    for (uint32_t k = t->first_factor; k < t->n_messages; ++k) {
        const case_message *m = &t->message[k];
        double least = 1.0;
        for (size_t i = 0; i < m->n_rows; ++i, ++weight) {
            least = *weight > 0.0 && *weight < least ? *weight : least;
            for (uint32_t lane = 0; lane < LANES; ++lane) {
                w->room[(m->row + i) * LANES + lane] = *weight;
            }
        }
        for (uint32_t lane = 0; lane < LANES; ++lane) {
            w->least[(size_t)k * LANES + lane] = least;
        }
    }
}

/* Computes all messages that do not depend on the case, in all lanes. */
static void prepare(gbsi_case_worker *w)
{
    const gbsi_case_tree *t = w->cases;
    for (size_t i = 0; i < (size_t)t->n_messages * LANES; ++i) {
        w->least[i] = 1.0;
        w->risk[i] = NO_RISK;
    }
    for (uint32_t k = 0; k < t->n_columns; ++k) {
        for (size_t i = 0; i < t->message[k].n_rows * LANES; ++i) {
            w->room[t->message[k].row * LANES + i] =
                1.0; /* before the first case no variable is observed */
        }
    }
    prepare_factors(w);
    for (uint32_t i = 0; i < t->n_nodes && !gbsi_watch_stopped(w->watch); ++i) {
        if (!t->node[i].observed) {
            node_up(w, i);
        }
    }
    memcpy(w->begin, w->end, sizeof w->begin);
}

static void copy(gbsi_case_worker *w, const gbsi_case_worker *like)
{
    const gbsi_case_tree *t = w->cases;
    for (uint32_t i = 0; i < t->n_nodes; ++i) {
        const case_message *m = &t->message[t->node[i].up.message];
        if (!t->node[i].observed) {
            memcpy(w->room + m->row * LANES, like->room + m->row * LANES,
                   m->n_rows * LANES * sizeof *w->room);
        }
    }
    for (uint32_t k = 0; k < t->n_messages; ++k) {
        if (k < t->n_columns || k >= t->first_factor) {
            memcpy(w->room + t->message[k].row * LANES, like->room + t->message[k].row * LANES,
                   t->message[k].n_rows * LANES * sizeof *w->room);
        }
    }
    memcpy(w->least, like->least, (size_t)t->n_messages * LANES * sizeof *w->least);
    memcpy(w->risk, like->risk, (size_t)t->n_messages * LANES * sizeof *w->risk);
    memcpy(w->scale, like->scale, (size_t)t->n_nodes * LANES * sizeof *w->scale);
    memcpy(w->begin, like->begin, sizeof w->begin);
}

gbs_status gbsi_case_worker_new(const gbsi_case_tree *cases, const gbsi_case_worker *like,
                                gbsi_watch *watch, gbsi_case_worker **out, gbs_error *err)
{
    const gbsi_case_tree *t = cases;
    gbsi_case_worker *w = gbsi_alloc_zero(sizeof *w);
    GBSI_PASS(GBSI_HAVE(err, "cases", w));
    w->cases = t;
    w->watch = watch;
    w->spends = true;
    w->room = gbsi_alloc_array(t->n_rows * LANES, sizeof *w->room);
    w->least = gbsi_alloc_array((size_t)t->n_messages * LANES, sizeof *w->least);
    w->risk = gbsi_alloc_array((size_t)t->n_messages * LANES, sizeof *w->risk);
    w->scale = gbsi_alloc_array_zero((size_t)t->n_nodes * LANES, sizeof *w->scale);
    w->at = gbsi_alloc_array(t->most_operands + (size_t)1, sizeof *w->at);
    w->use = gbsi_alloc_array(t->most_operands, sizeof(const case_operand *));
    w->x = gbsi_alloc_array(t->most_axes, sizeof *w->x);
    if (w->room == NULL || w->least == NULL || w->risk == NULL || w->scale == NULL ||
        w->at == NULL || w->use == NULL || w->x == NULL) {
        gbsi_case_worker_free(w);
        return gbsi_no_memory(err, "cases", (size_t)gbsi_case_worker_bytes(t));
    }
    if (like != NULL) {
        copy(w, like);
    } else {
        prepare(w);
    }
    if (gbsi_watch_stopped(watch)) {
        gbsi_case_worker_free(w);
        return gbsi_watch_fail(err, "making junction trees for cases");
    }
    *out = w;
    return GBS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the bonds of all chains, joins variables to clusters, and draws what the clusters do [M90].
 * The random word of a bond is keyed by the bond's number, and the word of a cluster by its
 * smallest slot. The members of a cluster are added as integers. The result therefore depends
 * neither on the order of the work nor on threads. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/cluster.h"
#include "rng/words.h"
#include "simd/math.h"

#define BLOCK 64u /* number of bonds whose words are made together */
/* Threads share the moves if they have at least this number of bonds and variables in all chains.
 */
#define LEAST_SHARED (UINT64_C(1) << 13)
/* Calibrated nanoseconds of a bond and of a variable in one chain. */
#define NS_BOND     6.0
#define NS_VARIABLE 10.0

/* The scratch memory of a thread. */
typedef struct worker {
    uint32_t *parent; /* [n_slots] a slot of the same cluster, never larger than the slot itself */
    int64_t *sum;     /* [n_slots], or [n_slots][n_labels]: sums of fields at the smallest slots */
    uint8_t *lacks;   /* [n_slots][n_labels] 1: some variable of the cluster lacks the label */
    uint16_t *choice; /* [n_slots] for smallest slots: 1 if the cluster turns, or its new label */
    double *w;        /* [n_labels] weights of labels */
    uint32_t *mark;   /* [n_slots] number of the last cluster that took the slot */
    uint32_t *member; /* [n_slots] members of the cluster that grows */
    int64_t *size; /* [n_slots] for smallest slots: length of the cluster's sum of vectors; NULL if
                      nothing is measured */
    uint32_t last; /* number of the cluster that grows */
    bool spends;   /* the calling thread counts operations for the watch */
    uint32_t word[BLOCK * GBSI_LANES];
} worker;

struct gbsi_clusters {
    gbsi_pass_setting setting;
    uint64_t seed;
    uint64_t n_clusters; /* 0: all clusters of a pass */
    gbsi_bonds *bonds;
    const gbsi_words *words;
    uint16_t *joins; /* [n_groups][n_bonds] a bit for each lane: whether the bond's word joins, and
                        the states agree */
    worker *worker;
    uint32_t n_workers;
    double *moment; /* [n_chains][2] means of m^2 and m^4 given the bonds; NULL: not measured */
    /* of the pass that runs */
    uint64_t pass;
    gbsi_watch *watch;
};

/* The chain on which a worker works. */
typedef struct chain {
    const gbsi_clusters *c;
    const gbsi_bonds *b;
    worker *by;
    void *state;
    uint32_t lane, lanes, bytes;
    uint32_t number; /* number of the chain in the run */
} chain;

static uint32_t state_at(const chain *x, uint32_t slot)
{
    return gbsi_state_at(x->state, (size_t)slot * x->lanes + x->lane, x->bytes);
}

static void set_state(const chain *x, uint32_t slot, uint32_t state)
{
    const size_t i = (size_t)slot * x->lanes + x->lane;
    if (x->bytes == 1) {
        ((uint8_t *)x->state)[i] = (uint8_t)state;
    } else {
        ((uint16_t *)x->state)[i] = (uint16_t)state;
    }
}

static uint32_t label_at(const gbsi_bonds *b, const chain *x, uint32_t slot)
{
    const uint32_t s = state_at(x, slot);
    return b->label_of == NULL ? s : b->label_of[(size_t)slot * b->n_labels + s];
}

static bool stops(const gbsi_clusters *c, const worker *by, uint64_t n_operations)
{
    return by->spends ? gbsi_watch_spend(c->watch, n_operations)
                      : c->watch != NULL && gbsi_watch_stopped(c->watch);
}

/* ---- bonds ----------------------------------------------------------------------------------- */

/* Whether a bond joins, by its word of 64 bits. The low half is made only if the high half does not
 * decide. @param place number of the cluster that grows times number of bonds, plus the bond. */
static bool joins(const gbsi_clusters *c, uint32_t number, uint64_t place, uint64_t most,
                  uint32_t high)
{
    const uint32_t limit = (uint32_t)(most >> 32);
    return high < limit || (high == limit && gbsi_word(c->seed, number, c->pass, place,
                                                       GBSI_PURPOSE_BOND_LOW) <= (uint32_t)most);
}

/* Makes the words of the bonds [first, first + BLOCK) of one group: word[bond][lane]. */
static void make_words(const gbsi_clusters *c, worker *by, uint32_t g, size_t first)
{
    const uint32_t lanes = c->setting.lanes;
    const uint32_t number = c->setting.first_chain + g * lanes;
    const uint32_t block = (uint32_t)(first / 4);
    if (lanes == GBSI_LANES) {
        c->words->lanes16(c->seed, number, c->pass, block, BLOCK / 4, GBSI_PURPOSE_BOND, by->word);
        return;
    }
    for (uint32_t i = 0; i < BLOCK / 4; ++i) {
        gbsi_philox(c->seed, number, c->pass, block + i, GBSI_PURPOSE_BOND, by->word + 4 * i);
    }
}

/* The lanes in which a bond joins its two slots: the states agree (or differ), and the word joins.
 */
static uint32_t lanes_joined(const gbsi_clusters *c, const uint32_t *word, uint32_t g, size_t e)
{
    const gbsi_bonds *b = c->bonds;
    const gbsi_bond *bond = &b->bond[e];
    const uint32_t lanes = c->setting.lanes;
    uint32_t joined = 0;
    chain x = {.c = c,
               .b = b,
               .state = c->setting.group[g].state,
               .lanes = lanes,
               .bytes = c->setting.plan->value_bytes};
    for (x.lane = 0; x.lane < lanes; ++x.lane) {
        const bool equal = label_at(b, &x, bond->slot[0]) == label_at(b, &x, bond->slot[1]);
        joined |= (uint32_t)(equal != (bond->differ != 0) &&
                             joins(c, c->setting.first_chain + g * lanes + x.lane, e, bond->most,
                                   word[x.lane]))
                  << x.lane;
    }
    return joined;
}

/* Draws the bonds of all groups; the members of the pool divide the blocks of bonds among
 * themselves. */
static void draw_bonds(void *context, uint32_t member)
{
    const gbsi_clusters *c = context;
    worker *by = &c->worker[member];
    const size_t n = c->bonds->n_bonds;
    const uint64_t n_blocks = (n + BLOCK - 1) / BLOCK;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(n_blocks * c->setting.n_groups, 1, member, c->n_workers, &first, &end);
    for (uint64_t i = first; i < end; ++i) {
        const uint32_t g = (uint32_t)(i / n_blocks);
        const size_t e = i % n_blocks * BLOCK;
        make_words(c, by, g, e);
        for (uint32_t k = 0; k < BLOCK && e + k < n; ++k) {
            c->joins[g * n + e + k] =
                (uint16_t)lanes_joined(c, by->word + (size_t)k * c->setting.lanes, g, e + k);
        }
        if (stops(c, by, BLOCK * c->setting.lanes)) {
            return;
        }
    }
}

/* ---- what a cluster does --------------------------------------------------------------------- */

/* Adds the fields of a slot to the sums of its cluster: the change of the log density if the
 * cluster turns, or the log-weight of every label. */
static void add_fields(const chain *x, uint32_t slot, uint32_t root)
{
    const gbsi_bonds *b = x->b;
    if (b->turns) {
        x->by->sum[root] += state_at(x, slot) == 0 ? b->field[slot] : -b->field[slot];
        return;
    }
    const size_t from = (size_t)slot * b->n_labels;
    const size_t to = (size_t)root * b->n_labels;
    for (uint32_t k = 0; b->field != NULL && k < b->n_labels; ++k) {
        x->by->sum[to + k] += b->field[from + k];
    }
    for (uint32_t k = 0; b->state_of != NULL && k < b->n_labels; ++k) {
        x->by->lacks[to + k] |= b->state_of[from + k] == GBSI_NO_STATE;
    }
}

static void clear_sums(const chain *x, uint32_t first, uint32_t n)
{
    const gbsi_bonds *b = x->b;
    const size_t width = b->turns ? 1 : b->n_labels;
    if (b->field != NULL) {
        memset(x->by->sum + first * width, 0, n * width * sizeof *x->by->sum);
    }
    if (b->state_of != NULL) {
        memset(x->by->lacks + first * width, 0, n * width);
    }
}

/* Whether variables add anything to the sums of their clusters. */
static bool has_sums(const gbsi_bonds *b)
{
    return b->field != NULL || b->state_of != NULL;
}

/* Computes the weights of the labels of a cluster, up to a factor: exp of the sum of its fields.
 * @return their sum. */
static double weigh(const chain *x, uint32_t root)
{
    const gbsi_bonds *b = x->b;
    const int64_t *sum = b->field == NULL ? NULL : x->by->sum + (size_t)root * b->n_labels;
    const uint8_t *lacks = b->state_of == NULL ? NULL : x->by->lacks + (size_t)root * b->n_labels;
    int64_t largest = INT64_MIN;
    double total = 0.0;
    for (uint32_t k = 0; k < b->n_labels; ++k) {
        const bool allowed = lacks == NULL || lacks[k] == 0;
        if (allowed && sum != NULL && sum[k] > largest) {
            largest = sum[k];
        }
    }
    for (uint32_t k = 0; k < b->n_labels; ++k) {
        const bool allowed = lacks == NULL || lacks[k] == 0;
        x->by->w[k] = !allowed      ? 0.0
                      : sum == NULL ? 1.0
                                    : gbsi_exp((double)(sum[k] - largest) * b->unit);
        total += x->by->w[k];
    }
    return total;
}

/* Picks label k with probability w[k] / total. @param u in [0, 1). */
static uint32_t pick(const double *w, uint32_t n, double total, double u)
{
    double left = u * total;
    uint32_t last = 0;
    for (uint32_t k = 0; k < n; ++k) {
        if (w[k] > 0.0) {
            last = k;
            if (left < w[k]) {
                return k;
            }
            left -= w[k];
        }
    }
    return last; /* rounding left a rest */
}

/* Draws what a cluster does from exp(sum of its fields): whether it turns, or its new label. */
static uint32_t choose(const chain *x, uint32_t root)
{
    const gbsi_bonds *b = x->b;
    uint32_t word[4];
    gbsi_philox(x->c->seed, x->number, x->c->pass, root, GBSI_PURPOSE_CLUSTER, word);
    if (!has_sums(b)) {
        return gbsi_below(word[0], word[1], b->n_labels);
    }
    const double u = gbsi_uniform(word[0], word[1]);
    if (b->turns) {
        return u < 1.0 / (1.0 + gbsi_exp(-(double)x->by->sum[root] * b->unit));
    }
    const double total = weigh(x, root);
    return pick(x->by->w, b->n_labels, total, u);
}

static void apply(const chain *x, uint32_t slot, uint32_t choice)
{
    const gbsi_bonds *b = x->b;
    set_state(x, slot,
              b->turns              ? state_at(x, slot) ^ choice
              : b->state_of == NULL ? choice
                                    : b->state_of[(size_t)slot * b->n_labels + choice]);
}

/* ---- all clusters (Swendsen & Wang 1987) ----------------------------------------------------- */

/* Returns the smallest slot of a cluster, and halves the path to it. */
static uint32_t root_of(uint32_t *parent, uint32_t slot)
{
    while (parent[slot] != slot) {
        parent[slot] = parent[parent[slot]];
        slot = parent[slot];
    }
    return slot;
}

/* Joins the slots of all bonds that join in this chain. A larger root gets the smaller one as
 * parent, so that every cluster ends with its smallest slot as root.
 * @return false if the watch stopped the work. */
static bool join_slots(const chain *x, const uint16_t *joined)
{
    uint32_t *parent = x->by->parent;
    for (uint32_t slot = 0; slot < x->b->n_slots; ++slot) {
        parent[slot] = slot;
    }
    for (size_t e = 0; e < x->b->n_bonds; ++e) {
        if ((joined[e] >> x->lane & 1u) != 0) {
            const uint32_t a = root_of(parent, x->b->bond[e].slot[0]);
            const uint32_t b = root_of(parent, x->b->bond[e].slot[1]);
            parent[a < b ? b : a] = a < b ? a : b;
        }
        if (e % GBSI_WATCH_EVERY == 0 && stops(x->c, x->by, 2 * GBSI_WATCH_EVERY)) {
            return false;
        }
    }
    return true;
}

/* Means of m^2 and m^4 over the independent labels of all clusters, which are equally probable
 * without fields [M92]. With c the length of the sum of the unit vectors of a cluster, divided by N
 * (its number of variables; if clusters are turned, spins of opposite signs cancel):
 *     <m^2> = sum c^2
 *     <m^4> = (q + 1) / (q - 1) ((sum c^2)^2 - sum c^4) + sum c^4
 * which for q = 2 is 3 (sum c^2)^2 - 2 sum c^4. */
static void measure(const chain *x, double moment[2])
{
    const gbsi_bonds *b = x->b;
    const double q = b->n_labels;
    int64_t *size = x->by->size;
    double squares = 0.0;
    double fourths = 0.0;
    memset(size, 0, b->n_slots * sizeof *size);
    for (uint32_t slot = 0; slot < b->n_slots; ++slot) {
        size[x->by->parent[slot]] += b->turns && state_at(x, slot) == 0 ? -1 : 1;
    }
    for (uint32_t slot = 0; slot < b->n_slots; ++slot) {
        const double c = (double)size[slot] / b->n_slots;
        squares += c * c;
        fourths += c * c * (c * c);
    }
    moment[0] = squares;
    moment[1] = (q + 1.0) / (q - 1.0) * (squares * squares - fourths) + fourths;
}

static void move_all(const chain *x, const uint16_t *joined, double *moment)
{
    const gbsi_bonds *b = x->b;
    uint32_t *parent = x->by->parent;
    if (!join_slots(x, joined)) {
        return;
    }
    if (has_sums(b)) {
        clear_sums(x, 0, b->n_slots);
    }
    for (uint32_t slot = 0; slot < b->n_slots; ++slot) {
        parent[slot] = parent[parent[slot]]; /* parents are smaller, and have their roots already */
        if (has_sums(b)) {
            add_fields(x, slot, parent[slot]);
        }
    }
    if (moment != NULL) {
        measure(x, moment);
    }
    for (uint32_t slot = 0; slot < b->n_slots; ++slot) {
        if (parent[slot] == slot) {
            x->by->choice[slot] = (uint16_t)choose(x, slot);
        }
        apply(x, slot, x->by->choice[parent[slot]]);
    }
}

/* ---- one cluster after the other (Wolff 1989) ------------------------------------------------ */

/* Takes a slot into the cluster that grows, and adds its fields to the sums at slot 0. */
static void take(const chain *x, uint32_t slot, uint32_t *n)
{
    x->by->mark[slot] = x->by->last;
    x->by->member[(*n)++] = slot;
    if (has_sums(x->b)) {
        add_fields(x, slot, 0);
    }
}

/* Grows the cluster of a slot. @return the number of its members. */
static uint32_t grow(const chain *x, uint32_t seed, uint64_t cluster)
{
    const gbsi_bonds *b = x->b;
    const gbsi_clusters *c = x->c;
    uint32_t n = 0;
    take(x, seed, &n);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t slot = x->by->member[i];
        for (size_t k = b->start[slot]; k < b->start[slot + (size_t)1]; ++k) {
            const uint32_t e = b->bond_at[k];
            const gbsi_bond *bond = &b->bond[e];
            const uint32_t next = bond->slot[bond->slot[0] == slot];
            const uint64_t place = cluster * b->n_bonds + e;
            const bool equal = label_at(b, x, slot) == label_at(b, x, next);
            if (x->by->mark[next] != x->by->last && equal != (bond->differ != 0) &&
                joins(c, x->number, place, bond->most,
                      gbsi_word(c->seed, x->number, c->pass, place, GBSI_PURPOSE_BOND))) {
                take(x, next, &n);
            }
        }
    }
    return n;
}

/* Draws what a cluster that has grown does. If some bond always joins, the draw is that of
 * choose(): a cluster that is joined for ever and moves whenever it may would return to its state
 * after every second move. Otherwise the cluster moves whenever it may: a cluster without fields
 * always moves. Turned: probability min(1, exp(S)), S the change of the log density. Labels:
 * Metropolised Gibbs (Liu 1996, Peskun's theorem and a modified discrete-state Gibbs sampler,
 * Biometrika 83), label y != x with probability w_y / (W - w_x), accepted with probability
 * min(1, (W - w_x) / (W - w_y)).
 * @param u, v in [0, 1). @return whether it turns, or its label. */
static uint32_t choose_other(const chain *x, uint32_t label, double u, double v)
{
    const gbsi_bonds *b = x->b;
    if (b->turns) {
        const double change = b->field == NULL ? 0.0 : (double)x->by->sum[0] * b->unit;
        return v < (b->always ? 1.0 / (1.0 + gbsi_exp(-change)) : gbsi_exp(change));
    }
    const double total = weigh(x, 0);
    double others = 0.0;
    if (b->always) {
        return pick(x->by->w, b->n_labels, total, u);
    }
    x->by->w[label] = 0.0;
    for (uint32_t k = 0; k < b->n_labels; ++k) {
        others += x->by->w[k];
    }
    if (others == 0.0) {
        return label;
    }
    const uint32_t other = pick(x->by->w, b->n_labels, others, u);
    const double back = total - x->by->w[other];
    return v * back < others ? other : label;
}

static void move_some(const chain *x)
{
    const gbsi_bonds *b = x->b;
    const gbsi_clusters *c = x->c;
    worker *by = x->by;
    for (uint64_t cluster = 0; cluster < c->n_clusters; ++cluster) {
        uint32_t word[8];
        if (by->last == UINT32_MAX) {
            memset(by->mark, 0, b->n_slots * sizeof *by->mark);
            by->last = 0;
        }
        ++by->last;
        for (uint32_t i = 0; i < 2; ++i) {
            gbsi_philox(c->seed, x->number, c->pass, (uint32_t)(2 * cluster + i),
                        GBSI_PURPOSE_CLUSTER, word + 4 * i);
        }
        if (has_sums(b)) {
            clear_sums(x, 0, 1);
        }
        const uint32_t seed = gbsi_below(word[0], word[1], b->n_slots);
        const uint32_t n = grow(x, seed, cluster);
        const uint32_t choice =
            choose_other(x, b->turns ? 0 : label_at(b, x, seed), gbsi_uniform(word[2], word[3]),
                         gbsi_uniform(word[4], word[5]));
        for (uint32_t i = 0; i < n; ++i) {
            apply(x, by->member[i], choice);
        }
        if (stops(c, by, (uint64_t)n * 20)) {
            return;
        }
    }
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void move_chains(void *context, uint32_t member)
{
    const gbsi_clusters *c = context;
    const uint32_t lanes = c->setting.lanes;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(c->setting.n_chains, 1, member, c->n_workers, &first, &end);
    for (uint64_t i = first; i < end && !stops(c, &c->worker[member], 0); ++i) {
        const uint32_t g = (uint32_t)(i / lanes);
        const chain x = {.c = c,
                         .b = c->bonds,
                         .by = &c->worker[member],
                         .state = c->setting.group[g].state,
                         .lane = (uint32_t)(i % lanes),
                         .lanes = lanes,
                         .bytes = c->setting.plan->value_bytes,
                         .number = c->setting.first_chain + (uint32_t)i};
        if (c->n_clusters == 0) {
            move_all(&x, c->joins + g * c->bonds->n_bonds,
                     c->moment == NULL ? NULL : c->moment + 2 * i);
        } else {
            move_some(&x);
        }
    }
}

/* Runs the job of every member: on the threads of the pool, or one after the other if the work ends
 * before a second thread has woken up. */
static void run_members(gbsi_clusters *c, void (*job)(void *context, uint32_t member))
{
    const uint64_t each = c->bonds->n_bonds + (uint64_t)c->bonds->n_slots;
    if (c->setting.n_chains * each >= LEAST_SHARED) {
        gbsi_pool_run(c->setting.pool, job, c);
        return;
    }
    for (uint32_t member = 0; member < c->n_workers; ++member) {
        job(c, member);
    }
}

void gbsi_clusters_move(gbsi_clusters *c, uint64_t pass, gbsi_watch *watch)
{
    c->pass = pass;
    c->watch = watch;
    if (c->n_clusters == 0) {
        run_members(c, draw_bonds);
    }
    if (!gbsi_watch_stopped(watch)) {
        run_members(c, move_chains);
    }
}

gbs_status gbsi_clusters_measure(gbsi_clusters *c, gbs_error *err)
{
    if (c->n_clusters > 0 || has_sums(c->bonds) || c->moment != NULL) {
        return GBS_OK;
    }
    for (uint32_t i = 0; i < c->n_workers; ++i) {
        c->worker[i].size = gbsi_alloc_array(c->bonds->n_slots, sizeof *c->worker[i].size);
        GBSI_PASS(GBSI_HAVE(err, "clusters", c->worker[i].size));
    }
    c->moment = gbsi_alloc_array_zero(2 * (size_t)c->setting.n_chains, sizeof *c->moment);
    return GBSI_HAVE(err, "clusters", c->moment);
}

uint64_t gbsi_clusters_measure_bytes(uint32_t n_slots, uint32_t n_chains, uint32_t n_threads)
{
    return (uint64_t)n_threads * n_slots * sizeof(int64_t) +
           2 * (uint64_t)n_chains * sizeof(double);
}

void gbsi_clusters_moments(const gbsi_clusters *c, uint32_t number, double *square, double *fourth)
{
    *square = c->moment == NULL ? (double)NAN : c->moment[2 * (size_t)number];
    *fourth = c->moment == NULL ? (double)NAN : c->moment[2 * (size_t)number + 1];
}

double gbsi_clusters_operations(const gbsi_clusters *c, uint32_t n_chains)
{
    return n_chains * (NS_BOND * (double)c->bonds->n_bonds + NS_VARIABLE * c->bonds->n_slots);
}

/* ---- life ------------------------------------------------------------------------------------ */

uint64_t gbsi_clusters_bytes(const gbsi_pass_setting *setting, uint64_t n_clusters)
{
    const gbsi_plan *plan = setting->plan;
    uint32_t n_labels = 2;
    (void)gbsi_bonds_label(plan->model, &n_labels);
    const uint64_t cells = n_clusters == 0 ? (uint64_t)plan->n_slots * n_labels : n_labels;
    const uint64_t scratch = sizeof(worker) + cells * (sizeof(int64_t) + 1) +
                             n_labels * sizeof(double) +
                             plan->n_slots * (2 * sizeof(uint32_t) + sizeof(uint16_t));
    return sizeof(gbsi_clusters) + gbsi_bonds_bytes(plan, n_clusters > 0) +
           (n_clusters == 0 ? setting->n_groups * plan->model->factors.n_factors * 2 : 0) +
           setting->n_threads * scratch;
}

static gbs_status take_worker(const gbsi_clusters *c, worker *by, gbs_error *err)
{
    const gbsi_bonds *b = c->bonds;
    const bool all = c->n_clusters == 0;
    const size_t cells = (all ? b->n_slots : 1) * (size_t)(b->turns ? 1 : b->n_labels);
    by->w = gbsi_alloc_array(b->n_labels, sizeof *by->w);
    GBSI_PASS(GBSI_HAVE(err, "clusters", by->w));
    if (all) {
        by->parent = gbsi_alloc_array(b->n_slots, sizeof *by->parent);
        by->choice = gbsi_alloc_array(b->n_slots, sizeof *by->choice);
        GBSI_PASS(GBSI_HAVE(err, "clusters", by->parent, by->choice));
    } else {
        by->mark = gbsi_alloc_array_zero(b->n_slots, sizeof *by->mark);
        by->member = gbsi_alloc_array(b->n_slots, sizeof *by->member);
        GBSI_PASS(GBSI_HAVE(err, "clusters", by->mark, by->member));
    }
    if (b->field != NULL) {
        by->sum = gbsi_alloc_array(cells, sizeof *by->sum);
        GBSI_PASS(GBSI_HAVE(err, "clusters", by->sum));
    }
    if (b->state_of != NULL) {
        by->lacks = gbsi_alloc_array(cells, sizeof *by->lacks);
        GBSI_PASS(GBSI_HAVE(err, "clusters", by->lacks));
    }
    return GBS_OK;
}

/* Checks that every bond of a pass has words of its own. */
static gbs_status check_places(const gbsi_clusters *c, gbs_error *err)
{
    const uint64_t each = c->bonds->n_bonds > 8 ? c->bonds->n_bonds : 8;
    const uint64_t n = c->n_clusters > 1 ? c->n_clusters : 1;
    return gbsi_places_check(n > GBSI_MOST_PLACES / each ? UINT64_MAX : n * each, err);
}

gbs_status gbsi_clusters_new(const gbsi_pass_setting *setting, uint64_t n_clusters,
                             gbsi_clusters **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_clusters *c = gbsi_alloc_zero(sizeof *c);
    GBSI_PASS(GBSI_HAVE(err, "clusters", c));
    c->setting = *setting;
    c->setting.options = NULL;
    c->seed = setting->options->seed;
    c->n_clusters = n_clusters;
    c->words = gbsi_words_of(setting->level);
    GBSI_TRY(gbsi_bonds_new(setting->plan, n_clusters > 0, &c->bonds, err));
    GBSI_TRY(check_places(c, err));
    if (n_clusters == 0) {
        c->joins = gbsi_alloc_array(setting->n_groups * c->bonds->n_bonds, sizeof *c->joins);
        GBSI_TRY(GBSI_HAVE(err, "clusters", c->joins));
    }
    const uint32_t n_workers = gbsi_pool_size(setting->pool);
    c->worker = gbsi_alloc_array_zero(n_workers, sizeof *c->worker);
    GBSI_TRY(GBSI_HAVE(err, "clusters", c->worker));
    c->n_workers = n_workers;
    for (uint32_t i = 0; i < n_workers; ++i) {
        c->worker[i].spends = i == 0;
        GBSI_TRY(take_worker(c, &c->worker[i], err));
    }
    *out = c;
    c = NULL;
cleanup:
    gbsi_clusters_free(c);
    return status;
}

void gbsi_clusters_free(gbsi_clusters *c)
{
    if (c == NULL) {
        return;
    }
    for (uint32_t i = 0; i < c->n_workers; ++i) {
        worker *by = &c->worker[i];
        GBSI_FREE(by->parent, by->sum, by->lacks, by->choice, by->w, by->mark, by->member,
                  by->size);
    }
    gbsi_bonds_free(c->bonds);
    GBSI_FREE(c->joins, c->worker, c->moment, c);
}

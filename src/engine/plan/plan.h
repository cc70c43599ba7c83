/* SPDX-License-Identifier: Apache-2.0 */
/* The model compiled for one kind of scan, as FFTW compiles a transform. Each variable gets the
 * class with the cheapest exact conditional, and a slot, whose number follows the order of use. Its
 * neighbourhood is then packed. A plan is read-only and shared by all chains. The log-weight of
 * state a is a sum that begins with field[a] and continues with the neighbours (or terms) in
 * ascending order of slots [M2]. */
#ifndef GBSI_PLAN_PLAN_H
#define GBSI_PLAN_PLAN_H

#include "base/exact_sum.h"
#include "graph/graph.h"

/* Classes of variables, by the form of their conditional. A batch processes the classes in this
 * order. */
typedef enum gbsi_class {
    GBSI_CLASS_ISING, /* binary variable with binary neighbours and finite factors of two variables:
                         log-odds = f + sum w x [M3] */
    GBSI_CLASS_POTTS, /* all factors of two variables are J [x_i = x_j] with finite J [M4] */
    GBSI_CLASS_PAIRWISE, /* factors of two variables of any kind */
    GBSI_CLASS_TABLE,    /* tables of any number of variables */
    GBSI_CLASS_LOGICAL,  /* logical factors and spin products, also together with tables [M5] */
    GBSI_CLASS_PRECISE,  /* sums in double, because float sums would have errors above 1e-4 [M13] */
    GBSI_CLASS_LATTICE, /* models of spins stored as bits [M16], which src/engine/lattice/ runs; not
                           used in plans */
    GBSI_N_CLASSES,
} gbsi_class;

/* Form of a conditional, as bits. Log-weights are added, weights are multiplied. A variable whose
 * log-weights span less than GBSI_LINEAR_SPAN uses weights and needs no exponentials or logarithms
 * [M15]. Plans for runs with inverse temperatures have no linear slots. */
#define GBSI_ODDS          1u    /* binary and finite: the conditional is the odds of state 1 */
#define GBSI_LINEAR        2u    /* weights or odds; without this bit their natural logarithms */
#define GBSI_DOUBLE        4u    /* only during compilation: tables of class PRECISE */
#define GBSI_LINEAR_SPAN   40.0  /* e^-40 2^-64 is still a normal float */
#define GBSI_LINEAR_DEGREE 1000u /* most factors of a linear slot, each with an error of 2^-24 */

/* Variables with larger rounding errors of log-weights are PRECISE */
#define GBSI_ROUNDING_LIMIT 1e-4
/* Limit that replaces GBSI_ROUNDING_LIMIT if the plan options set `coarse` */
#define GBSI_COARSE_LIMIT 1e-2
#define GBSI_LONG_ROW     64u /* longer ISING rows are summed in 16 strided partial sums */
#define GBSI_LONG_TERM    16u /* longer logical and spin terms keep counters */

/* A factor as stored for one of its variables, in the classes TABLE, LOGICAL and PRECISE. */
typedef enum gbsi_term_kind {
    GBSI_TERM_TABLE,
    GBSI_TERM_LOGICAL,
    GBSI_TERM_SPIN,
    GBSI_TERM_POTTS,
    GBSI_TERM_NOISY, /* only in class PRECISE */
} gbsi_term_kind;

typedef struct gbsi_term {
    uint8_t kind; /* a gbsi_term_kind */
    uint8_t head; /* LOGICAL: the last neighbour is the head, which is not counted. NOISY: the only
                     link is to the child */
    uint8_t own_body; /* LOGICAL: the variable's own literal is in the body and is part of the
                         count; NOISY: the variable is a parent, and its cost is part of the sum */
    uint32_t n; /* number of links, which are link[first] to link[first + n - 1]; if the factor has
                   a counter, only the link to the head is stored */
    uint32_t n_others; /* number of the factor's other variables */
    uint32_t literal;  /* LOGICAL: own state that makes the own literal true */
    uint32_t counter;  /* index of the factor's counter; GBSI_NONE: the factor has none, and kernels
                          count true literals; NOISY: index in plan->noisy */
    size_t first;
    size_t base; /* TABLE: pool[base + sum x*stride (+ a)]
                    LOGICAL: index c = body neighbours true, or 2c + head;
                        odds: pool[base + c]; else pool[base + 2c + (own literal true)]
                    SPIN: odds: pool[base + down], down = 1 if the others' product is -1; else
                        pool[base + (a ^ down)] for own state a
                    POTTS: pool[base + (x = a)] (log-weights only)
                    NOISY: own costs plan->cost[base + a], if own_body
                    linear: exp() of all of these; unless odds, the maximum of each row is 1 */
} gbsi_term;

typedef struct gbsi_link {
    uint32_t slot;
    uint32_t aux; /* TABLE: stride, in pool entries; LOGICAL: the state that makes the literal true
                   */
} gbsi_link;

/* A link from a slot to the counter of a factor. The counter has the number of true literals of the
 * factor (SPIN: of spins in state 1), and is updated when the slot changes. */
typedef struct gbsi_counter_link {
    uint32_t counter;
    uint32_t literal; /* state of the slot that is counted */
} gbsi_counter_link;

/* A noisy factor in the form of a sum, over its parents, of costs -ln q_i(u_i). Costs are in fixed
 * point, and the order of the sum therefore does not matter. A cost of plus infinity is stored as
 * `never`, which is more than all other costs together. */
typedef struct gbsi_noisy_sum {
    uint32_t counter; /* counter of the low half of the sum; the high half has the next number */
    uint32_t effect;  /* state of the child */
    bool falling;     /* the member `falling` of gbsi_noisy */
    int64_t leak;     /* cost of the leak, which is part of every sum */
    int64_t never;
    double unit; /* amount of natural logarithm for which a cost of 1 stands */
} gbsi_noisy_sum;

/* A link from a slot to a noisy factor whose sum it changes. The slot's costs are plan->cost[base +
 * state]. */
typedef struct gbsi_cost_link {
    uint32_t noisy;
    uint32_t base;
} gbsi_cost_link;

typedef union gbsi_edge {
    float coupling; /* ISING: w [M3], POTTS: J; linear slots: exp(w) or exp(J) */
    uint32_t base;  /* PAIRWISE: pool[base + x * (odds ? 1 : k) + a] */
} gbsi_edge;

/* The packing for groups of one chain, sliced ELL: the sixteen lanes of a slice are sixteen
 * consecutive slots. A slice is regular if the same operations serve all its slots, which then have
 * equal class, form and arity. In class TABLE, terms of a regular slice are padded to an equal
 * number of links. Element d of the slot in lane i is at [start + 16 d + i]. Padding does not
 * change results, because it consists of neutral couplings, or of strides of 0 into neutral entries
 * of the pool. Irregular slices are processed slot by slot, from rows. */
typedef struct gbsi_slice {
    size_t link;    /* index of the slice's first element in slot[] and, with terms, in stride[];
                       irregular: in plan->neighbour */
    size_t value;   /* index of the slice's first element in coupling[] (ISING, POTTS) or base[]
                       (PAIRWISE, TABLE) */
    size_t counted; /* mixed: index in base[] of the indices of 16 by_count tables (or GBSI_NONE),
                       which 16 degrees follow; irregular: index in base[] of 17 row starts,
                       relative to `link` */
    uint32_t width; /* number of neighbours or terms of each slot, with padding (PAIRWISE: one term
                       per neighbour) */
    uint16_t depth; /* number of links of each term; 1 for neighbours */
    uint8_t regular;
    uint8_t mixed;  /* ISING, POTTS: some slots have by_count tables and others do not */
    uint32_t table; /* the by_count table that all slots share; GBSI_NONE: no shared table */
} gbsi_slice;

typedef struct gbsi_sell {
    gbsi_slice *slice; /* [n_slots / 16 rounded up], NULL: the plan has no slices */
    uint32_t *slot;
    size_t n_links;
    uint32_t *stride; /* [n_links] stride of each link of a term */
    float *coupling;
    size_t n_couplings;
    uint32_t
        *base; /* pool indices for terms; see gbsi_slice.counted for mixed and irregular slices */
    size_t n_bases;
    bool has_terms; /* some regular slice has class PAIRWISE, TABLE or PRECISE */
} gbsi_sell;

/* A compiled model. Arrays whose elements are all equal are not stored; their pointers are NULL. */
typedef struct gbsi_plan {
    const gbsi_conditioned *model; /* borrowed */
    const gbsi_graph *graph; /* borrowed; the edges of the graph determine the levels; NULL if it is
                                no longer needed */
    uint32_t n_slots;
    uint32_t n_sampled; /* number of variables of the whole model if the plan is for a rank's part
                           of a model; else n_slots */
    uint32_t *slot_of;  /* [n_slots] slot of each variable */
    uint32_t *variable_of; /* [n_slots] variable of each slot */
    uint32_t *arity;       /* arity of each slot; NULL: all slots have max_arity */
    uint8_t *type; /* class and form of each slot, gbsi_type_of(); NULL: all slots have same_type */
    uint8_t same_type;
    uint32_t max_arity;
    uint32_t value_bytes; /* 1 if every arity is <= 256, else 2 */
    uint32_t n_of_class[GBSI_N_CLASSES];
    gbsi_sum_units density_units; /* units in which log densities are summed */
    bool by_type;                 /* slots are sorted by class, form and arity */
    bool at_once;                 /* updates of a pass read the states before the pass */
    uint32_t n_levels;            /* number of levels of the sequence, if it repeats */
    uint32_t *level_start; /* [n_levels + 1] first slot of each level, NULL unless the sequence
                              repeats and has every variable once */

    gbsi_offsets field_start; /* [n_slots] */
    float *field; /* one number for a slot with odds, otherwise one number per state; 0 for PRECISE
                     slots */
    double *field64; /* fields of PRECISE slots, also indexed by field_start; NULL: no slot is
                        PRECISE */

    /* Neighbours of ISING, POTTS and PAIRWISE slots; read them with gbsi_plan_row(). If the plan
     * has slices, these arrays have only the slots of irregular slices. */
    gbsi_offsets row_start; /* [n_slots] */
    size_t n_ends;
    uint32_t *neighbour; /* [n_ends] slots of neighbours, ascending within a row */
    bool has_edges;
    gbsi_edge *edge;    /* [n_ends] edge to each neighbour; NULL if every slot uses by_count */
    uint32_t *by_count; /* [n_slots] for ISING and POTTS slots whose couplings are all equal: start
                           of a table in the pool that replaces the edges. Entry c is for c <= 255
                           neighbours in state 1 (ISING) or in the own state (POTTS). GBSI_NONE: the
                           slot has no table; NULL: no slot has a table */
    gbsi_offsets term_start; /* [n_slots] start of the terms of TABLE, LOGICAL and PRECISE slots */
    gbsi_term *term;         /* NULL if the plan has no terms */
    gbsi_link *link;
    size_t n_links;
    float *pool; /* derived tables in float */
    size_t n_pool;
    double *pool64; /* derived tables of PRECISE slots; NULL: no slot needs doubles */
    size_t n_pool64;
    uint32_t n_counters;
    size_t *counter_start; /* [n_slots + 1] start of the links to counters that each slot changes;
                              NULL: no counters */
    gbsi_counter_link *counter_link;
    uint32_t n_noisy;
    gbsi_noisy_sum *noisy; /* [n_noisy]; NULL if no factor is noisy */
    int64_t *cost;
    size_t n_costs;
    uint32_t
        *noisy_of; /* [n_factors] index in `noisy` of each noisy factor; NULL: no factor is noisy */
    uint32_t *cost_at; /* for each scope entry of the model: index in `cost` of the costs of this
                          parent */
    size_t
        *cost_start; /* [n_slots + 1] start of the links to noisy factors that each slot changes */
    gbsi_cost_link *cost_link;
    gbsi_sell sell;
    size_t bytes;
} gbsi_plan;

static inline uint8_t gbsi_type_of(gbsi_class class_id, unsigned form)
{
    return (uint8_t)((unsigned)class_id << 4 | form);
}

static inline gbsi_class gbsi_plan_class(const gbsi_plan *plan, uint32_t slot)
{
    return (gbsi_class)((plan->type == NULL ? plan->same_type : plan->type[slot]) >> 4);
}

/* Returns the form of a slot: GBSI_ODDS | GBSI_LINEAR. */
static inline unsigned gbsi_plan_form(const gbsi_plan *plan, uint32_t slot)
{
    return (plan->type == NULL ? plan->same_type : plan->type[slot]) & 15u;
}

static inline uint32_t gbsi_plan_arity(const gbsi_plan *plan, uint32_t slot)
{
    return plan->arity == NULL ? plan->max_arity : plan->arity[slot];
}

static inline uint32_t gbsi_plan_by_count(const gbsi_plan *plan, uint32_t slot)
{
    return plan->by_count == NULL ? GBSI_NONE : plan->by_count[slot];
}

/* The neighbours of a slot, for rows and for slices. Element d of each array is at [d * step]. */
typedef struct gbsi_row {
    uint32_t *slot;  /* slots of the neighbours, ascending; in slices, padding follows, which has
                        neutral couplings */
    float *coupling; /* ISING and POTTS slots without a by_count table */
    uint32_t *base;  /* PAIRWISE */
    size_t step;
    uint32_t n;
} gbsi_row;

static inline gbsi_row gbsi_plan_packed_row(const gbsi_plan *plan, size_t first, size_t end)
{
    const bool bare = plan->edge == NULL;
    return (gbsi_row){.slot = plan->neighbour + first,
                      .coupling = bare ? NULL : &plan->edge[first].coupling,
                      .base = bare ? NULL : &plan->edge[first].base,
                      .step = 1,
                      .n = (uint32_t)(end - first)};
}

/* Returns the row of a slot including padding; empty for slots with terms. */
static inline gbsi_row gbsi_plan_room(const gbsi_plan *plan, uint32_t slot)
{
    const gbsi_sell *sell = &plan->sell;
    const uint32_t lane = slot % 16;
    if (sell->slice == NULL) {
        return gbsi_plan_packed_row(plan, gbsi_offset(&plan->row_start, slot),
                                    gbsi_offset(&plan->row_start, slot + (size_t)1));
    }
    const gbsi_slice *s = &sell->slice[slot / 16];
    if (!s->regular) {
        const uint32_t *place = sell->base + s->counted + lane;
        return gbsi_plan_packed_row(plan, s->link + place[0], s->link + place[1]);
    }
    return (gbsi_row){.slot = sell->slot + s->link + lane,
                      .coupling = sell->coupling + s->value + lane,
                      .base = sell->base + s->value + lane,
                      .step = 16,
                      .n = s->width};
}

/* Returns the row of a slot without padding. If the slot has a by_count table, only row.slot is
 * valid, not row.coupling. */
static inline gbsi_row gbsi_plan_row(const gbsi_plan *plan, uint32_t slot)
{
    gbsi_row row = gbsi_plan_room(plan, slot);
    if (row.step == 1) {
        return row;
    }
    const gbsi_sell *sell = &plan->sell;
    const gbsi_slice *s = &sell->slice[slot / 16];
    const uint32_t lane = slot % 16;
    if (gbsi_plan_class(plan, slot) == GBSI_CLASS_PAIRWISE) {
        while (row.n > 0 && sell->stride[s->link + lane + 16 * (size_t)(row.n - 1)] == 0) {
            --row.n; /* padding must not count as a neighbour */
        }
    } else if (s->mixed && sell->base[s->counted + lane] != GBSI_NONE) {
        row.n = sell->base[s->counted + 16 + lane];
    }
    return row;
}

/* Consecutive updates of one class, form and arity inside a batch. */
typedef struct gbsi_piece {
    uint64_t place; /* place of the first update */
    uint32_t n;
    uint32_t first_slot; /* slot of the first update, if the slots are contiguous */
    uint32_t arity;
    uint8_t class_id, form, contiguous;
    uint8_t counts; /* 1 if the updates count in the estimates, else 0; 0 occurs only in a schedule
                       with wants_last */
} gbsi_piece;

/* One pass of a sequence, cut into batches. No two variables of a batch are neighbours. Pieces are
 * in the order of their places. */
typedef struct gbsi_schedule {
    uint64_t n_places;
    uint32_t n_batches;
    size_t *batch_start; /* [n_batches + 1] first piece of each batch */
    gbsi_piece *piece;
    size_t n_pieces;
    uint32_t *slot;      /* [n_places + 16] slot of each place, then the last slot 16 times; NULL if
                            every piece is contiguous, so that no list is needed */
    bool wants_position; /* input: whether `position` is filled too */
    bool wants_last; /* input: whether only the last update of each variable in the pass counts */
    const uint8_t *only; /* [n_variables] if wants_last is set: 1 if the last update of the variable
                            counts; NULL if the last update of every variable counts */
    uint32_t *position;  /* [n_places + 16] index in the sequence of each place, padded; or NULL */
    /* [n_pieces] borrowed; place of each piece's first update in the whole pass, from which the
     * random numbers of the piece follow. The array is used if other processes run parts of the
     * pass; NULL if each place equals piece.place. */
    const uint64_t *global;
    /* capacities and scratch, kept so that a scan whose sequence changes in every pass allocates
     * memory once */
    size_t batch_capacity, piece_capacity, slot_capacity, position_capacity, scratch_capacity;
    uint32_t *scratch;
} gbsi_schedule;

/* Returns the slot of the i-th place of a piece. */
static inline uint32_t gbsi_piece_slot(const gbsi_schedule *schedule, const gbsi_piece *piece,
                                       uint32_t i)
{
    return piece->contiguous ? piece->first_slot + i : schedule->slot[piece->place + i];
}

/* Counts the updates of each slot in the pass. @param n_updates [n_slots], out. */
void gbsi_schedule_count(const gbsi_plan *plan, const gbsi_schedule *schedule, uint32_t *n_updates);

/* What the plan will be used for, and how it must be made. */
typedef struct gbsi_plan_options {
    bool repeats; /* whether every pass has the given sequence. If so, slots are numbered in the
                     order of use, otherwise by class, arity and nearness in memory */
    bool sell;    /* whether groups of one chain will use the plan; if passes repeat as well, slices
                     are made instead of rows */
    bool at_once; /* updates of a pass read the states before the pass, not the states after earlier
                     updates */
    bool heated; /* inverse temperatures will multiply log-weights, so that no slot may be linear */
    bool coarse; /* rounding errors of sums up to GBSI_COARSE_LIMIT are allowed */
    bool measure; /* whether only the bytes and counts of the plan are needed, and the plan will not
                     be run. Neighbourhoods are then left out if the bytes and counts do not depend
                     on them */
    /* The following members are for the plan of a rank's part of a model, which must give the same
     * numbers as the plan of the whole model. */
    const uint32_t *order; /* [n_variables] variable of each slot; if NULL, gbsi_plan_new() chooses
                              the order by `repeats` */
    const uint8_t *by_count;      /* [n_variables] 1 if the variable uses a by_count table; if NULL,
                                     gbsi_plan_new() decides */
    gbsi_sum_units density_units; /* if 0, gbsi_plan_new() chooses the units */
    uint32_t n_sampled;           /* if 0, the number of the model's variables is used */
} gbsi_plan_options;

/* Compiles a model. @param sequence [n] free variables of one pass. */
gbs_status gbsi_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                         const uint32_t *sequence, size_t n, gbsi_plan_options options,
                         gbsi_plan **out, gbs_error *err);
void gbsi_plan_free(gbsi_plan *plan);

/* Splits one pass of a sequence into batches. @param schedule must be zeroed before the first call;
 * later calls reuse its arrays. */
gbs_status gbsi_plan_level(const gbsi_plan *plan, const uint32_t *sequence, size_t n,
                           gbsi_schedule *schedule, gbs_error *err);
/* Splits one pass of a sequence into given batches, numbered from 0, none of which is empty. The
 * updates of a batch need not be independent. @param batch [n] batch of each update. */
gbs_status gbsi_plan_batches(const gbsi_plan *plan, const uint32_t *sequence, const uint32_t *batch,
                             size_t n, gbsi_schedule *schedule, gbs_error *err);
/* Makes the schedule of the pass that the plan was made for, in constant time and without a list of
 * slots. Requires plan->level_start. */
gbs_status gbsi_plan_own_pass(const gbsi_plan *plan, gbsi_schedule *schedule, gbs_error *err);
void gbsi_schedule_free(gbsi_schedule *schedule); /* frees the arrays */

#endif

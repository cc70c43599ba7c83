/* SPDX-License-Identifier: Apache-2.0 */
/* The model compiled for one kind of scan, as FFTW compiles a transform. Each variable gets the
 * class with the cheapest exact conditional and a slot number in the order of use, and its
 * neighbourhood is packed. A plan is read-only and shared by all chains. The log-weight of state a
 * is the sum of field[a], then of the neighbours (or terms) in ascending slot, [M2]. */
#ifndef GBSI_PLAN_PLAN_H
#define GBSI_PLAN_PLAN_H

#include "base/exact_sum.h"
#include "graph/graph.h"

/* Classes of variables, by their conditional, in the order in which a batch runs them. */
typedef enum gbsi_class {
    GBSI_CLASS_ISING, /* binary with binary neighbours, finite pairs: log-odds = f + sum w x [M3] */
    GBSI_CLASS_POTTS, /* pair factors J [x_i = x_j] with finite J [M4] */
    GBSI_CLASS_PAIRWISE, /* any tables of two variables */
    GBSI_CLASS_TABLE,    /* any tables */
    GBSI_CLASS_LOGICAL,  /* logical factors and spin products, perhaps with tables [M5] */
    GBSI_CLASS_PRECISE,  /* double, because float sums would err by more than 1e-4 [M13] */
    GBSI_CLASS_LATTICE,  /* models of spins in bits [M16]: run by src/engine/lattice/, never in a
                            plan */
    GBSI_N_CLASSES,
} gbsi_class;

/* Form of a conditional, as bits. Log-weights are added, weights are multiplied: a variable whose
 * log-weights span less than GBSI_LINEAR_SPAN is run with weights and needs no exponentials or
 * logarithms [M15]. Plans for runs with inverse temperatures have no linear slots. */
#define GBSI_ODDS          1u    /* binary and finite: one number, the odds of state 1 */
#define GBSI_LINEAR        2u    /* weights or odds; without it their natural logarithms */
#define GBSI_DOUBLE        4u    /* set while compiling: the slot has tables of class PRECISE */
#define GBSI_LINEAR_SPAN   40.0  /* e^-40 2^-64 is still a normal float */
#define GBSI_LINEAR_DEGREE 1000u /* limit at which rounding errors of 2^-24 add up to 1e-4 */

#define GBSI_ROUNDING_LIMIT 1e-4 /* a variable with larger errors of a log-weight is PRECISE */
#define GBSI_COARSE_LIMIT   1e-2 /* that limit if plan options say coarse */
#define GBSI_LONG_ROW       64u  /* ising rows longer than this are summed in 16 strided partials */
#define GBSI_LONG_TERM      16u  /* logical and spin terms longer than this keep counters */

/* A factor as one of its variables sees it: classes TABLE, LOGICAL and PRECISE. */
typedef enum gbsi_term_kind {
    GBSI_TERM_TABLE,
    GBSI_TERM_LOGICAL,
    GBSI_TERM_SPIN,
    GBSI_TERM_POTTS,
    GBSI_TERM_NOISY, /* of class PRECISE only */
} gbsi_term_kind;

typedef struct gbsi_term {
    uint8_t kind;     /* gbsi_term_kind */
    uint8_t head;     /* LOGICAL: the last neighbour is the head; it is not in the count. NOISY: the
                         only     link is to the child */
    uint8_t own_body; /* LOGICAL: the variable's own literal is in the body, so the counter has it;
                         NOISY: the variable is a parent, so the sum has its cost */
    uint32_t n; /* links: link[first .. first + n); with a counter only the link to the head */
    uint32_t n_others; /* variables of the factor besides this one */
    uint32_t literal;  /* LOGICAL: own state that makes the literal true */
    uint32_t counter;  /* index of the factor's counter; GBSI_NONE: count true neighbours; NOISY: in
                          plan->noisy */
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

/* A link to the counter of a factor, which counts its true literals (SPIN: states 1) as they
 * change. */
typedef struct gbsi_counter_link {
    uint32_t counter;
    uint32_t literal; /* own state that counts */
} gbsi_counter_link;

/* A noisy factor as a sum over its parents of costs -ln q_i(u_i), in fixed point, whose order
 * therefore does not matter. A cost of plus infinity is `never`, more than all others together. */
typedef struct gbsi_noisy_sum {
    uint32_t counter; /* counter of the low half of the sum; the high half has the next number */
    uint32_t effect;  /* state of the child */
    bool falling;     /* as in gbsi_noisy */
    int64_t leak;     /* the cost that is always there */
    int64_t never;
    double unit; /* a cost of 1, in natural logarithm */
} gbsi_noisy_sum;

/* A noisy factor whose sum a slot changes: by the costs plan->cost[base + state]. */
typedef struct gbsi_cost_link {
    uint32_t noisy;
    uint32_t base;
} gbsi_cost_link;

typedef union gbsi_edge {
    float coupling; /* ISING: w [M3], POTTS: J; linear: exp() of it */
    uint32_t base;  /* PAIRWISE: pool[base + x * (odds ? 1 : k) + a] */
} gbsi_edge;

/* The packing for groups of one chain: sliced ELL, where the sixteen lanes are sixteen consecutive
 * slots, a slice. A slice is regular if the same operations serve all its slots: the slots have
 * equal class, form and arity, and in class TABLE links are padded to the same number per term.
 * Element d of the slot in lane i is at [start + 16 d + i]. Padding changes nothing: it is a
 * neutral coupling, or stride 0 into neutral entries of the pool. Irregular slices are run slot by
 * slot, from rows. */
typedef struct gbsi_slice {
    size_t link;  /* start in slot[] and, with terms, in stride[]; irregular: in plan->neighbour */
    size_t value; /* start in coupling[] (ISING, POTTS) or base[] (PAIRWISE, TABLE) */
    size_t counted; /* mixed: start in base[] of 16 by_count tables (or GBSI_NONE), then 16 degrees;
                       irregular: start in base[] of 17 row starts, relative to link */
    uint32_t width; /* neighbours, or terms (PAIRWISE: one per neighbour) */
    uint16_t depth; /* links per term; 1 for neighbours */
    uint8_t regular;
    uint8_t mixed;  /* ISING, POTTS: some slots have by_count tables, not anyway */
    uint32_t table; /* the by_count table that all slots share; GBSI_NONE: none */
} gbsi_slice;

typedef struct gbsi_sell {
    gbsi_slice *slice; /* [n_slots / 16 rounded up], NULL unless asked for */
    uint32_t *slot;
    size_t n_links;
    uint32_t *stride; /* strides of terms, parallel to slot */
    float *coupling;
    size_t n_couplings;
    uint32_t *base; /* offsets for terms, mixed slices and irregular slices */
    size_t n_bases;
    bool has_terms; /* some regular slice has class PAIRWISE, TABLE or PRECISE */
} gbsi_sell;

/* Arrays whose elements are all equal are not stored: NULL stands for them. */
typedef struct gbsi_plan {
    const gbsi_conditioned *model; /* borrowed */
    const gbsi_graph *graph;       /* borrowed; its edges decide the levels; NULL: needed no more */
    uint32_t n_slots;
    uint32_t n_sampled;    /* number of variables of the whole model, if this plan is of a share;
                              else n_slots */
    uint32_t *slot_of;     /* [n_slots] by variable */
    uint32_t *variable_of; /* [n_slots] by slot */
    uint32_t *arity;       /* by slot; NULL: max_arity for all */
    uint8_t *type;         /* by slot: class and form, gbsi_type_of(); NULL: same_type for all */
    uint8_t same_type;
    uint32_t max_arity;
    uint32_t value_bytes; /* 1 if every arity is <= 256, else 2 */
    uint32_t n_of_class[GBSI_N_CLASSES];
    gbsi_sum_units density_units; /* units in which log densities are summed */
    bool by_type;                 /* slots ascend by class, form and arity */
    bool at_once;                 /* passes read the states before them */
    uint32_t n_levels;            /* levels of the sequence, if it repeats */
    uint32_t *level_start; /* [n_levels + 1] first slot of each level, if the sequence repeats and
                              has every variable once; else NULL */

    gbsi_offsets field_start; /* [n_slots] */
    float *field;             /* odds: one per slot; else one per state; 0 for PRECISE */
    double *field64;          /* fields of PRECISE, also by field_start; NULL: no slot is PRECISE */

    /* Neighbours of ISING, POTTS and PAIRWISE slots; read them with gbsi_plan_row(). With slices,
     * these arrays hold irregular slices only. */
    gbsi_offsets row_start; /* [n_slots] */
    size_t n_ends;
    uint32_t *neighbour; /* [n_ends] slots, ascending within a row */
    bool has_edges;
    gbsi_edge *edge;    /* parallel to neighbour; NULL if every slot uses by_count */
    uint32_t *by_count; /* by slot; for ISING and POTTS with the same coupling to all neighbours:
                           pool[by_count + c] for c neighbours in state 1 (ISING) or in the current
                           state (POTTS), c <= 255, edges unused; GBSI_NONE: neighbours one by one;
                           NULL: no slot has a table */
    gbsi_offsets term_start; /* [n_slots] terms of TABLE, LOGICAL and PRECISE */
    gbsi_term *term;         /* NULL if the plan has no terms */
    gbsi_link *link;
    size_t n_links;
    float *pool; /* derived tables */
    size_t n_pool;
    double *pool64; /* derived tables of PRECISE; NULL if no slot needs doubles */
    size_t n_pool64;
    uint32_t n_counters;
    size_t *counter_start; /* [n_slots + 1] counters that each slot changes; NULL: no counters */
    gbsi_counter_link *counter_link;
    uint32_t n_noisy;
    gbsi_noisy_sum *noisy; /* [n_noisy]; NULL if no factor is noisy */
    int64_t *cost;
    size_t n_costs;
    uint32_t *noisy_of; /* [n_factors] where noisy; NULL: no factor is */
    uint32_t *cost_at;  /* like factors.scope, of parents: where their costs begin */
    size_t *cost_start; /* [n_slots + 1] like counter_start */
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

/* GBSI_ODDS | GBSI_LINEAR */
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

/* The neighbours of a slot in either packing: element d of each array is at [d * step]. */
typedef struct gbsi_row {
    uint32_t *slot;  /* ascending; in slices followed by padding with neutral couplings */
    float *coupling; /* ISING and POTTS one by one */
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

/* The row of a slot with all its room, padding included; empty for slots with terms. */
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

/* The row of a slot. If a slot has a by_count table, only the slots of its row are valid, not the
 * couplings. */
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
            --row.n; /* in this class, padding must not be taken for a neighbour */
        }
    } else if (s->mixed && sell->base[s->counted + lane] != GBSI_NONE) {
        row.n = sell->base[s->counted + 16 + lane];
    }
    return row;
}

/* A run of updates of one class, form and arity inside a batch. */
typedef struct gbsi_piece {
    uint64_t place; /* of the first update */
    uint32_t n;
    uint32_t first_slot; /* if contiguous */
    uint32_t arity;
    uint8_t class_id, form, contiguous;
    uint8_t counts; /* 1: updates go into the estimates; 0 only in a schedule that wants_last */
} gbsi_piece;

/* One pass of a sequence in batches of mutually non-adjacent updates, in order of places. */
typedef struct gbsi_schedule {
    uint64_t n_places;
    uint32_t n_batches;
    size_t *batch_start; /* [n_batches + 1] first piece of each batch */
    gbsi_piece *piece;
    size_t n_pieces;
    uint32_t *slot; /* [n_places + 16] slots by place, the last slot repeated; NULL if every piece
                       is contiguous and no list was asked for */
    bool wants_position; /* set before levelling: also fill position */
    bool wants_last;     /* set before levelling: only the last update of a variable counts */
    const uint8_t *only; /* [n_variables] 1: variables to which wants_last applies; NULL: all */
    uint32_t *position;  /* [n_places + 16] index in the sequence by place, padded; or NULL */
    /* [n_pieces] borrowed; if other processes run parts of the pass: the place of each piece's
     * first update in the whole pass, for its random numbers; NULL: the same as piece.place. */
    const uint64_t *global;
    /* capacities and scratch, so that a scan whose sequence changes every pass allocates once */
    size_t batch_capacity, piece_capacity, slot_capacity, position_capacity, scratch_capacity;
    uint32_t *scratch;
} gbsi_schedule;

/* The slot of the i-th place of a piece. */
static inline uint32_t gbsi_piece_slot(const gbsi_schedule *schedule, const gbsi_piece *piece,
                                       uint32_t i)
{
    return piece->contiguous ? piece->first_slot + i : schedule->slot[piece->place + i];
}

/* Counts the updates of each slot in the pass. @param n_updates [n_slots], out. */
void gbsi_schedule_count(const gbsi_plan *plan, const gbsi_schedule *schedule, uint32_t *n_updates);

/* The intended use of the plan. */
typedef struct gbsi_plan_options {
    bool repeats; /* every pass has this sequence: number slots in the order of use; else by class,
                     arity and locality */
    bool sell;    /* groups of one chain will use it: if passes repeat, make slices, not rows */
    bool at_once; /* passes read the states before them, not those that they have made */
    bool heated;  /* inverse temperatures will multiply log-weights: no linear slots */
    bool coarse;  /* a bound of GBSI_COARSE_LIMIT on the rounding of sums will do */
    bool measure; /* true if only bytes and counts are needed and the plan will not be run:
                     neighbourhoods not needed for them are left out */
    /* These fields serve a share of a model, whose plan has to compute the same numbers as the plan
     * of the whole model: */
    const uint32_t *order;        /* [n_variables] by slot; NULL: found as above */
    const uint8_t *by_count;      /* [n_variables] 1: looks up tables by_count; NULL: found */
    gbsi_sum_units density_units; /* 0: found */
    uint32_t n_sampled;           /* 0: the model's variables */
} gbsi_plan_options;

/* Compiles a model. @param sequence [n] free variables of one pass. */
gbs_status gbsi_plan_new(const gbsi_conditioned *model, const gbsi_graph *graph,
                         const uint32_t *sequence, size_t n, gbsi_plan_options options,
                         gbsi_plan **out, gbs_error *err);
void gbsi_plan_free(gbsi_plan *plan);

/* Splits one pass of a sequence into batches. @param schedule zeroed before the first call, and
 * reused by later calls. */
gbs_status gbsi_plan_level(const gbsi_plan *plan, const uint32_t *sequence, size_t n,
                           gbsi_schedule *schedule, gbs_error *err);
/* Splits one pass of a sequence into given batches, numbered from 0, none of which is empty; the
 * updates of a batch need not be independent. @param batch [n] of each update. */
gbs_status gbsi_plan_batches(const gbsi_plan *plan, const uint32_t *sequence, const uint32_t *batch,
                             size_t n, gbsi_schedule *schedule, gbs_error *err);
/* The schedule of the pass that the plan was made for, in constant time and without a list of
 * slots; requires level_start. */
gbs_status gbsi_plan_own_pass(const gbsi_plan *plan, gbsi_schedule *schedule, gbs_error *err);
void gbsi_schedule_free(gbsi_schedule *schedule); /* frees the arrays */

#endif

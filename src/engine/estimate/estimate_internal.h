/* SPDX-License-Identifier: Apache-2.0 */
/* The data of an estimate, which estimate.c (layout, passes), batches.c (second moments) and
 * summary.c (results) use. Memory:
 *   per (cell, lane)  4 bytes (Rao-Blackwell) or 1 (counts) of fast sums, 8 of totals (counts: 2,
 *                     and 8 that only long batches touch), 8 of open batches that only long batches
 *                     touch, and with fewer than 4 chains 8 of half-time totals; where chains hold
 *                     their sums, 4 of totals and 4 that only long batches touch instead;
 *   per cell          8 bytes (16 with own update counts), and with 4 chains or more 8;
 *   per slot          1, 5 or 9 bytes (gbsi_offsets), 39 more with own update counts, and 16 more
 *                     of half-time counts with fewer than 4 chains;
 *   per run of slots of the same arity  24 bytes. */
#ifndef GBSI_ESTIMATE_ESTIMATE_INTERNAL_H
#define GBSI_ESTIMATE_ESTIMATE_INTERNAL_H

#include "estimate/accumulate.h"
#include "estimate/estimate.h"

/* largest number of passes between two flushes of the fast counts, which have one byte each */
#define GBSI_PASSES_OF_COUNTS 128u

/* Totals after 2^j passes, for split R-hat. */
typedef struct gbsi_half_time {
    uint64_t pass;     /* number of passes; 0 if there are no totals yet */
    float *total;      /* [group][cell][lane] */
    uint64_t *updates; /* [n_slots] numbers of updates; only if `counted` is set */
} gbsi_half_time;

/* Batches of the current block of passes; see batches.c. */
typedef struct gbsi_batches {
    uint64_t per_chain; /* batches per chain in a full block; a power of two */
    uint64_t length;    /* passes of a batch */
    uint64_t start;     /* number of passes done when the open batch began */
    uint64_t block_end; /* number of passes after which the block ends */
    uint64_t n_closed;  /* number of batches closed per chain in this block */
    bool open_used;     /* whether some open sum may differ from 0 */
    bool has_rate;      /* whether a block has ended, so that `rate` is valid */
    /* [n_cells] totals of all chains when this block began; NULL if half_time has them */
    double *start_total;
    /* [n_cells] sum of d_b^2 over the closed batches of this block and all chains */
    float *square;
    /* [n_cells] variance per pass and chain from the last full block; before the first block ends,
     * the reference r0 */
    float *rate;
    /* arrays that are used only if `counted` is set */
    double *cross;            /* [n_cells] sum of n_b d_b */
    uint64_t *updates_open;   /* [n_slots] number of updates when the open batch began */
    uint64_t *updates_start;  /* [n_slots] number of updates when the block began */
    double *n_sum, *n_square; /* [n_slots] sum of n_b, and sum of n_b^2, over the closed batches of
                                 this block */
} gbsi_batches;

typedef struct gbsi_cell_summary {
    double p, mcse, ess, rhat;
    double between; /* variance of p from the means of chains; 0 if there are too few chains */
} gbsi_cell_summary;

/* spread.c: the members that an estimate on several ranks needs in addition. */
typedef struct gbsi_spread {
    const gbs_ranks *ranks;
    gbsi_estimate *share;  /* estimate of all chains for the slots whose sums this rank keeps */
    uint32_t *first_slot;  /* [n_ranks + 1] first slot whose sums each rank keeps */
    size_t *first_cell;    /* [n_ranks + 1] first cell whose sums each rank keeps */
    uint32_t *first_group; /* [n_ranks + 1] first group of the chains of each rank */
    unsigned char *packed; /* buffer that carries the fast sums from rank to rank */
    gbs_message *out, *in; /* [n_ranks] */
    /* [n_cells] summaries of all slots from the last gbsi_estimate_tell(); NULL before the first */
    gbsi_cell_summary *told;
} gbsi_spread;

struct gbsi_estimate {
    gbsi_estimate_shape shape;
    const gbsi_accumulate *lanes;
    bool counted; /* whether slots have their own numbers of updates */
    /* whether R-hat compares the halves of each chain, because there are fewer than 4 chains */
    bool split;
    size_t n_cells;
    size_t n_runs;
    size_t bytes; /* number of bytes allocated */
    uint64_t n_passes;
    gbsi_offsets cell_start; /* [n_slots] */
    gbsi_arity_run *run;     /* [n_runs] */
    float *fast_sum;         /* [group][cell][lane] Rao-Blackwell: sums since the last flush */
    uint8_t *fast_count;     /* [group][cell][lane] counting: counts since the last flush */
    double *open;            /* [group][cell][lane] sums flushed earlier in the open batch */
    double *total;           /* [group][cell][lane] sums of closed batches */
    /* [group][cell][lane] counts of closed batches, in place of `total`, as long as batches are no
     * longer than the fast sums hold; or NULL */
    uint16_t *early;
    gbsi_held held;    /* if shape.held: functions by which chains tell the sums that they hold */
    uint32_t n_held;   /* number of passes since the chains last forgot their sums */
    float *held_total; /* [group][cell] totals if shape.held, in place of `total` */
    /* [group][cell] open sums if shape.held, in place of `open`. Floats suffice, because a batch is
     * a fixed fraction of its block and has few terms. */
    float *held_open;
    uint64_t *updates; /* [n_slots] updates per chain; only if `counted` is set */
    /* [n_slots] whether the slot was updated in the pass that was cut short; only if `counted` is
     * not set */
    bool *in_cut;
    bool is_cut;
    gbsi_batches batches;
    gbsi_half_time half[2]; /* older totals first; only if `split` is set */
    const gbsi_cell_stays
        *stays; /* [n_cells] stays by cell; borrowed; NULL if no stays are known */
    /* members for chains on several ranks; NULL if one rank has all chains */
    gbsi_spread *spread;
};

/* Kind of item for which an array has one element; gbsi_estimate_array has a member of this type.
 * Arrays of the hot loops are aligned. The other arrays come from calloc(), whose large blocks take
 * no memory until they are written. Open sums and totals of counts are first written when a batch
 * becomes too long for the fast sums. */
typedef enum gbsi_per {
    GBSI_PER_RUN,   /* run of slots of equal arity */
    GBSI_PER_PLACE, /* [group][cell][lane] */
    GBSI_PER_CELL,
    GBSI_PER_SLOT,
} gbsi_per;

typedef struct gbsi_estimate_array {
    /* address of the pointer to the array, which is copied as bytes because its type varies */
    void *pointer;
    size_t n, size;
    /* whether the array is saved; false if the array can be computed from the shape, or belongs to
     * a pass that was cut short */
    bool saved;
    gbsi_per per;
    bool hot;
} gbsi_estimate_array;

enum { GBSI_ESTIMATE_ARRAYS = 20 };

/* estimate.c: lists all arrays, whose numbers begin at 0. @return number of arrays. */
size_t gbsi_estimate_arrays(gbsi_estimate *e, gbsi_estimate_array out[GBSI_ESTIMATE_ARRAYS]);

/* What the next gbsi_estimate_end_pass() does with the fast sums: leaves them, reads them, or takes
 * them and sets them to 0. */
typedef enum gbsi_end { GBSI_END_LEAVES, GBSI_END_READS, GBSI_END_TAKES } gbsi_end;
gbsi_end gbsi_estimate_next_end(const gbsi_estimate *e);

/* spread.c */
/* Sends the fast sums of this rank's chains to the ranks that keep the sums of all chains, and
 * receives the sums that this rank keeps. @param taken whether the fast sums are set to 0
 * afterwards. */
gbs_status gbsi_spread_bring(const gbsi_estimate *e, bool taken, gbs_error *err);
void gbsi_spread_free(gbsi_spread *spread);
/* Save and load an array that the ranks share, in the layout that a single process has for all
 * slots. All ranks together write the array to the sink of rank 0. Each rank reads the whole array
 * from a source. It stores the parts that belong to the slots that it keeps and to the chains that
 * it feeds. */
gbs_status gbsi_spread_save(const gbsi_estimate *e, const gbsi_estimate_array *array,
                            const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_spread_load(gbsi_estimate *e, const gbsi_estimate_array *array,
                            const gbsi_source *source, gbs_error *err);

/* Sets all members that follow from the number of passes. */
void gbsi_estimate_start(gbsi_estimate *e, uint64_t n_passes);

gbsi_fast gbsi_estimate_fast(const gbsi_estimate *e, uint32_t group);
uint32_t gbsi_estimate_real_lanes(const gbsi_estimate *e, uint32_t group);
/* number of updates of a slot per chain */
uint64_t gbsi_estimate_updates(const gbsi_estimate *e, uint32_t slot);
/* Whether some total may differ from 0. While batches are short, all counts are in `early`. Totals
 * and open sums are then zeros that take no memory until they are written. */
static inline bool gbsi_estimate_has_totals(const gbsi_estimate *e)
{
    return e->early == NULL || e->batches.length > GBSI_PASSES_OF_COUNTS;
}

/* Total of one chain and cell over closed batches: sum of p, or number of visits. @param at
 * [group][cell][lane] */
static inline double gbsi_estimate_closed(const gbsi_estimate *e, size_t at)
{
    if (e->held_total != NULL) {
        return (double)e->held_total[at];
    }
    const double early = e->early == NULL ? 0.0 : (double)e->early[at];
    return gbsi_estimate_has_totals(e) ? e->total[at] + early : early;
}

/* held.c: adds the sums that chains hold for slots [first, end) to the open sums.
 * gbsi_held_forget() makes the chains forget these sums. */
void gbsi_held_flush(gbsi_estimate *e, uint32_t first, uint32_t end);
void gbsi_held_forget(gbsi_estimate *e);
/* For a chain that holds its sums itself: the part of its total that is not yet in closed
 * batches. */
double gbsi_estimate_held(const gbsi_estimate *e, uint32_t group, size_t cell);

/* Total of one chain and cell over all passes so far: sum of p, or number of visits. */
static inline double gbsi_estimate_chain_total(const gbsi_estimate *e, uint32_t group, size_t cell,
                                               uint32_t lane)
{
    const size_t at = ((size_t)group * e->n_cells + cell) * e->shape.lanes + lane;
    if (e->held_total != NULL) {
        const double closed = (double)e->held_total[at];
        const bool all_closed = e->n_held == 0 && !e->batches.open_used;
        return all_closed ? closed : closed + gbsi_estimate_held(e, group, cell);
    }
    const double fast = e->fast_sum != NULL ? (double)e->fast_sum[at] : (double)e->fast_count[at];
    const double open = gbsi_estimate_has_totals(e) ? e->open[at] + fast : fast;
    return gbsi_estimate_closed(e, at) + open;
}

/* Calls work(e, first, end) for ranges that cover all slots. Threads share the ranges if there is
 * much work. */
void gbsi_estimate_share(gbsi_estimate *e, gbsi_pool *pool,
                         void (*work)(gbsi_estimate *e, uint32_t first, uint32_t end));

/* batches.c */
/* Updates the batches after e->n_passes passes. */
void gbsi_batches_start(gbsi_estimate *e);
void gbsi_batches_end_pass(gbsi_estimate *e, gbsi_pool *pool);
/* Standard error of the mean over all chains and passes; NAN if there are too few batches. */
double gbsi_batches_mcse(const gbsi_estimate *e, uint32_t slot, size_t cell);
/* gbsi_batches_mcse() for a caller that knows the totals. @param closed sum over all chains of
 * closed batches. */
double gbsi_batches_mcse_of(const gbsi_estimate *e, uint32_t slot, size_t cell, double closed);

/* summary.c: smallest standard error that is reported for a mean p. It is the resolution of sums in
 * float; 0 for counts. */
double gbsi_resolution(const gbsi_estimate *e, double p);
/* Number of independent draws that would have this standard error; NAN if the number is unknown. */
double gbsi_effective_size(const gbsi_estimate *e, double p, double mcse);
/* R-hat of n_sequences sequences of mean length `length`; NAN if there are fewer than two. @param
 * within sum of the variances of the sequences. @param shift, shift_square let d be the mean of a
 * sequence minus a fixed value, which may be any; `shift` is the sum of d over the sequences, and
 * `shift_square` the sum of d^2. */
double gbsi_rhat(double within, double shift, double shift_square, double n_sequences,
                 double length);
/* Computes the estimates of one cell. */
gbsi_cell_summary gbsi_summarise_cell(const gbsi_estimate *e, uint32_t slot, size_t cell);
/* Computes the estimates of one cell in the form in which they are reported. A slot that never
 * moved has no standard error. @param cell index of the cell in e. */
gbsi_cell_summary gbsi_told_cell(const gbsi_estimate *e, uint32_t slot, size_t cell, bool constant);
/* Whether every chain was in one state of the slot at every pass. */
bool gbsi_is_constant(const gbsi_estimate *e, uint32_t slot);

#endif

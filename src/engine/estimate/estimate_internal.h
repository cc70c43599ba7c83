/* SPDX-License-Identifier: Apache-2.0 */
/* The data of an estimate, shared by estimate.c (layout, passes), batches.c (second moments) and
 * summary.c (results). Memory:
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

#define GBSI_PASSES_OF_COUNTS 128u /* fast counts are flushed after this many: a byte each */

/* The totals after 2^j passes. */
typedef struct gbsi_half_time {
    uint64_t pass;     /* 0: none yet */
    float *total;      /* [group][cell][lane] */
    uint64_t *updates; /* [n_slots], only if counted */
} gbsi_half_time;

/* Batches of the current block of passes; see batches.c. */
typedef struct gbsi_batches {
    uint64_t per_chain;  /* batches per chain in a full block; a power of two */
    uint64_t length;     /* passes */
    uint64_t start;      /* passes done when the open batch began */
    uint64_t block_end;  /* passes done when the block will end */
    uint64_t n_closed;   /* batches closed per chain in this block */
    bool open_used;      /* the open sums are not all 0 */
    bool has_rate;       /* a block has ended: rate is valid */
    double *start_total; /* [n_cells] totals of all chains when this block began; NULL: half_time */
    float *square;       /* [n_cells] sum of d_b^2 over closed batches of this block, all chains */
    float *rate;         /* [n_cells] variance per pass and chain, from the last full block; in the
                            first block the reference r0 */
    /* only if counted */
    double *cross;            /* [n_cells] sum of n_b d_b */
    uint64_t *updates_open;   /* [n_slots] updates when the open batch began */
    uint64_t *updates_start;  /* [n_slots] updates when the block began */
    double *n_sum, *n_square; /* [n_slots] sums of n_b and of its square */
} gbsi_batches;

typedef struct gbsi_cell_summary {
    double p, mcse, ess, rhat;
    double between; /* variance of p computed from the means of chains; 0: too few chains */
} gbsi_cell_summary;

/* spread.c: the members that an estimate on several ranks needs in addition. */
typedef struct gbsi_spread {
    const gbs_ranks *ranks;
    gbsi_estimate *share;    /* sums of all chains, of the slots of this rank */
    uint32_t *first_slot;    /* [n_ranks + 1] */
    size_t *first_cell;      /* [n_ranks + 1] */
    uint32_t *first_group;   /* [n_ranks + 1] */
    unsigned char *packed;   /* buffer that carries the fast sums from rank to rank */
    gbs_message *out, *in;   /* [n_ranks] */
    gbsi_cell_summary *told; /* [n_cells] summaries of all slots, as they were when last asked for;
                                NULL: not yet */
} gbsi_spread;

struct gbsi_estimate {
    gbsi_estimate_shape shape;
    const gbsi_accumulate *lanes;
    bool counted; /* slots have update counts of their own */
    bool split;   /* fewer than 4 chains: R-hat compares the halves of each chain */
    size_t n_cells;
    size_t n_runs;
    size_t bytes; /* allocated */
    uint64_t n_passes;
    gbsi_offsets cell_start; /* [n_slots] */
    gbsi_arity_run *run;     /* [n_runs] */
    float *fast_sum;         /* [group][cell][lane] Rao-Blackwell: since the last flush */
    uint8_t *fast_count;     /* [group][cell][lane] counting: since the last flush */
    double *open;            /* [group][cell][lane] flushed earlier in the open batch */
    double *total;           /* [group][cell][lane] closed batches */
    uint16_t *early;         /* [group][cell][lane] counts of closed batches that are no longer than
                                the fast sums hold, instead of total, in 2 bytes each; or NULL */
    gbsi_held held;          /* sums that chains have added recently; only if shape.held */
    uint32_t n_held;         /* number of passes in `held` */
    float *held_total;       /* [group][cell] totals if shape.held, in place of `total` */
    float *held_open;  /* [group][cell] open sums if shape.held, in place of `open`. A batch takes a
                          fixed share of its block, so few terms are added up. */
    uint64_t *updates; /* [n_slots] per chain, only if counted */
    bool *in_cut;      /* [n_slots] updated in the pass that was cut short; only if not counted */
    bool is_cut;
    gbsi_batches batches;
    gbsi_half_time half[2];       /* older first; only if split */
    const gbsi_cell_stays *stays; /* [n_cells] borrowed; NULL: none are known */
    gbsi_spread *spread;          /* chains on several ranks; NULL: all are here */
};

/* Describes one array of an estimate. Arrays of the hot loops are aligned. The others come from
 * calloc(), whose large blocks take no memory until they are written: open sums and totals of
 * counts are first written when a batch becomes too long for the fast sums. */
typedef enum gbsi_per {
    GBSI_PER_RUN,   /* of slots of the same arity */
    GBSI_PER_PLACE, /* [group][cell][lane] */
    GBSI_PER_CELL,
    GBSI_PER_SLOT,
} gbsi_per;

typedef struct gbsi_estimate_array {
    void *pointer; /* address of the pointer to the array, of any type: copied as bytes */
    size_t n, size;
    bool saved; /* false if the array follows from the shape, or belongs to a pass that was cut
                   short */
    gbsi_per per;
    bool hot;
} gbsi_estimate_array;

enum { GBSI_ESTIMATE_ARRAYS = 20 };

/* estimate.c: lists all arrays; numbers start at 0. @return how many. */
size_t gbsi_estimate_arrays(gbsi_estimate *e, gbsi_estimate_array out[GBSI_ESTIMATE_ARRAYS]);

/* The use that the next gbsi_estimate_end_pass() makes of the fast sums. */
typedef enum gbsi_end { GBSI_END_LEAVES, GBSI_END_READS, GBSI_END_TAKES } gbsi_end;
gbsi_end gbsi_estimate_next_end(const gbsi_estimate *e);

/* spread.c */
/* Sends what all chains have added so far to the ranks that keep the sums. @param taken the fast
 * sums are set to 0. */
gbs_status gbsi_spread_bring(const gbsi_estimate *e, bool taken, gbs_error *err);
void gbsi_spread_free(gbsi_spread *spread);
/* An array of the share, converted to and from the array of all slots as one process has it. All
 * ranks write it to the sink of rank 0; any rank reads it from a source, into the share and into
 * the estimate that is fed. */
gbs_status gbsi_spread_save(const gbsi_estimate *e, const gbsi_estimate_array *array,
                            const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_spread_load(gbsi_estimate *e, const gbsi_estimate_array *array,
                            const gbsi_source *source, gbs_error *err);

/* Sets all that follows from the number of passes. */
void gbsi_estimate_start(gbsi_estimate *e, uint64_t n_passes);

gbsi_fast gbsi_estimate_fast(const gbsi_estimate *e, uint32_t group);
uint32_t gbsi_estimate_real_lanes(const gbsi_estimate *e, uint32_t group);
uint64_t gbsi_estimate_updates(const gbsi_estimate *e, uint32_t slot); /* per chain */
/* Whether the totals may hold something. While batches are short, all counts are in `early`, and
 * totals and open sums are zeros that take no memory until they are touched. */
static inline bool gbsi_estimate_has_totals(const gbsi_estimate *e)
{
    return e->early == NULL || e->batches.length > GBSI_PASSES_OF_COUNTS;
}

/* Sum of p, or visits, of one chain in closed batches. @param at [group][cell][lane] */
static inline double gbsi_estimate_closed(const gbsi_estimate *e, size_t at)
{
    if (e->held_total != NULL) {
        return (double)e->held_total[at];
    }
    const double early = e->early == NULL ? 0.0 : (double)e->early[at];
    return gbsi_estimate_has_totals(e) ? e->total[at] + early : early;
}

/* held.c: adds the sums that chains keep for slots [first, end) to the open sums, and tells the
 * chains to forget them. */
void gbsi_held_flush(gbsi_estimate *e, uint32_t first, uint32_t end);
void gbsi_held_forget(gbsi_estimate *e);
/* The part of the total that is not yet in closed batches, for a chain that keeps its sums
 * itself. */
double gbsi_estimate_held(const gbsi_estimate *e, uint32_t group, size_t cell);

/* Sum of p, or visits, of one chain so far. */
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

/* Calls work(e, first, end) for ranges that cover all slots; threads share large work. */
void gbsi_estimate_share(gbsi_estimate *e, gbsi_pool *pool,
                         void (*work)(gbsi_estimate *e, uint32_t first, uint32_t end));

/* batches.c */
/* Updates the batches after e->n_passes passes. */
void gbsi_batches_start(gbsi_estimate *e);
void gbsi_batches_end_pass(gbsi_estimate *e, gbsi_pool *pool);
/* Standard error of the mean over all chains and passes; NAN if there are too few batches. */
double gbsi_batches_mcse(const gbsi_estimate *e, uint32_t slot, size_t cell);
/* The same. @param closed sum over all chains of closed batches. */
double gbsi_batches_mcse_of(const gbsi_estimate *e, uint32_t slot, size_t cell, double closed);

/* summary.c: the resolution of a mean p that is summed in float; no smaller error is claimed. It is
 * 0 for counts. */
double gbsi_resolution(const gbsi_estimate *e, double p);
/* The number of independent draws that would have this standard error; NAN if it is unknown. */
double gbsi_effective_size(const gbsi_estimate *e, double p, double mcse);
/* R-hat of this many sequences of a mean length, from the sum of their variances and of the
 * distances of their means from one value, and the squares of these. NAN of fewer than two. */
double gbsi_rhat(double within, double shift, double shift_square, double n_sequences,
                 double length);
/* Computes the estimates of one cell. */
gbsi_cell_summary gbsi_summarise_cell(const gbsi_estimate *e, uint32_t slot, size_t cell);
/* Computes the estimates of one cell as they are reported: without a standard error if the slot
 * never moved. @param cell of e. */
gbsi_cell_summary gbsi_told_cell(const gbsi_estimate *e, uint32_t slot, size_t cell, bool constant);
/* Every chain was in one state of the slot at every pass. */
bool gbsi_is_constant(const gbsi_estimate *e, uint32_t slot);

#endif

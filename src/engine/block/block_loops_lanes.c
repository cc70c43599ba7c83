/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of a block draw over sixteen lanes [M48]. Every sum and product has a fixed order. */
#include <math.h>

#include "block/block_inside.h"
#include "simd/lanes.h"

enum { L = GBSI_BLOCK_LANES };

#define INLINE static inline __attribute__((always_inline))

/* Returns the first row of an item. */
static const double *rows_of(const gbsi_block_lanes *lanes, const gbsi_block_item *item)
{
    const double *from = item->source == GBSI_BLOCK_TABLE   ? lanes->weight
                         : item->source == GBSI_BLOCK_SLICE ? lanes->slice
                                                            : lanes->message;
    return from + item->row * L;
}

/* Fills the rows of the plan's slices, which are factors with held and drawn variables. Each lane
 * takes the rows that belong to the states of the held variables in this lane. */
static void fill_slices(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *x)
{
    for (uint32_t i = 0; i < plan->n_slices; ++i) {
        const gbsi_block_slice *s = &plan->slice[i];
        const double *table = lanes->weight + s->table * L;
        double *to = lanes->slice + s->row * L;
        vu at = vu_set1(0);
        for (uint32_t h = s->held; h < s->held + s->n_held; ++h) {
            const vu state = vu_load(x + (size_t)plan->held_variable[h] * L);
            at = vu_add(at, vu_mul(state, vu_set1(plan->held_stride[h])));
        }
        at = vu_add(vu_mul(at, vu_set1(L)), vu_iota());
        for (uint32_t r = 0; r < s->n_rows; ++r) {
            vd_store(to + (size_t)r * L,
                     vd_gather(table + plan->offset[s->offset + r] * (size_t)L, at));
        }
    }
}

/* The semiring of a pass: sums of products of weights, or maxima of sums of log-weights. */
typedef enum semiring { SUM_PRODUCT, MAX_SUM } semiring;

INLINE vd join(vd a, vd b, const semiring in)
{
    return in == SUM_PRODUCT ? vd_mul(a, b) : vd_add(a, b);
}

INLINE vd merge(vd a, vd b, const semiring in)
{
    return in == SUM_PRODUCT ? vd_add(a, b) : vd_max(a, b);
}

/* Returns the product of n items in row k of a bucket. */
INLINE vd product(const double *const *row, const uint16_t *const *offset, uint32_t n, size_t k,
                  const semiring in)
{
    vd w = vd_load(row[0] + offset[0][k] * (size_t)L);
    for (uint32_t i = 1; i < n; ++i) {
        w = join(w, vd_load(row[i] + offset[i][k] * (size_t)L), in);
    }
    return w;
}

/* Computes the message M(n) = sum_v prod_items item(v, n) for all n. @return the maximum of M. */
INLINE vd sum_products(const gbsi_block_bucket *b, const double *const *row,
                       const uint16_t *const *offset, uint32_t n, double *message,
                       const semiring in)
{
    vd most = vd_set1(-INFINITY);
    size_t k = 0;
    for (uint32_t r = 0; r < b->n_rows; ++r) {
        vd sum = product(row, offset, n, k++, in);
        for (uint32_t a = 1; a < b->arity; ++a) {
            sum = merge(sum, product(row, offset, n, k++, in), in);
        }
        vd_store(message + (size_t)r * L, sum);
        most = vd_max(most, sum);
    }
    return most;
}

INLINE vd bucket_up(const gbsi_block_bucket *b, const double *const *row,
                    const uint16_t *const *offset, double *message, const semiring in)
{
    switch (b->n_items) { /* most buckets have few items, and loops of fixed length are faster */
    case 1:
        return sum_products(b, row, offset, 1, message, in);
    case 2:
        return sum_products(b, row, offset, 2, message, in);
    case 3:
        return sum_products(b, row, offset, 3, message, in);
    case 4:
        return sum_products(b, row, offset, 4, message, in);
    default:
        return sum_products(b, row, offset, b->n_items, message, in);
    }
}

/* Smallest sum of products that is reliable. In larger sums, products that underflow are less
 * than 2^-64 of the sum. */
#define LEAST 0x1p-1000

/* Divides a message by its largest entry, in each lane. Entries below LEAST count as lost and
 * become zero. @return bits of the lanes in which all entries of the message are lost. @param lost
 * in and out: the function adds the bits of lanes in which some entries are lost. */
static uint32_t scale(double *message, uint32_t n_rows, vd most, uint32_t *lost)
{
    double inverse[L];
    uint32_t dead = 0;
    vd_store(inverse, most);
    for (uint32_t l = 0; l < L; ++l) {
        dead |= inverse[l] >= LEAST ? 0 : 1u << l;
        inverse[l] = inverse[l] >= LEAST ? 1.0 / inverse[l] : 0.0;
    }
    const vd by = vd_load(inverse);
    vm tiny = vm_none();
    for (uint32_t r = 0; r < n_rows; ++r) {
        const vd sum = vd_load(message + (size_t)r * L);
        const vm is_tiny = vd_lt(sum, vd_set1(LEAST));
        tiny = vm_or(tiny, is_tiny);
        vd_store(message + (size_t)r * L, vd_select(is_tiny, vd_zero(), vd_mul(sum, by)));
    }
    *lost |= vm_bits(tiny);
    return dead;
}

/* Finds the rows and offsets of the items of a bucket. */
static void find_items(const gbsi_block_lanes *lanes, const gbsi_block_plan *plan,
                       const gbsi_block_bucket *b, const double **row, const uint16_t **offset)
{
    for (uint32_t i = 0; i < b->n_items; ++i) {
        row[i] = rows_of(lanes, &plan->item[b->item + i]);
        offset[i] = plan->offset + plan->item[b->item + i].offset;
    }
}

INLINE void pass_up(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *x,
                    const semiring in)
{
    fill_slices(lanes, plan, x);
    lanes->dead = lanes->lost = 0;
    for (uint32_t i = 0; i < plan->n_buckets; ++i) {
        const gbsi_block_bucket *b = &plan->bucket[i];
        double *message = lanes->message + b->message * L;
        if (b->n_items == 0) { /* the bucket of a variable without factors */
            for (uint32_t r = 0; r < b->n_rows; ++r) {
                vd_store(message + (size_t)r * L, vd_set1(in == SUM_PRODUCT ? 1.0 : 0.0));
            }
            continue;
        }
        find_items(lanes, plan, b, lanes->row, lanes->offset);
        const vd most = bucket_up(b, lanes->row, lanes->offset, message, in);
        if (in == SUM_PRODUCT) {
            lanes->dead |= scale(message, b->n_rows, most, &lanes->lost);
        }
    }
}

/* Returns uniform numbers in [0, 1) of 48 bits, from the upper 24 bits of two words. */
INLINE vd uniform(const uint32_t *word)
{
    const vd high = vd_from_vf(vf_from_small(vu_shr(vu_load(word), 8)));
    const vd low = vd_from_vf(vf_from_small(vu_shr(vu_load(word + L), 8)));
    return vd_fma(low, vd_set1(0x1p-48), vd_mul(high, vd_set1(0x1p-24)));
}

/* Draws the state of v from p(v | n), which is proportional to prod_items item(v, n). The drawn
 * state is the first one whose running sum exceeds u times the total. @param lane [16] the lanes
 * whose messages are used. */
INLINE vu draw(const gbsi_block_lanes *lanes, const gbsi_block_bucket *b, vu row, vu lane)
{
    const vu first = vu_mul(row, vu_set1(b->arity));
    vd sum = vd_zero();
    for (uint32_t a = 0; a < b->arity; ++a) {
        const vu k = vu_add(first, vu_set1(a));
        vd w = vd_set1(1.0);
        for (uint32_t i = 0; i < b->n_items; ++i) {
            const vu at = vu_gather_u16(lanes->offset[i], k);
            w = vd_mul(w, vd_gather(lanes->row[i], vu_add(vu_mul(at, vu_set1(L)), lane)));
        }
        sum = vd_add(sum, w);
        vd_store(lanes->sum + (size_t)a * L, sum);
    }
    const vd u = vd_mul(uniform(lanes->word + (size_t)b->variable * 2 * L), sum);
    vu state = vu_set1(0);
    for (uint32_t a = 0; a + 1 < b->arity; ++a) {
        const vm found = vd_lt(u, vd_load(lanes->sum + (size_t)a * L));
        state = vu_add(state, vu_select(found, vu_set1(0), vu_set1(1)));
    }
    return state;
}

/* Returns, for each lane, the state with the largest sum of items; if several states have this sum,
 * the first of them. */
INLINE vu best(const gbsi_block_lanes *lanes, const gbsi_block_bucket *b, vu row)
{
    const vu first = vu_mul(row, vu_set1(b->arity));
    vd most = vd_set1(-INFINITY);
    vu state = vu_set1(0);
    for (uint32_t a = 0; a < b->arity; ++a) {
        const vu k = vu_add(first, vu_set1(a));
        vd w = vd_zero();
        for (uint32_t i = 0; i < b->n_items; ++i) {
            const vu at = vu_gather_u16(lanes->offset[i], k);
            const vu index = vu_add(vu_mul(at, vu_set1(L)), vu_iota());
            w = vd_add(w, vd_gather(lanes->row[i], index));
        }
        state = vu_select(vd_lt(most, w), vu_set1(a), state);
        most = vd_max(most, w);
    }
    return state;
}

/* Returns the row number of the joint state of a bucket's neighbours. */
INLINE vu row_of(const gbsi_block_lanes *lanes, const gbsi_block_plan *plan,
                 const gbsi_block_bucket *b, const uint32_t *y)
{
    const uint32_t *neighbour = plan->neighbour + b->neighbour;
    vu row = vu_set1(0);
    for (uint32_t n = 0; n < b->n_neighbours; ++n) {
        const vu arity = vu_set1(lanes->blocks->model->arity[neighbour[n]]);
        row = vu_add(vu_mul(row, arity), vu_load(y + (size_t)neighbour[n] * L));
    }
    return row;
}

static void down(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *from,
                 const uint32_t *x, uint32_t *y)
{
    const vu lane = vu_load(from);
    uint32_t dead_bits = 0;
    for (uint32_t l = 0; l < L; ++l) {
        dead_bits |= (lanes->dead >> from[l] & 1u) << l;
    }
    const vm dead = vm_from_bits(dead_bits);
    for (uint32_t i = 0; i < plan->n_held; ++i) {
        const size_t at = (size_t)plan->held[i] * L;
        vu_store(y + at, vu_gather(x + at, lane));
    }
    for (uint32_t i = plan->n_buckets; i-- > 0;) {
        const gbsi_block_bucket *b = &plan->bucket[i];
        find_items(lanes, plan, b, lanes->row, lanes->offset);
        const vu drawn = draw(lanes, b, row_of(lanes, plan, b, y), lane);
        const size_t at = (size_t)b->variable * L;
        vu_store(y + at, vu_select(dead, vu_gather(x + at, lane), drawn));
    }
}

static void up(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *x)
{
    pass_up(lanes, plan, x, SUM_PRODUCT);
}

static void spare(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, const uint32_t *x)
{
    vm lost = vm_none();
    for (uint32_t i = 0; i < plan->n_buckets; ++i) {
        const gbsi_block_bucket *b = &plan->bucket[i];
        const vu row = row_of(lanes, plan, b, x);
        const vd message =
            vd_gather(lanes->message + b->message * L, vu_add(vu_mul(row, vu_set1(L)), vu_iota()));
        lost = vm_or(lost, vd_lt(message, vd_set1(LEAST)));
    }
    lanes->dead |= vm_bits(lost);
}

static void maximise(gbsi_block_lanes *lanes, const gbsi_block_plan *plan, uint32_t *x)
{
    pass_up(lanes, plan, x, MAX_SUM);
    for (uint32_t i = plan->n_buckets; i-- > 0;) {
        const gbsi_block_bucket *b = &plan->bucket[i];
        find_items(lanes, plan, b, lanes->row, lanes->offset);
        vu_store(x + (size_t)b->variable * L, best(lanes, b, row_of(lanes, plan, b, x)));
    }
}

extern const gbsi_block_loops GBSI_V(gbsi_block_loops);
const gbsi_block_loops GBSI_V(gbsi_block_loops) = {
    .up = up, .spare = spare, .down = down, .maximise = maximise};

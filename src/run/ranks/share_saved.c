/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a share as bytes, and reads it, for a file or a message. The counts come first, then the
 * facts, then all arrays one after the other. */
#include <string.h>

#include "base/memory.h"
#include "ranks/share.h"
#include "store/builder.h"

/* Names for the numbers of elements of all arrays. */
enum {
    N_VARIABLES,
    N_STATES,
    N_FACTORS,
    N_SCOPE,
    N_LITERALS,
    N_TABLES,
    N_ENTRIES,
    N_LOGICAL,
    N_BATCHES, /* number of batches of the share, twice the number of batches of the whole model */
    N_PIECES,
    N_PLACES,
    N_NEIGHBOURS,
    N_OUT,
    N_IN,
    N_FIXED,
    RANK,
    N_COUNTS
};

enum { N_ARRAYS = 40, N_FACTS = sizeof(gbsi_share_facts) / 8 };

/* One array of a share that is saved and loaded. */
typedef struct array {
    void *pointer;  /* address of the pointer to the array */
    size_t n, size; /* number of elements; number of bytes of an element */
} array;

static size_t list_arrays(gbs_share *s, const uint64_t *c, array out[N_ARRAYS])
{
    gbsi_conditioned *p = s->part;
    gbsi_factors *f = &p->factors;
    const size_t n_lists = (size_t)(c[N_BATCHES] / 2) * c[N_NEIGHBOURS] + 1;
#define ROW(p, count)              \
    {                              \
        &(p), (count), sizeof *(p) \
    }
    const array rows[] = {
        ROW(p->arity, c[N_VARIABLES]),
        ROW(p->state_offset, c[N_VARIABLES] + 1),
        ROW(p->user_variable, c[N_VARIABLES]),
        ROW(p->user_state, c[N_STATES]),
        ROW(p->origin, c[N_FACTORS]),
        ROW(p->has_zeros, c[N_FACTORS]),
        ROW(f->kind, c[N_FACTORS]),
        ROW(f->scope_start, c[N_FACTORS] + 1),
        ROW(f->scope, c[N_SCOPE]),
        ROW(f->literal, c[N_LITERALS]),
        ROW(f->weight, c[N_FACTORS]),
        ROW(f->aux, c[N_FACTORS]),
        ROW(f->table_start, c[N_TABLES] + 1),
        ROW(f->table, c[N_ENTRIES]),
        ROW(s->of_whole, c[N_VARIABLES]),
        ROW(s->user_arity, c[N_VARIABLES]),
        ROW(s->own, c[N_VARIABLES]),
        ROW(s->order, c[N_VARIABLES]),
        ROW(s->whole_slot, c[N_VARIABLES]),
        ROW(s->by_count, c[N_VARIABLES]),
        ROW(s->schedule.batch_start, c[N_BATCHES] + 1),
        ROW(s->schedule.slot, c[N_PLACES] + 16),
        ROW(s->schedule.position, c[N_PLACES] + 16),
        ROW(s->global, c[N_PIECES]),
        ROW(s->neighbour, c[N_NEIGHBOURS]),
        ROW(s->out.start, n_lists),
        ROW(s->out.slot, c[N_OUT]),
        ROW(s->in.start, n_lists),
        ROW(s->in.slot, c[N_IN]),
        ROW(s->fixed_variable, c[N_FIXED]),
        ROW(s->fixed_arity, c[N_FIXED]),
        ROW(s->fixed_state, c[N_FIXED]),
        ROW(s->start, s->facts.n_starts * c[N_VARIABLES]),
    };
#undef ROW
    memcpy(out, rows, sizeof rows);
    return sizeof rows / sizeof rows[0];
}

static void count(const gbs_share *s, uint64_t c[N_COUNTS])
{
    const gbsi_factors *f = &s->part->factors;
    const size_t n_lists = (size_t)s->facts.n_batches * s->n_neighbours;
    c[N_VARIABLES] = s->part->n_variables;
    c[N_STATES] = s->part->state_offset[s->part->n_variables];
    c[N_FACTORS] = f->n_factors;
    c[N_SCOPE] = f->scope_start[f->n_factors];
    c[N_LITERALS] = f->literal == NULL ? 0 : c[N_SCOPE];
    c[N_TABLES] = f->n_tables;
    c[N_ENTRIES] = f->n_tables == 0 ? 0 : f->table_start[f->n_tables];
    c[N_LOGICAL] = f->n_logical;
    c[N_BATCHES] = s->schedule.n_batches;
    c[N_PIECES] = s->schedule.n_pieces;
    c[N_PLACES] = s->schedule.n_places;
    c[N_NEIGHBOURS] = s->n_neighbours;
    c[N_OUT] = s->out.start[n_lists];
    c[N_IN] = s->in.start[n_lists];
    c[N_FIXED] = s->n_fixed;
    c[RANK] = s->rank;
}

static void *memory_of(const array *a)
{
    void *memory = NULL;
    memcpy(&memory, a->pointer, sizeof memory);
    return memory;
}

/* ---- structs of several numbers ------------------------------------------------------------ */

enum { PIECE_NUMBERS = 7, LOGICAL_NUMBERS = 5 };

static void piece_numbers(const gbsi_piece *p, uint64_t out[PIECE_NUMBERS])
{
    const uint64_t number[PIECE_NUMBERS] = {p->place,    p->n,    p->first_slot, p->arity,
                                            p->class_id, p->form, p->contiguous};
    memcpy(out, number, sizeof number);
}

static gbsi_piece piece_of(const uint64_t number[PIECE_NUMBERS])
{
    return (gbsi_piece){.place = number[0],
                        .n = (uint32_t)number[1],
                        .first_slot = (uint32_t)number[2],
                        .arity = (uint32_t)number[3],
                        .class_id = (uint8_t)number[4],
                        .form = (uint8_t)number[5],
                        .contiguous = (uint8_t)number[6],
                        .counts = 1};
}

static void logical_numbers(const gbsi_logical *l, uint32_t out[LOGICAL_NUMBERS])
{
    const uint32_t number[LOGICAL_NUMBERS] = {l->function, l->head, l->k, l->n_body,
                                              l->n_body_true};
    memcpy(out, number, sizeof number);
}

static gbsi_logical logical_of(const uint32_t number[LOGICAL_NUMBERS])
{
    return (gbsi_logical){.function = (uint8_t)number[0],
                          .head = (uint8_t)number[1],
                          .k = (uint16_t)number[2],
                          .n_body = number[3],
                          .n_body_true = number[4]};
}

/* ---- saved --------------------------------------------------------------------------------- */

gbs_status gbsi_share_save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    gbs_share copy =
        *(const gbs_share *)object; /* the list of arrays contains addresses of pointers */
    uint64_t counts[N_COUNTS];
    uint64_t facts[N_FACTS];
    array arrays[N_ARRAYS];
    count(&copy, counts);
    const size_t n = list_arrays(&copy, counts, arrays);
    memcpy(facts, &copy.facts, sizeof facts);
    GBSI_PASS(gbsi_put_numbers(sink, counts, N_COUNTS, sizeof counts[0], err));
    GBSI_PASS(gbsi_put_numbers(sink, facts, N_FACTS, sizeof facts[0], err));
    for (size_t i = 0; i < n; ++i) {
        GBSI_PASS(gbsi_put_numbers(sink, memory_of(&arrays[i]), arrays[i].n, arrays[i].size, err));
    }
    for (size_t i = 0; i < copy.schedule.n_pieces; ++i) {
        uint64_t number[PIECE_NUMBERS];
        piece_numbers(&copy.schedule.piece[i], number);
        GBSI_PASS(gbsi_put_numbers(sink, number, PIECE_NUMBERS, sizeof number[0], err));
    }
    for (size_t i = 0; i < copy.part->factors.n_logical; ++i) {
        uint32_t number[LOGICAL_NUMBERS];
        logical_numbers(&copy.part->factors.logical[i], number);
        GBSI_PASS(gbsi_put_numbers(sink, number, LOGICAL_NUMBERS, sizeof number[0], err));
    }
    return GBS_OK;
}

/* ---- loaded -------------------------------------------------------------------------------- */

/* @param c numbers of elements that were read. Each number is below 2^48, and sums of them
 * therefore do not overflow. */
static gbs_status take_arrays(const gbsi_source *source, const uint64_t *c, gbs_share *s,
                              gbs_error *err)
{
    array arrays[N_ARRAYS];
    const size_t n = list_arrays(s, c, arrays);
    for (size_t i = 0; i < n; ++i) {
        void *memory = gbsi_alloc_array(arrays[i].n, arrays[i].size);
        GBSI_PASS(GBSI_HAVE(err, "share of a model", memory));
        memcpy(arrays[i].pointer, &memory, sizeof memory);
        GBSI_PASS(gbsi_take_numbers(source, memory, arrays[i].n, arrays[i].size, err));
    }
    return GBS_OK;
}

static gbs_status take_structs(const gbsi_source *source, const uint64_t *c, gbs_share *s,
                               gbs_error *err)
{
    gbsi_factors *f = &s->part->factors;
    s->schedule.piece = gbsi_alloc_array(c[N_PIECES], sizeof *s->schedule.piece);
    f->logical = gbsi_alloc_array(c[N_LOGICAL], sizeof *f->logical);
    GBSI_PASS(GBSI_HAVE(err, "share of a model", s->schedule.piece, f->logical));
    for (size_t i = 0; i < c[N_PIECES]; ++i) {
        uint64_t number[PIECE_NUMBERS];
        GBSI_PASS(gbsi_take_numbers(source, number, PIECE_NUMBERS, sizeof number[0], err));
        s->schedule.piece[i] = piece_of(number);
    }
    for (size_t i = 0; i < c[N_LOGICAL]; ++i) {
        uint32_t number[LOGICAL_NUMBERS];
        GBSI_PASS(gbsi_take_numbers(source, number, LOGICAL_NUMBERS, sizeof number[0], err));
        f->logical[i] = logical_of(number);
    }
    return GBS_OK;
}

/* Sets those counts of the share that are not lengths of arrays. */
static void set_counts(const uint64_t *c, gbs_share *s)
{
    s->rank = (uint32_t)c[RANK];
    s->part->n_variables = (uint32_t)c[N_VARIABLES];
    s->part->log_constant = s->facts.log_constant;
    s->part->factors.n_factors = c[N_FACTORS];
    s->part->factors.n_tables = c[N_TABLES];
    s->part->factors.n_logical = c[N_LOGICAL];
    s->schedule.n_batches = (uint32_t)c[N_BATCHES];
    s->schedule.n_pieces = c[N_PIECES];
    s->schedule.n_places = c[N_PLACES];
    s->schedule.global = s->global;
    s->n_neighbours = (uint32_t)c[N_NEIGHBOURS];
    s->n_fixed = (uint32_t)c[N_FIXED];
    for (uint32_t u = 0; u < s->part->n_variables; ++u) {
        s->n_own += s->own[u];
    }
    if (c[N_LITERALS] == 0) {
        gbsi_free(s->part->factors.literal);
        s->part->factors.literal = NULL;
    }
}

gbs_status gbsi_share_load(const gbsi_source *source, uint64_t available, gbs_share **out,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t counts[N_COUNTS];
    uint64_t again[N_COUNTS];
    uint64_t facts[N_FACTS];
    gbs_builder *builder = NULL;
    gbs_share *s = gbsi_alloc_zero(sizeof *s);
    GBSI_PASS(GBSI_HAVE(err, "share of a model", s));
    s->part = gbsi_alloc_zero(sizeof *s->part);
    GBSI_TRY(GBSI_HAVE(err, "share of a model", s->part));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_build(builder, &s->nothing, err));
    s->part->model = s->nothing;
    GBSI_TRY(gbsi_take_numbers(source, counts, N_COUNTS, sizeof counts[0], err));
    GBSI_TRY(gbsi_take_numbers(source, facts, N_FACTS, sizeof facts[0], err));
    memcpy(&s->facts, facts, sizeof facts);
    for (int i = 0; i < N_COUNTS; ++i) {
        if (counts[i] > available) { /* every element takes at least a byte */
            GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT, "share: the saved counts are damaged"));
        }
    }
    if (s->facts.n_starts > available || s->facts.n_starts * counts[N_VARIABLES] > available ||
        s->facts.n_batches > available || counts[N_BATCHES] != 2 * s->facts.n_batches ||
        (counts[N_NEIGHBOURS] > 0 && counts[N_BATCHES] / 2 > available / counts[N_NEIGHBOURS])) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT, "share: the saved counts are damaged"));
    }
    GBSI_TRY(take_arrays(source, counts, s, err));
    GBSI_TRY(take_structs(source, counts, s, err));
    set_counts(counts, s);
    count(s, again);
    if (memcmp(again, counts, sizeof counts) != 0) { /* this check includes the ends of lists */
        GBSI_TRY(gbsi_fail(err, GBS_ERR_FORMAT, "share: the saved counts are damaged"));
    }
    GBSI_TRY(gbsi_share_check(s, err));
    *out = s;
    s = NULL;
cleanup:
    gbs_builder_free(builder);
    gbs_share_free(s);
    return status;
}

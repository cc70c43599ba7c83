/* SPDX-License-Identifier: Apache-2.0 */
#include "base/weave.h"

#include <string.h>

#include "base/memory.h"

/* Number of slots that ranks pass on at a time (a window). */
#define WINDOW 16384u

gbs_status gbsi_gather_bytes(const gbs_ranks *ranks, const void *own, uint64_t n,
                             unsigned char **all, size_t *capacity, const char *what,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t total = 0;
    uint64_t *size = gbsi_alloc_array(ranks->n_ranks, sizeof *size);
    size_t *n_of = gbsi_alloc_array(ranks->n_ranks, sizeof *n_of);
    GBSI_TRY(GBSI_HAVE(err, what, size, n_of));
    for (uint32_t rank = 0; rank < ranks->n_ranks; ++rank) {
        n_of[rank] = sizeof *size;
    }
    GBSI_TRY(ranks->gather(ranks->context, &n, sizeof n, size, n_of, err));
    for (uint32_t rank = 0; ranks->rank == 0 && rank < ranks->n_ranks; ++rank) {
        n_of[rank] = size[rank];
        total += size[rank];
    }
    if (ranks->rank == 0) {
        void *pointer = *all;
        status = gbsi_reserve(&pointer, capacity, total, 1, what, err);
        *all = pointer;
        GBSI_TRY(status);
    }
    GBSI_TRY(ranks->gather(ranks->context, own, n, *all, n_of, err));
cleanup:
    GBSI_FREE(size, n_of);
    return status;
}

/* The head of a row in a message; the bytes of the row follow. */
typedef struct head {
    /* number of the slot in the whole model, and either the number of bytes of the row or its width
     */
    uint64_t slot, n;
} head;

typedef struct passing {
    unsigned char *own, *all;
    size_t n_own, own_capacity, all_capacity;
    size_t *at;      /* [WINDOW] on rank 0: position in `all` at which each row begins */
    uint64_t *width; /* [WINDOW] width of each row */
} passing;

static gbs_status put(void *context, const void *bytes, size_t n, gbs_error *err)
{
    passing *p = context;
    void *pointer = p->own;
    const gbs_status status =
        gbsi_reserve(&pointer, &p->own_capacity, p->n_own + n, 1, "checkpoint", err);
    p->own = pointer;
    if (status >= 0) {
        memcpy(p->own + p->n_own, bytes, n);
        p->n_own += n;
    }
    return status;
}

static gbs_status take_passing(passing *p, gbs_error *err)
{
    *p = (passing){0};
    p->at = gbsi_alloc_array(WINDOW, sizeof *p->at);
    p->width = gbsi_alloc_array(WINDOW, sizeof *p->width);
    return GBSI_HAVE(err, "checkpoint", p->at, p->width);
}

static void free_passing(passing *p)
{
    GBSI_FREE(p->own, p->all, p->at, p->width);
}

static uint64_t window_end(const gbsi_weave *w, uint64_t first)
{
    return w->n_whole - first < WINDOW ? w->n_whole : first + WINDOW;
}

/* ---- saving ---------------------------------------------------------------------------------- */

/* Puts the rows that this rank saves, of the slots below `end`, into p->own. @param next in and
 * out: the next slot of this rank. */
static gbs_status put_own(const gbsi_weave *w, const gbsi_rows *rows, uint64_t end, uint32_t *next,
                          passing *p, gbs_error *err)
{
    const gbsi_sink sink = {p, put};
    p->n_own = 0;
    for (; *next < w->n && w->whole[*next] < end; ++*next) {
        if (w->own[*next] != 0) {
            const size_t at = p->n_own;
            head h = {.slot = w->whole[*next]};
            GBSI_PASS(put(p, &h, sizeof h, err));
            GBSI_PASS(rows->put(rows->object, *next, &sink, err));
            h.n = p->n_own - at - sizeof h;
            memcpy(p->own + at, &h, sizeof h);
        }
    }
    return GBS_OK;
}

/* Only on rank 0: writes the received rows to the sink, in the order of the whole model. */
static gbs_status put_window(passing *p, uint64_t first, uint64_t end, const gbsi_sink *sink,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    head h;
    size_t at = 0;
    for (uint64_t i = first; i < end; ++i, at += sizeof h + h.n) {
        memcpy(&h, p->all + at, sizeof h);
        p->at[h.slot - first] = at;
    }
    for (uint64_t i = 0; i < end - first && status >= 0; ++i) {
        memcpy(&h, p->all + p->at[i], sizeof h);
        status =
            h.n == 0 ? GBS_OK : sink->put(sink->context, p->all + p->at[i] + sizeof h, h.n, err);
    }
    return status;
}

static gbs_status save_window(const gbsi_weave *w, const gbsi_rows *rows, uint64_t first,
                              uint32_t *next, passing *p, const gbsi_sink *sink, gbs_error *err)
{
    const uint64_t end = window_end(w, first);
    gbs_status status = put_own(w, rows, end, next, p, err);
    if (status >= 0) {
        status = gbsi_gather_bytes(w->ranks, p->own, p->n_own, &p->all, &p->all_capacity,
                                   "checkpoint", err);
    }
    return status < 0 || w->ranks->rank != 0 ? status : put_window(p, first, end, sink, err);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Tells all ranks the widths of all rows of a window. */
static gbs_status tell_widths(const gbsi_weave *w, const gbsi_rows *rows, uint64_t first,
                              uint64_t end, uint32_t next, passing *p, gbs_error *err)
{
    p->n_own = 0;
    for (; next < w->n && w->whole[next] < end; ++next) {
        if (w->own[next] != 0) {
            const head h = {.slot = w->whole[next], .n = rows->width(rows->object, next)};
            GBSI_PASS(put(p, &h, sizeof h, err));
        }
    }
    GBSI_PASS(gbsi_gather_bytes(w->ranks, p->own, p->n_own, &p->all, &p->all_capacity, "checkpoint",
                                err));
    for (uint64_t i = 0; w->ranks->rank == 0 && i < end - first; ++i) {
        head h;
        memcpy(&h, p->all + i * sizeof h, sizeof h);
        p->width[h.slot - first] = h.n;
    }
    return w->ranks->broadcast(w->ranks->context, 0, p->width,
                               (size_t)(end - first) * sizeof *p->width, err);
}

static gbs_status pass_over(const gbsi_rows *rows, uint64_t width, const gbsi_source *source,
                            gbs_error *err)
{
    return rows->skip != NULL ? rows->skip(rows->object, width, source, err)
                              : gbsi_skip_bytes(source, width, err);
}

static gbs_status load_window(const gbsi_weave *w, const gbsi_rows *rows, uint64_t first,
                              uint32_t *next, passing *p, const gbsi_source *source, gbs_error *err)
{
    const uint64_t end = window_end(w, first);
    gbs_status status = tell_widths(w, rows, first, end, *next, p, err);
    for (uint64_t slot = first; slot < end && status >= 0; ++slot) {
        const bool here = *next < w->n && w->whole[*next] == slot;
        const bool wanted = here && (rows->all || w->own[*next] != 0);
        status = wanted ? rows->take(rows->object, *next, source, err)
                        : pass_over(rows, p->width[slot - first], source, err);
        *next += here;
    }
    return status;
}

/* ---- saving or loading ----------------------------------------------------------------------- */

gbs_status gbsi_weave_rows(const gbsi_weave *w, const gbsi_rows *rows, const gbsi_sink *sink,
                           const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    passing p;
    uint32_t next = 0;
    GBSI_TRY(take_passing(&p, err));
    for (uint64_t first = 0; first < w->n_whole; first = window_end(w, first)) {
        GBSI_TRY(sink != NULL ? save_window(w, rows, first, &next, &p, sink, err)
                              : load_window(w, rows, first, &next, &p, source, err));
    }
cleanup:
    free_passing(&p);
    return status;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static unsigned char *memory_of(const gbsi_woven *a, gbsi_span s)
{
    return (unsigned char *)a->memory + s.first * a->size;
}

static uint64_t width_of(const void *object, uint32_t slot)
{
    const gbsi_woven *a = object;
    return a->span(a->context, slot).n * a->size;
}

static gbs_status put_numbers(const void *object, uint32_t slot, const gbsi_sink *sink,
                              gbs_error *err)
{
    const gbsi_woven *a = object;
    const gbsi_span s = a->span(a->context, slot);
    return gbsi_put_numbers(sink, memory_of(a, s), s.n, a->size, err);
}

static gbs_status take_numbers(void *object, uint32_t slot, const gbsi_source *source,
                               gbs_error *err)
{
    const gbsi_woven *a = object;
    const gbsi_span s = a->span(a->context, slot);
    return gbsi_take_numbers(source, memory_of(a, s), s.n, a->size, err);
}

gbsi_rows gbsi_rows_of_array(gbsi_woven *array)
{
    return (gbsi_rows){
        .object = array, .width = width_of, .put = put_numbers, .take = take_numbers};
}

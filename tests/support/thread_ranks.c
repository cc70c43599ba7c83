/* SPDX-License-Identifier: Apache-2.0 */
#include "thread_ranks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Bytes on their way from one rank to another. */
typedef struct letter {
    struct letter *next;
    size_t n;
    unsigned char bytes[];
} letter;

typedef struct rank rank;

typedef struct group {
    pthread_mutex_t lock; /* of what the barrier counts, and of the first failure */
    pthread_cond_t met;
    rank *ranks; /* [n] */
    uint32_t n;
    uint32_t n_waiting; /* at the barrier */
    uint64_t meeting;   /* how often all have met there */
    bool broken;        /* a rank has failed */
    gbs_status failed;  /* of the first that did */
    gbs_error err;
    test_rank_work work;
    void *context;
} group;

struct rank {
    group *all;
    uint32_t own;
    pthread_t thread;
    gbs_status status;
    /* Its letters: a lock of their own, so that only whom one is for is woken. */
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    letter **letters; /* [n] of the way from another, first sent first */
    bool broken;      /* none will come any more */
    /* The values that the others read between two meetings. */
    gbs_combine_kind kind;
    const void *values;
    size_t n;
    /* The exchange under way. */
    gbs_message *out, *in;
    unsigned char **sent; /* [n_out] as it was when set off */
    size_t n_out, n_in;
};

static gbs_status broken(gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_STATE, "another rank has failed");
}

static void *checked_alloc(size_t n)
{
    void *bytes = malloc(n == 0 ? 1 : n);
    if (bytes == NULL) {
        abort();
    }
    return bytes;
}

static void *copy_of(const void *bytes, size_t n)
{
    void *copy = checked_alloc(n);
    if (n > 0) {
        memcpy(copy, bytes, n);
    }
    return copy;
}

/* All ranks are here before one goes on. */
static gbs_status meet(group *all, gbs_error *err)
{
    (void)pthread_mutex_lock(&all->lock);
    const uint64_t meeting = all->meeting;
    if (++all->n_waiting == all->n) {
        all->n_waiting = 0;
        ++all->meeting;
        (void)pthread_cond_broadcast(&all->met);
    }
    while (all->meeting == meeting && !all->broken) {
        (void)pthread_cond_wait(&all->met, &all->lock);
    }
    const bool met = all->meeting != meeting;
    (void)pthread_mutex_unlock(&all->lock);
    return met ? GBS_OK : broken(err);
}

/* Shows the others this rank's values. */
static gbs_status show(rank *r, gbs_combine_kind kind, const void *values, size_t n, gbs_error *err)
{
    r->kind = kind;
    r->values = values;
    r->n = n;
    return meet(r->all, err);
}

static void combine_two(gbs_combine_kind kind, void *into, const void *from, size_t k)
{
    uint64_t *a = (uint64_t *)into + k;
    const uint64_t *b = (const uint64_t *)from + k;
    double *x = (double *)into + k;
    const double *y = (const double *)from + k;
    switch (kind) {
    case GBS_COMBINE_SUM_U64:
        *a += *b;
        break;
    case GBS_COMBINE_MAX_U64:
        *a = *a > *b ? *a : *b;
        break;
    case GBS_COMBINE_SUM_F64:
        *x += *y;
        break;
    case GBS_COMBINE_MAX_F64:
        *x = *x > *y ? *x : *y;
        break;
    }
}

static gbs_status combine(void *context, gbs_combine_kind kind, void *values, size_t n,
                          gbs_error *err)
{
    rank *r = context;
    void *sum = NULL;
    gbs_status status = GBS_OK;
    GBSI_TRY(show(r, kind, values, n, err));
    for (uint32_t k = 0; k < r->all->n; ++k) {
        const rank *other = &r->all->ranks[k];
        if (other->n != n || other->kind != kind) {
            status = gbsi_fail(err, GBS_ERR_STATE,
                               "rank %u combines %zu values in way %d, rank %u %zu in way %d",
                               r->own, n, (int)kind, k, other->n, (int)other->kind);
            goto cleanup;
        }
        if (k == 0) {
            sum = copy_of(other->values, n * sizeof(uint64_t));
            continue;
        }
        for (size_t i = 0; i < n; ++i) {
            combine_two(kind, sum, other->values, i);
        }
    }
    GBSI_TRY(meet(r->all, err));
    if (n > 0) {
        memcpy(values, sum, n * sizeof(uint64_t));
    }
cleanup:
    free(sum);
    return status;
}

static gbs_status broadcast(void *context, uint32_t from, void *bytes, size_t n, gbs_error *err)
{
    rank *r = context;
    const rank *source = &r->all->ranks[from];
    gbs_status status = GBS_OK;
    GBSI_TRY(show(r, GBS_COMBINE_SUM_U64, bytes, n, err));
    if (source->n != n) {
        status =
            gbsi_fail(err, GBS_ERR_STATE, "rank %u expects %zu bytes of rank %u, which has %zu",
                      r->own, n, from, source->n);
        goto cleanup;
    }
    if (r->own != from && n > 0) {
        memcpy(bytes, source->values, n);
    }
    GBSI_TRY(meet(r->all, err));
cleanup:
    return status;
}

static gbs_status gather(void *context, const void *own, size_t n, void *all, const size_t *n_of,
                         gbs_error *err)
{
    rank *r = context;
    gbs_status status = GBS_OK;
    unsigned char *to = all;
    GBSI_TRY(show(r, GBS_COMBINE_SUM_U64, own, n, err));
    for (uint32_t k = 0; r->own == 0 && k < r->all->n; ++k) {
        const rank *other = &r->all->ranks[k];
        if (other->n != n_of[k]) {
            status = gbsi_fail(err, GBS_ERR_STATE, "rank 0 expects %zu bytes of rank %u: %zu",
                               n_of[k], k, other->n);
            goto cleanup;
        }
        if (other->n > 0) {
            memcpy(to, other->values, other->n);
        }
        to += other->n;
    }
    GBSI_TRY(meet(r->all, err));
cleanup:
    return status;
}

static void post(rank *r, const gbs_message *message)
{
    letter *l = checked_alloc(sizeof *l + message->n);
    l->next = NULL;
    l->n = message->n;
    if (message->n > 0) {
        memcpy(l->bytes, message->bytes, message->n);
    }
    rank *to = &r->all->ranks[message->rank];
    (void)pthread_mutex_lock(&to->lock);
    letter **last = &to->letters[r->own];
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = l;
    (void)pthread_cond_signal(&to->arrived);
    (void)pthread_mutex_unlock(&to->lock);
}

/* Begins an exchange. Memory for incoming messages is overwritten until finish(), so that a test
 * notices early reads. */
static gbs_status begin(void *context, const gbs_message *out, size_t n_out, const gbs_message *in,
                        size_t n_in, gbs_error *err)
{
    rank *r = context;
    if (r->out != NULL) {
        return gbsi_fail(err, GBS_ERR_STATE, "an exchange begins before the last one was finished");
    }
    r->out = copy_of(out, n_out * sizeof *out);
    r->in = copy_of(in, n_in * sizeof *in);
    r->sent = checked_alloc(n_out * sizeof *r->sent);
    r->n_out = n_out;
    r->n_in = n_in;
    for (size_t k = 0; k < n_in; ++k) {
        if (in[k].n > 0) {
            memset(in[k].bytes, 0xa5, in[k].n);
        }
    }
    for (size_t k = 0; k < n_out; ++k) {
        r->sent[k] = copy_of(out[k].bytes, out[k].n);
        post(r, &out[k]);
    }
    return GBS_OK;
}

/* The next letter of a rank is taken. */
static gbs_status take(rank *r, const gbs_message *message, gbs_error *err)
{
    letter **first = &r->letters[message->rank];
    (void)pthread_mutex_lock(&r->lock);
    while (*first == NULL && !r->broken) {
        (void)pthread_cond_wait(&r->arrived, &r->lock);
    }
    letter *l = *first;
    *first = l == NULL ? NULL : l->next;
    (void)pthread_mutex_unlock(&r->lock);
    if (l == NULL) {
        return broken(err);
    }
    const size_t n = l->n;
    if (n == message->n && n > 0) {
        memcpy(message->bytes, l->bytes, n);
    }
    free(l);
    return n == message->n
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_STATE, "rank %u expects %zu bytes of rank %u, and got %zu",
                           r->own, message->n, message->rank, n);
}

static void end_exchange(rank *r)
{
    for (size_t k = 0; r->out != NULL && k < r->n_out; ++k) {
        free(r->sent[k]);
    }
    free(r->sent);
    free(r->out);
    free(r->in);
    r->out = r->in = NULL;
    r->sent = NULL;
    r->n_out = r->n_in = 0;
}

static gbs_status finish(void *context, gbs_error *err)
{
    rank *r = context;
    gbs_status status = GBS_OK;
    for (size_t k = 0; k < r->n_in; ++k) {
        GBSI_TRY(take(r, &r->in[k], err));
    }
    for (size_t k = 0; k < r->n_out; ++k) {
        if (r->out[k].n > 0 && memcmp(r->sent[k], r->out[k].bytes, r->out[k].n) != 0) {
            status = gbsi_fail(err, GBS_ERR_STATE,
                               "rank %u changed a message to rank %u before it had arrived", r->own,
                               r->out[k].rank);
            goto cleanup;
        }
    }
cleanup:
    end_exchange(r);
    return status;
}

static void *live(void *context)
{
    rank *r = context;
    group *all = r->all;
    const gbs_ranks table = {.rank = r->own,
                             .n_ranks = all->n,
                             .context = r,
                             .combine = combine,
                             .broadcast = broadcast,
                             .gather = gather,
                             .begin = begin,
                             .finish = finish};
    gbs_error err = {GBS_OK, ""};
    r->status = all->work(&table, all->context, &err);
    end_exchange(r);
    (void)pthread_mutex_lock(&all->lock);
    if (r->status < 0 && !all->broken) {
        all->broken = true;
        all->failed = r->status;
        all->err = err;
        (void)pthread_cond_broadcast(&all->met);
        for (uint32_t k = 0; k < all->n; ++k) {
            (void)pthread_mutex_lock(&all->ranks[k].lock);
            all->ranks[k].broken = true;
            (void)pthread_cond_signal(&all->ranks[k].arrived);
            (void)pthread_mutex_unlock(&all->ranks[k].lock);
        }
    }
    (void)pthread_mutex_unlock(&all->lock);
    return NULL;
}

static void rank_init(rank *r, group *all, uint32_t own)
{
    *r = (rank){.all = all, .own = own, .letters = calloc(all->n, sizeof(letter *))};
    if (r->letters == NULL || pthread_mutex_init(&r->lock, NULL) != 0 ||
        pthread_cond_init(&r->arrived, NULL) != 0) {
        abort();
    }
}

static void rank_free(rank *r)
{
    for (uint32_t k = 0; k < r->all->n; ++k) {
        for (letter *l = r->letters[k], *next; l != NULL; l = next) {
            next = l->next;
            free(l);
        }
    }
    free(r->letters);
    (void)pthread_cond_destroy(&r->arrived);
    (void)pthread_mutex_destroy(&r->lock);
}

gbs_status test_on_ranks(uint32_t n, test_rank_work work, void *context, gbs_error *err)
{
    group all = {.n = n, .work = work, .context = context};
    all.ranks = calloc(n, sizeof *all.ranks);
    if (all.ranks == NULL || pthread_mutex_init(&all.lock, NULL) != 0 ||
        pthread_cond_init(&all.met, NULL) != 0) {
        abort();
    }
    for (uint32_t k = 0; k < n; ++k) {
        rank_init(&all.ranks[k], &all, k);
    }
    for (uint32_t k = 1; k < n; ++k) {
        if (pthread_create(&all.ranks[k].thread, NULL, live, &all.ranks[k]) != 0) {
            abort();
        }
    }
    (void)live(&all.ranks[0]);
    gbs_status status = all.ranks[0].status;
    for (uint32_t k = 1; k < n; ++k) {
        (void)pthread_join(all.ranks[k].thread, NULL);
        status = all.ranks[k].status > status ? all.ranks[k].status : status;
    }
    for (uint32_t k = 0; k < n; ++k) {
        rank_free(&all.ranks[k]);
    }
    if (all.broken) {
        status = all.failed;
        if (err != NULL) {
            *err = all.err;
        }
    }
    free(all.ranks);
    (void)pthread_cond_destroy(&all.met);
    (void)pthread_mutex_destroy(&all.lock);
    return status;
}

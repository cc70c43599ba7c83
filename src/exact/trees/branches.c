/* SPDX-License-Identifier: Apache-2.0 */

#include <string.h>

#include "base/memory.h"
#include "trees/clique_tables.h"
#include "trees/exact_plan.h"

#define MOST_WORKERS 64u

typedef struct worker {
    gbsi_tables tables; /* a copy of the caller's tables, in which the scratch memory is that of
                           this thread */
    gbsi_watch watch;   /* watch that stops if the caller's watch has stopped; only the caller adds
                           steps to the caller's watch */
} worker;

struct gbsi_branch_workers {
    uint32_t n;
    worker *worker;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum { N_ARRAYS = 6 };

/* Lists the scratch arrays of a worker with their sizes. */
static void list_arrays(gbsi_tables *own, const gbsi_tree *tree, gbsi_keep keep,
                        gbsi_room out[N_ARRAYS])
{
    const gbsi_scratch_sizes n = gbsi_scratch_of(tree);
    const size_t most = GBSI_BRANCH_ENTRIES;
    const gbsi_room arrays[N_ARRAYS] = {
        GBSI_ROOM(own->table, keep >= GBSI_KEEP_TABLES ? 0 : most, gbsi_alloc_array),
        GBSI_ROOM(own->remade, most, gbsi_alloc_array),
        GBSI_ROOM(own->factor, least(n.values, most), gbsi_alloc_array),
        GBSI_ROOM(own->axis_of, tree->model->n_variables, gbsi_alloc_array),
        GBSI_ROOM(own->map, least(n.map, most * n.batch), gbsi_alloc_array),
        GBSI_ROOM(own->partial, 2, gbsi_alloc_array),
    };
    memcpy(out, arrays, sizeof arrays);
}

static void free_scratch(gbsi_tables *own)
{
    GBSI_FREE(own->table, own->remade, own->factor, own->axis_of, own->map, own->partial);
}

gbsi_branch_workers *gbsi_branch_workers_new(const gbsi_tables *tables)
{
    const gbsi_tree *tree = tables->tree;
    const size_t n = least(gbsi_pool_size(tables->pool), MOST_WORKERS);
    gbsi_branch_workers *w = NULL;
    gbsi_room arrays[N_ARRAYS];
    if (n < 2 || tree->branch_start[tree->n_trees] == 0) {
        return NULL;
    }
    w = gbsi_alloc_zero(sizeof *w);
    if (w != NULL) {
        w->worker = gbsi_alloc_array_zero(n, sizeof *w->worker);
    }
    while (w != NULL && w->worker != NULL && w->n < n) {
        list_arrays(&w->worker[w->n].tables, tree, tables->keep, arrays);
        if (gbsi_rooms_take(arrays, N_ARRAYS, "junction tree", NULL) < 0) {
            free_scratch(&w->worker[w->n].tables);
            break;
        }
        ++w->n;
    }
    return w;
}

uint64_t gbsi_branch_workers_bytes(const gbsi_tree *tree, gbsi_keep keep, uint32_t n_threads)
{
    gbsi_tables nothing = {0};
    gbsi_room arrays[N_ARRAYS];
    if (n_threads < 2 || tree->branch_start[tree->n_trees] == 0 ||
        tree->n_tables < GBSI_SHARED_ENTRIES) {
        return 0;
    }
    list_arrays(&nothing, tree, keep, arrays);
    return least(n_threads, MOST_WORKERS) * (sizeof(worker) + gbsi_rooms_bytes(arrays, N_ARRAYS));
}

void gbsi_branch_workers_free(gbsi_branch_workers *workers)
{
    if (workers != NULL) {
        for (uint32_t i = 0; i < workers->n; ++i) {
            free_scratch(&workers->worker[i].tables);
        }
        GBSI_FREE(workers->worker, workers);
    }
}

typedef struct doing {
    gbsi_tables *tables;
    void (*job)(gbsi_tables *tables, void *context, const gbsi_branch *branch);
    void *context;
    const gbsi_branch *branch;
    uint32_t n;
    _Atomic uint32_t next;
} doing;

static bool has_stopped(void *context)
{
    return gbsi_watch_stopped(context);
}

/* Returns the tables that a worker uses. They are the caller's tables, with the worker's own
 * scratch and watch and without a pool. */
static gbsi_tables tables_of(const gbsi_tables *tables, worker *w, uint32_t member)
{
    gbsi_tables own = *tables;
    own.pool = NULL;
    own.workers = NULL;
    own.table = tables->keep >= GBSI_KEEP_TABLES ? tables->table : w->tables.table;
    own.remade = w->tables.remade;
    own.factor = w->tables.factor;
    own.axis_of = w->tables.axis_of;
    own.map = w->tables.map;
    own.partial = w->tables.partial;
    if (member > 0 && tables->watch != NULL) {
        w->watch = (gbsi_watch){.look = has_stopped, .context = tables->watch};
        own.watch = &w->watch;
    }
    return own;
}

static void do_some(void *context, uint32_t member)
{
    doing *d = context;
    if (member >= d->tables->workers->n) {
        return;
    }
    gbsi_tables own = tables_of(d->tables, &d->tables->workers->worker[member], member);
    for (uint32_t b = atomic_fetch_add(&d->next, 1u);
         b < d->n && !gbsi_watch_stopped(d->tables->watch); b = atomic_fetch_add(&d->next, 1u)) {
        d->job(&own, d->context, &d->branch[b]);
    }
}

void gbsi_branches_do(gbsi_tables *tables, uint32_t t,
                      void (*job)(gbsi_tables *tables, void *context, const gbsi_branch *branch),
                      void *context)
{
    const gbsi_tree *tree = tables->tree;
    doing d = {.tables = tables,
               .job = job,
               .context = context,
               .branch = tree->branch + tree->branch_start[t],
               .n = tree->branch_start[t + (size_t)1] - tree->branch_start[t]};
    if (d.n > 0 && tables->workers != NULL && tables->workers->n > 1) {
        gbsi_pool_run(tables->pool, do_some, &d);
        return;
    }
    for (uint32_t b = 0; b < d.n && !gbsi_watch_stopped(tables->watch); ++b) {
        job(tables, context, &d.branch[b]);
    }
}

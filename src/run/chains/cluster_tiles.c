/* SPDX-License-Identifier: Apache-2.0 */
/* A pass that moves clusters (src/engine/cluster/) and then is a pass of tiles. Both parts leave
 * the target distribution invariant. All estimates come from the tiles. */
#include "chains/cluster_tiles.h"

#include <assert.h>

#include "base/memory.h"
#include "chains/tiles.h"
#include "cluster/cluster.h"
#include "scan/scan.h"

typedef struct cluster_tiles {
    void *tiles;
    gbsi_clusters *clusters;
    double tiles_least;    /* operations of a pass of tiles */
    double clusters_least; /* operations of the moves of a pass, for one chain */
    bool is_cut;           /* the watch stopped the moves: the pass ends before its tiles */
} cluster_tiles;

/* Number of clusters that grow in a pass; 0: all clusters move. */
static uint64_t n_clusters_of(const gbs_run_options *options)
{
    return (gbsi_scan_traits(options->scan) & GBSI_SCAN_GROWS) != 0 ? options->clusters : 0;
}

static uint64_t bytes(const gbsi_pass_setting *setting)
{
    return sizeof(cluster_tiles) + gbsi_pass_tiles.bytes(setting) +
           gbsi_clusters_bytes(setting, n_clusters_of(setting->options));
}

static void free_state(void *state)
{
    cluster_tiles *s = state;
    if (s != NULL) {
        gbsi_pass_tiles.free(s->tiles);
        gbsi_clusters_free(s->clusters);
        gbsi_free(s);
    }
}

static gbs_status prepare(const gbsi_pass_setting *setting, void **state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    cluster_tiles *s = gbsi_alloc_zero(sizeof *s);
    GBSI_PASS(GBSI_HAVE(err, "clusters", s));
    assert(setting->plan->n_counters == 0); /* only long factors have counters */
    GBSI_TRY(gbsi_pass_tiles.prepare(setting, &s->tiles, err));
    GBSI_TRY(gbsi_clusters_new(setting, n_clusters_of(setting->options), &s->clusters, err));
    s->tiles_least = gbsi_pass_tiles.least_operations(setting);
    s->clusters_least = gbsi_clusters_operations(s->clusters, 1);
    *state = s;
    s = NULL;
cleanup:
    free_state(s);
    return status;
}

static gbs_status begin(void *state, const gbsi_pass_job *job, gbs_error *err)
{
    cluster_tiles *s = state;
    gbsi_clusters_move(s->clusters, job->pass, job->watch);
    s->is_cut = gbsi_watch_stopped(job->watch);
    return gbsi_pass_tiles.begin(s->tiles, job, err);
}

static gbs_status batch(void *state, uint32_t most, bool *more, gbs_error *err)
{
    cluster_tiles *s = state;
    if (s->is_cut) {
        *more = false; /* end() of the tiles says that their places are not done */
        return GBS_OK;
    }
    return gbsi_pass_tiles.batch(s->tiles, most, more, err);
}

static gbs_status end(void *state, gbs_error *err)
{
    return gbsi_pass_tiles.end(((cluster_tiles *)state)->tiles, err);
}

static uint64_t n_updates(const void *state)
{
    return gbsi_pass_tiles.n_updates(((const cluster_tiles *)state)->tiles);
}

/* The moves of a pass take a fixed number of operations beside those of its tiles. */
static double operations(void *state, uint32_t n_chains)
{
    const cluster_tiles *s = state;
    const double tiles = gbsi_pass_tiles.operations(s->tiles, n_chains);
    return tiles + tiles / s->tiles_least * s->clusters_least * n_chains;
}

static double least_operations(const gbsi_pass_setting *setting)
{
    return gbsi_pass_tiles.least_operations(setting);
}

static gbs_status save(const void *state, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_pass_tiles.save(((const cluster_tiles *)state)->tiles, sink, err);
}

static gbs_status load(void *state, const gbsi_source *source, gbs_error *err)
{
    return gbsi_pass_tiles.load(((cluster_tiles *)state)->tiles, source, err);
}

/* Every bond with a finite coupling stays open with positive probability. The variables that hard
 * zeros join then move as a whole, to any state that their fields allow. */
static bool connects(const void *state)
{
    (void)state;
    return true;
}

const gbsi_pass gbsi_pass_clusters = {
    .name = "clusters",
    .traits = GBSI_PASS_CONNECT,
    .connects = connects,
    .bytes = bytes,
    .prepare = prepare,
    .begin = begin,
    .batch = batch,
    .end = end,
    .n_updates = n_updates,
    .operations = operations,
    .least_operations = least_operations,
    .save = save,
    .load = load,
    .free = free_state,
};

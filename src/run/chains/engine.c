/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the engine: they choose the pass that runs a scan, fill in the setting of the
 * chains, and free the members of an engine. */
#include "chains/engine.h"

#include "base/memory.h"
#include "chains/cluster_tiles.h"
#include "chains/tiles.h"
#include "splash/splash_rounds.h"

const gbsi_pass *gbsi_pass_of(int scan_kind)
{
    const unsigned traits = gbsi_scan_traits(scan_kind);
    return (traits & GBSI_SCAN_BLOCKS) != 0     ? &gbsi_pass_splash
           : (traits & GBSI_SCAN_CLUSTERS) != 0 ? &gbsi_pass_clusters
                                                : &gbsi_pass_tiles;
}

gbsi_executor_setting gbsi_engine_setting(const gbsi_engine *engine, const gbs_run_options *options,
                                          uint64_t draw_room)
{
    return (gbsi_executor_setting){.pass = engine->pass,
                                   .plan = engine->plan,
                                   .compiled = engine->form.compiled,
                                   .options = options,
                                   .level = gbsi_simd_level(),
                                   .pool = engine->pool,
                                   .draw_room = draw_room,
                                   .own = engine->own,
                                   .turns = engine->turns};
}

void gbsi_engine_take_spins(gbsi_engine *engine, gbsi_form_kind kind, const gbsi_spins *spins)
{
    engine->form_kind = kind;
    engine->n_components = spins->n_components;
    engine->spins = spins;
}

void gbsi_engine_free(gbsi_engine *engine)
{
    gbsi_executor_free(&engine->executor);
    gbsi_lattice_free(engine->lattice);
    gbsi_packed_free(engine->packed);
    gbsi_levels_free(engine->levels);
    gbsi_pool_free(engine->pool);
    gbsi_schedule_free(&engine->schedule);
    gbsi_plan_free(engine->plan);
    if (engine->scan != NULL && engine->scan->free != NULL) {
        engine->scan->free(engine->scan_state);
    }
    gbsi_starter_free(engine->starter);
    gbsi_free(engine->fresh);
}

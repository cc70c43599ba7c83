/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when runs keep spins in bits, and writes the messages about this. The decision depends on
 * the model and the options, never on the machine. */
#include <math.h>

#include "base/memory.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "lattice/averages.h"

/* Least shares of bits in use. With a smaller share, a run in bits is hardly faster than sixteen
 * chains side by side. The first limit is for lattices whose sites are bits, the second for chains
 * in bits. */
#define LEAST_SITES  0.25
#define LEAST_CHAINS 0.75
/* Speed of chains in bits relative to sites in bits, per bit; chains in bits are slower because
 * they gather their neighbours. */
#define SPEED_OF_CHAINS 0.6

/* Returns the reason for which options do not allow chains in bits; NULL if the options allow
 * them. */
static const char *other_options(const gbs_run_options *o)
{
    if (o->lattice == GBS_LATTICE_NEVER) {
        return "--lattice never";
    }
    if (o->estimator == GBS_ESTIMATOR_RAO_BLACKWELL && o->lattice != GBS_LATTICE_ALWAYS) {
        return "lattices in bits average probabilities with --lattice always only";
    }
    const unsigned wanted = GBSI_SCAN_COLORED | GBSI_SCAN_BASE;
    if ((gbsi_scan_traits(o->scan) & wanted) != wanted) {
        return "lattices in bits are updated colour by colour: leave out --scan";
    }
    if ((gbsi_draw_traits(o) & GBSI_DRAW_INDEPENDENT) == 0) {
        return "lattices in bits support the random draw only: use --draw random";
    }
    if (o->certified > 0.0) {
        return "lattices in bits have no certificate: leave out --certified";
    }
    return NULL;
}

/* Whether the options ask for bits. */
static bool is_demanded(const gbs_run_options *o)
{
    return o->lattice == GBS_LATTICE_ALWAYS || o->estimator == GBS_ESTIMATOR_TRACES;
}

static gbs_status refuse(const gbs_run_options *o, const char *reason, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "--%s: the model is not run bit by bit: %s",
                     o->lattice == GBS_LATTICE_ALWAYS ? "lattice always" : "estimator traces",
                     reason);
}

/* The share of the bits that is used, if words have 32 chains. */
double gbsi_share_of_chains(const gbs_run_options *o)
{
    const uint64_t n_words = (o->chains + GBSI_PACKED_CHAINS - 1) / GBSI_PACKED_CHAINS;
    return (double)o->chains / (double)(n_words * GBSI_PACKED_CHAINS);
}

bool gbsi_sites_allowed(const gbs_run_options *o)
{
    gbs_run_options named = *o;
    if (gbsi_scan_choice_of(o->scan) == GBSI_CHOICE_BY_NEED) {
        named.scan = gbsi_scan_with(GBSI_SCAN_BASE); /* the model has no hard zeros */
    }
    return other_options(&named) == NULL;
}

bool gbsi_sites_suit(const gbsi_lattice *lattice, const gbs_run_options *o)
{
    const double share = gbsi_lattice_share(lattice);
    const bool averages =
        o->estimator ==
        GBS_ESTIMATOR_RAO_BLACKWELL; /* runs with chains in bits do not average conditionals */
    return (share >= LEAST_SITES || is_demanded(o)) &&
           (averages || share >= SPEED_OF_CHAINS * gbsi_share_of_chains(o));
}

gbs_status gbsi_choose_sites(gbsi_engine *engine, const gbs_run_options *o,
                             const gbsi_conditioned *model, gbs_error *err)
{
    const char *reason = other_options(o);
    if (model->n_variables == 0 || reason != NULL) {
        return GBS_OK;
    }
    const gbs_status status = gbsi_lattice_new(model, &engine->lattice, &reason, err);
    if (status < 0 || reason != NULL) {
        return status;
    }
    if (gbsi_sites_suit(engine->lattice, o)) {
        gbsi_engine_take_spins(engine, GBSI_FORM_SITES, &engine->lattice->spins);
        reason = o->estimator == GBS_ESTIMATOR_RAO_BLACKWELL
                     ? gbsi_lattice_averages_refusal(engine->lattice)
                     : NULL;
        if (reason != NULL) {
            return refuse(o, reason, err);
        }
    } else {
        gbsi_lattice_free(engine->lattice);
        engine->lattice = NULL;
    }
    return GBS_OK;
}

static gbs_status pack(gbsi_engine *engine, const gbsi_problem *problem, gbsi_watch *watch,
                       const char **reason, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = problem->part->n_variables;
    uint32_t n_colors = 0;
    uint32_t *color = gbsi_alloc_array(n, sizeof *color);
    GBSI_PASS(GBSI_HAVE(err, "colouring", color));
    GBSI_TRY(gbsi_graph_color(problem->graph, watch, color, &n_colors, err));
    GBSI_TRY(gbsi_packed_new(problem->part, color, n_colors, problem->components->n,
                             &engine->packed, reason, err));
    if (*reason == NULL) {
        gbsi_engine_take_spins(engine, GBSI_FORM_CHAINS, &engine->packed->spins);
    }
cleanup:
    gbsi_free(color);
    return status;
}

gbs_status gbsi_choose_chains(gbsi_engine *engine, const gbs_run_options *o,
                              const gbsi_problem *problem, gbsi_watch *watch, gbs_error *err)
{
    const char *reason = other_options(o);
    gbs_status status = GBS_OK;
    if (reason == NULL) {
        reason = gbsi_spins_refusal(problem->part);
    }
    if (reason == NULL && o->estimator == GBS_ESTIMATOR_RAO_BLACKWELL) {
        reason = "probabilities are averaged on grids only: use --estimator count or traces";
    }
    if (reason == NULL && (is_demanded(o) || gbsi_share_of_chains(o) >= LEAST_CHAINS)) {
        status = pack(engine, problem, watch, &reason, err);
    }
    if (status == GBS_OK && reason != NULL && is_demanded(o)) {
        status = refuse(o, reason, err);
    }
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a spin model on a graph; the same code serves all kinds of graphs. */
#include <inttypes.h>
#include <math.h>

#include "base/budget.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/status.h"
#include "generate/generators.h"

/* Bytes of the parts of a built model. A variable has its arity and the offset of its states. A
 * factor has its kind, weight, table, the offset of its scope, and four bytes for each variable
 * in the scope. */
#define VARIABLE_BYTES 12.0
#define COUPLING_BYTES 29.0
#define FIELD_BYTES    25.0

static gbs_status check_range(const char *name, double centre, const char *spread_name,
                              double spread, gbs_error *err)
{
    if (!isfinite(centre)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %g, expected a finite number", name, centre);
    }
    if (!(spread >= 0.0) || !isfinite(fabs(centre) + 2.0 * spread)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %g, expected a finite number, 0 or more",
                         spread_name, spread);
    }
    return GBS_OK;
}

gbs_status gbsi_generate_check_ranges(const gbsi_generate_spins *spins, gbs_error *err)
{
    GBSI_PASS(
        check_range("coupling", spins->coupling, "coupling spread", spins->coupling_spread, err));
    return check_range("field", spins->field, "random field", spins->random_field, err);
}

static int has_fields(const gbsi_generate_spins *spins)
{
    return spins->field != 0.0 || spins->random_field != 0.0;
}

/* Refuses a model that cannot be generated, before the generation begins. */
static gbs_status check_spins(const gbsi_generate_spins *spins, const gbsi_generate_size *size,
                              gbs_error *err)
{
    if (size->n_variables > GBS_MAX_VARIABLES) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%s: %" PRIu64 " variables, more than the %u variables possible",
                         size->what, size->n_variables, GBS_MAX_VARIABLES);
    }
    GBSI_PASS(gbsi_generate_check_ranges(spins, err));
    /* computed in doubles, because the number of couplings may be near 2^63 */
    const double bytes =
        (double)size->n_variables * (VARIABLE_BYTES + has_fields(spins) * FIELD_BYTES) +
        (double)size->n_couplings * COUPLING_BYTES;
    const double limit = (double)gbsi_default_memory_limit();
    if (bytes > limit) {
        char needed[16];
        char allowed[16];
        gbsi_bytes_text(bytes, needed);
        gbsi_bytes_text(limit, allowed);
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%s: %" PRIu64 " couplings take %s, the memory limit is %s", size->what,
                         size->n_couplings, needed, allowed);
    }
    return GBS_OK;
}

/* Returns a number that is uniform in centre -+ spread. */
static double around(uint64_t seed, gbsi_generate_stream stream, uint64_t index, double centre,
                     double spread)
{
    double u[2];
    if (spread == 0.0) {
        return centre;
    }
    gbsi_generate_uniforms(seed, stream, index, u);
    return centre + spread * (2.0 * u[0] - 1.0);
}

double gbsi_generate_coupling(const gbsi_generate_spins *spins, uint64_t index)
{
    return around(spins->seed, GBSI_STREAM_COUPLING, index, spins->coupling,
                  spins->coupling_spread);
}

double gbsi_generate_field(const gbsi_generate_spins *spins, uint32_t v)
{
    return around(spins->seed, GBSI_STREAM_FIELD, v, spins->field, spins->random_field);
}

gbs_status gbsi_generate_couple(const gbsi_generate_spins *spins, gbs_builder *builder,
                                uint64_t index, uint32_t a, uint32_t b, gbs_error *err)
{
    return gbs_builder_add_ising(builder, a, b, gbsi_generate_coupling(spins, index), err);
}

gbs_status gbsi_generate_on(const gbsi_generate_graph *graph, const gbsi_generate_spins *spins,
                            gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    gbsi_generate_size size;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(graph->measure(spins, &size, err));
    GBSI_TRY(check_spins(spins, &size, err));
    const uint32_t n = (uint32_t)size.n_variables;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbsi_generate_variables(builder, n, 2, err));
    GBSI_TRY(graph->couple(spins, builder, err));
    for (uint32_t v = 0; v < n && has_fields(spins); ++v) {
        GBSI_TRY(gbs_builder_add_field(builder, v, gbsi_generate_field(spins, v), err));
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));

cleanup:
    gbs_builder_free(builder);
    gbsi_budget_leave(before);
    return status;
}

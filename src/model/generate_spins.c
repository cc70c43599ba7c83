/* SPDX-License-Identifier: Apache-2.0 */
/* Couplings and fields that the spin models share, and what a spin model takes in memory. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "model/generate.h"

/* Of a built model, bytes: a variable has its arity and where its states begin; a factor its kind,
 * weight, table and where its scope of four bytes a variable begins. */
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

static int has_fields(const gbsi_generate_spins *spins)
{
    return spins->field != 0.0 || spins->random_field != 0.0;
}

gbs_status gbsi_spins_check(const gbsi_generate_spins *spins, const char *what,
                            uint64_t n_variables, uint64_t n_couplings, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (n_variables > GBS_MAX_VARIABLES) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%s: %" PRIu64 " variables, more than the %u variables possible", what,
                         n_variables, GBS_MAX_VARIABLES);
    }
    GBSI_TRY(
        check_range("coupling", spins->coupling, "coupling spread", spins->coupling_spread, err));
    GBSI_TRY(check_range("field", spins->field, "random field", spins->random_field, err));
    /* in doubles: counts of couplings come near 2^63 */
    const double bytes = (double)n_variables * (VARIABLE_BYTES + has_fields(spins) * FIELD_BYTES) +
                         (double)n_couplings * COUPLING_BYTES;
    const double machine = (double)gbsi_machine_bytes();
    if (bytes > machine) {
        char needed[16];
        char there[16];
        gbsi_bytes_text(bytes, needed);
        gbsi_bytes_text(machine, there);
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "%s: %" PRIu64 " couplings take %s, this machine has %s", what,
                         n_couplings, needed, there);
    }

cleanup:
    return status;
}

/* Uniform in centre -+ spread. */
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

gbs_status gbsi_spins_couple(const gbsi_generate_spins *spins, gbs_builder *builder, uint64_t index,
                             uint32_t a, uint32_t b, gbs_error *err)
{
    const double coupling =
        around(spins->seed, GBSI_STREAM_COUPLING, index, spins->coupling, spins->coupling_spread);
    return gbs_builder_add_ising(builder, a, b, coupling, err);
}

gbs_status gbsi_spins_add_fields(const gbsi_generate_spins *spins, gbs_builder *builder, uint32_t n,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (!has_fields(spins)) {
        return GBS_OK;
    }
    for (uint32_t v = 0; v < n; ++v) {
        const double h =
            around(spins->seed, GBSI_STREAM_FIELD, v, spins->field, spins->random_field);
        GBSI_TRY(gbs_builder_add_field(builder, v, h, err));
    }

cleanup:
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A format as one would be added that is only read: how many spins there are, then the field of
 * each. */
#include "models/formats.h"
#include "store/builder.h"
#include "text/text.h"

gbs_status gbsi_levels_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    uint64_t n = 0;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbsi_text_count(text, "the number of spins", 2, &n, err));
    for (uint32_t v = 0; v < n; ++v) {
        const uint32_t two = 2;
        double field = 0.0;
        GBSI_TRY(gbs_builder_add_variables(builder, 1, &two, NULL, err));
        GBSI_TRY(gbsi_text_double(text, "a field", &field, NULL, err));
        GBSI_TRY(gbs_builder_add_field(builder, v, field, err));
    }
    GBSI_TRY(gbsi_text_expect_end(text, "the last field", err));
    GBSI_TRY(gbs_builder_build(builder, model, err));
cleanup:
    gbs_builder_free(builder);
    return status;
}

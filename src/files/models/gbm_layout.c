/* SPDX-License-Identifier: Apache-2.0 */
#include "models/gbm.h"

#include <string.h>

#include "base/digest.h"
#include "store/model.h"

/* The first byte cannot occur in text. A transfer that changes line ends damages the bytes behind
 * "GBM", so the damage is found. */
const unsigned char gbsi_gbm_magic[8] = {0x89, 'G', 'B', 'M', '\r', '\n', 0x1a, '\n'};

/* Arrays in memory must have the layout of the file, because they are used without a copy. */
_Static_assert(sizeof(double) == 8 && sizeof(uint32_t) == 4, "sizes of .gbm files");
_Static_assert(sizeof(gbsi_logical) == 12 && offsetof(gbsi_logical, head) == 1 &&
                   offsetof(gbsi_logical, k) == 2 && offsetof(gbsi_logical, n_body) == 4 &&
                   offsetof(gbsi_logical, n_body_true) == 8,
               "docs/gbm.md, section logical");

typedef struct section {
    const char *name;
    uint64_t n;    /* number of elements */
    unsigned size; /* number of bytes of an element */
    bool present;
} section;

static void list_sections(const gbsi_gbm_counts *c, section list[GBSI_GBM_N_SECTIONS])
{
    const bool logical = c->n_logical > 0;
    const bool named = c->n_named > 0;
    const bool tied = c->n_weights > 0;
    const bool labels = (c->flags & GBSI_GBM_LABELS) != 0;
    list[GBSI_GBM_ARITY] = (section){"arity", c->n_variables, 4, true};
    list[GBSI_GBM_STATE_OFFSET] = (section){"state_offset", c->n_variables + 1, 8, true};
    list[GBSI_GBM_KIND] = (section){"kind", c->n_factors, 1, true};
    list[GBSI_GBM_SCOPE_START] = (section){"scope_start", c->n_factors + 1, 8, true};
    list[GBSI_GBM_SCOPE] = (section){"scope", c->n_scope, 4, true};
    list[GBSI_GBM_LITERAL] = (section){"literal", c->n_scope, 4, logical};
    list[GBSI_GBM_WEIGHT] = (section){"weight", c->n_factors, 8, true};
    list[GBSI_GBM_AUX] = (section){"aux", c->n_factors, 4, true};
    list[GBSI_GBM_TABLE_START] = (section){"table_start", c->n_tables + 1, 8, true};
    list[GBSI_GBM_TABLE] = (section){"table", c->n_entries, 8, true};
    list[GBSI_GBM_LOGICAL] = (section){"logical", c->n_logical, sizeof(gbsi_logical), logical};
    list[GBSI_GBM_TEXT] = (section){"text", c->n_text, 1, named || labels};
    list[GBSI_GBM_NAME] = (section){"name", c->n_variables, 8, named};
    list[GBSI_GBM_LABEL] = (section){"label", c->n_states, 8, labels};
    list[GBSI_GBM_BY_NAME] = (section){"by_name", c->n_named, 4, named};
    list[GBSI_GBM_WEIGHT_VALUE] = (section){"weight_value", c->n_weights, 8, tied};
    list[GBSI_GBM_WEIGHT_FIXED] = (section){"weight_fixed", c->n_weights, 1, tied};
    list[GBSI_GBM_WEIGHT_NUMBER] = (section){"weight_number", c->n_factors, 4, tied};
    list[GBSI_GBM_FEATURE] = (section){"feature", c->n_factors, 8, tied};
}

static const uint64_t MOST_BYTES = (uint64_t)1 << 63;

static uint64_t align(uint64_t bytes)
{
    return (bytes + GBSI_GBM_ALIGN - 1) / GBSI_GBM_ALIGN * GBSI_GBM_ALIGN;
}

bool gbsi_gbm_lay_out(const gbsi_gbm_counts *counts, gbsi_gbm_layout *layout)
{
    section list[GBSI_GBM_N_SECTIONS];
    gbsi_gbm_layout made = {0};
    if (counts->n_variables >= MOST_BYTES || counts->n_factors >= MOST_BYTES ||
        counts->n_tables >= MOST_BYTES) {
        return false; /* n + 1 must not overflow to 0 */
    }
    list_sections(counts, list);
    for (unsigned s = 0; s < GBSI_GBM_N_SECTIONS; s++) {
        made.present[s] = list[s].present;
        made.n_sections += list[s].present;
    }
    uint64_t at = GBSI_GBM_HEADER_BYTES + made.n_sections * GBSI_GBM_ENTRY_BYTES;
    for (unsigned s = 0; s < GBSI_GBM_N_SECTIONS; s++) {
        if (!list[s].present) {
            continue;
        }
        at = align(at);
        if (list[s].n > (MOST_BYTES - at) / 16) {
            return false;
        }
        made.offset[s] = at;
        made.bytes[s] = list[s].n * list[s].size;
        at += made.bytes[s];
    }
    made.digest_at = align(at);
    made.file_bytes = made.digest_at + GBSI_GBM_DIGEST_BYTES;
    *layout = made;
    return true;
}

uint32_t gbsi_gbm_version_of(const gbs_model *model)
{
    const gbsi_factors *factors = &model->factors;
    if (model->tied.n_weights > 0) {
        return 2;
    }
    for (size_t i = 0; i < factors->n_logical; i++) {
        if (factors->logical[i].function >= GBS_LOGICAL_PARITY) {
            return 2;
        }
    }
    for (size_t f = 0; f < factors->n_factors; f++) {
        if (gbsi_is_noisy(factors->kind[f])) {
            return 2;
        }
    }
    return 1;
}

void gbsi_gbm_entry(const gbsi_gbm_layout *layout, gbsi_gbm_section section_id,
                    unsigned char *entry)
{
    section list[GBSI_GBM_N_SECTIONS];
    list_sections(&(gbsi_gbm_counts){0}, list);
    memset(entry, 0, GBSI_GBM_ENTRY_BYTES);
    memcpy(entry, list[section_id].name, strlen(list[section_id].name));
    memcpy(entry + GBSI_GBM_NAME_BYTES, &layout->offset[section_id], 8);
    memcpy(entry + GBSI_GBM_NAME_BYTES + 8, &layout->bytes[section_id], 8);
}

gbs_status gbsi_gbm_check_host(const char *name, gbs_error *err)
{
    if (!gbsi_little_endian() || sizeof(size_t) != 8) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "%s: gbm files are used directly in memory, which needs a little-endian "
                         "machine of 64 bits: use another format",
                         name);
    }
    return GBS_OK;
}

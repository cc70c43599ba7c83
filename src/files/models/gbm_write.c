/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the arrays of a model one after the other in the form that they have in memory
 * (docs/gbm.md). The header needs only counts, so nothing is buffered or written twice. Names and
 * labels are written in the order of the variables. Equal models that share equal tables in the
 * same way give equal bytes. */
#include <string.h>

#include "base/digest.h"
#include "models/formats.h"
#include "models/gbm.h"
#include "store/model.h"

enum { CHUNK = 512 };

typedef struct gbm_writer {
    gbs_output *output;
    gbsi_digest *digest;
    uint64_t at; /* number of bytes written until now */
    const gbs_model *model;
    /* number of states that all variables have, if no array of arities is in memory; otherwise 0 */
    uint32_t alike;
    gbsi_gbm_counts counts;
    uint64_t n_name_text; /* number of bytes of names, behind which the labels begin */
    gbsi_gbm_layout layout;
} gbm_writer;

static void put(gbm_writer *w, const void *bytes, size_t n)
{
    gbsi_output_bytes(w->output, bytes, n);
    gbsi_digest_bytes(w->digest, bytes, n);
    w->at += n;
}

static void put_zeros(gbm_writer *w, uint64_t to)
{
    static const char zeros[GBSI_GBM_ALIGN];
    put(w, zeros, (size_t)(to - w->at));
}

static void put_repeated(gbm_writer *w, unsigned char byte, uint64_t n)
{
    unsigned char bytes[4096];
    memset(bytes, byte, sizeof bytes);
    for (; n > 0; n -= n < sizeof bytes ? n : sizeof bytes) {
        put(w, bytes, n < sizeof bytes ? (size_t)n : sizeof bytes);
    }
}

/* Writes an array over all factors. `array` has no elements for factors behind the last tied
 * factor.
 * @param none byte with which the missing elements are filled. */
static void put_ties(gbm_writer *w, const void *array, size_t size, unsigned char none)
{
    const size_t n = w->model->tied.n_ties;
    if (n > 0) {
        put(w, array, n * size);
    }
    put_repeated(w, none, (uint64_t)(w->model->factors.n_factors - n) * size);
}

static void put_u32(gbm_writer *w, uint32_t value)
{
    put(w, &value, sizeof value);
}

static void put_u64(gbm_writer *w, uint64_t value)
{
    put(w, &value, sizeof value);
}

/* ---- names and labels ---------------------------------------------------------------------- */

/* @return the number of bytes of the strings at offset[0 .. n), with the 0 at the end of each
 *   string. */
static uint64_t text_bytes(const char *text, const size_t *offset, size_t n)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += offset[i] == SIZE_MAX ? 0 : strlen(text + offset[i]) + 1;
    }
    return bytes;
}

static void put_text(gbm_writer *w, const size_t *offset, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (offset[i] != SIZE_MAX) {
            const char *text = w->model->text + offset[i];
            put(w, text, strlen(text) + 1);
        }
    }
}

/* Writes the offsets that the strings at offset[0 .. n) have in the file, where they follow one
 * another from `first` on. */
static void put_offsets(gbm_writer *w, const size_t *offset, size_t n, uint64_t first)
{
    uint64_t chunk[CHUNK];
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        chunk[length++] = offset[i] == SIZE_MAX ? UINT64_MAX : first;
        first += offset[i] == SIZE_MAX ? 0 : strlen(w->model->text + offset[i]) + 1;
        if (length == CHUNK) {
            put(w, chunk, sizeof chunk);
            length = 0;
        }
    }
    put(w, chunk, length * sizeof *chunk);
}

/* ---- the file ------------------------------------------------------------------------------ */

static void count(gbm_writer *w)
{
    const gbs_model *m = w->model;
    const gbsi_factors *f = &m->factors;
    const size_t n_states = m->state_offset[m->n_variables];
    gbsi_gbm_counts c = {.n_variables = m->n_variables,
                         .n_states = n_states,
                         .n_factors = f->n_factors,
                         .n_scope = f->scope_start[f->n_factors],
                         .n_tables = f->n_tables,
                         .n_entries = f->table_start[f->n_tables],
                         .n_logical = f->n_logical,
                         .n_named = m->n_named,
                         .n_weights = m->tied.n_weights};
    const uint64_t n_labels = m->label == NULL ? 0 : text_bytes(m->text, m->label, n_states);
    w->n_name_text = m->n_named == 0 ? 0 : text_bytes(m->text, m->name, m->n_variables);
    c.flags = (m->directed ? GBSI_GBM_DIRECTED : 0) | (n_labels > 0 ? GBSI_GBM_LABELS : 0);
    c.n_text = w->n_name_text + n_labels;
    w->counts = c;
}

static void put_header(gbm_writer *w)
{
    const gbsi_gbm_counts *c = &w->counts;
    put(w, gbsi_gbm_magic, sizeof gbsi_gbm_magic);
    put_u32(w, gbsi_gbm_version_of(w->model));
    put_u32(w, c->flags);
    put_u64(w, w->layout.file_bytes);
    const uint64_t counts[GBSI_GBM_N_COUNTS] = {c->n_variables, c->n_states, c->n_factors,
                                                c->n_scope,     c->n_tables, c->n_entries,
                                                c->n_logical,   c->n_named,  c->n_text};
    put(w, counts, sizeof counts);
    put_u64(w, w->layout.n_sections);
    put_u64(w, c->n_weights);
    put_zeros(w, GBSI_GBM_HEADER_BYTES);
    for (unsigned s = 0; s < GBSI_GBM_N_SECTIONS; s++) {
        unsigned char entry[GBSI_GBM_ENTRY_BYTES];
        if (w->layout.present[s]) {
            gbsi_gbm_entry(&w->layout, (gbsi_gbm_section)s, entry);
            put(w, entry, sizeof entry);
        }
    }
}

/* Writes the logical descriptions member by member, because padding bytes between members in memory
 * have undefined values. */
static void put_descriptions(gbm_writer *w)
{
    const gbsi_factors *f = &w->model->factors;
    for (size_t i = 0; i < f->n_logical; i++) {
        const uint8_t bytes[4] = {f->logical[i].function, f->logical[i].head,
                                  (uint8_t)(f->logical[i].k & 0xff),
                                  (uint8_t)(f->logical[i].k >> 8)};
        put(w, bytes, sizeof bytes);
        put_u32(w, f->logical[i].n_body);
        put_u32(w, f->logical[i].n_body_true);
    }
}

/* Writes the arities or the state offsets of variables that have equal arities. */
static void put_alike(gbm_writer *w, gbsi_gbm_section section)
{
    const uint64_t n = w->counts.n_variables;
    for (uint64_t v = 0; v < n + (section == GBSI_GBM_STATE_OFFSET); v++) {
        if (section == GBSI_GBM_ARITY) {
            put_u32(w, w->alike);
        } else {
            put_u64(w, v * w->alike);
        }
    }
}

static void put_section(gbm_writer *w, gbsi_gbm_section section)
{
    const gbs_model *m = w->model;
    const gbsi_factors *f = &m->factors;
    const size_t n_states = m->state_offset[m->n_variables];
    const void *const array[GBSI_GBM_N_SECTIONS] = {
        [GBSI_GBM_ARITY] = m->arity,
        [GBSI_GBM_STATE_OFFSET] = m->state_offset,
        [GBSI_GBM_KIND] = f->kind,
        [GBSI_GBM_SCOPE_START] = f->scope_start,
        [GBSI_GBM_SCOPE] = f->scope,
        [GBSI_GBM_LITERAL] = f->literal,
        [GBSI_GBM_WEIGHT] = f->weight,
        [GBSI_GBM_AUX] = f->aux,
        [GBSI_GBM_TABLE_START] = f->table_start,
        [GBSI_GBM_TABLE] = f->table,
        [GBSI_GBM_BY_NAME] = m->by_name,
        [GBSI_GBM_WEIGHT_VALUE] = m->tied.value,
        [GBSI_GBM_WEIGHT_FIXED] = m->tied.fixed,
    };
    switch (section) {
    case GBSI_GBM_LOGICAL:
        put_descriptions(w);
        break;
    case GBSI_GBM_WEIGHT_NUMBER:
        /* each byte of GBSI_NONE is 0xff */
        put_ties(w, m->tied.number, sizeof *m->tied.number, 0xff);
        break;
    case GBSI_GBM_FEATURE:
        put_ties(w, m->tied.feature, sizeof *m->tied.feature, 0);
        break;
    case GBSI_GBM_TEXT:
        put_text(w, m->name, w->layout.present[GBSI_GBM_NAME] ? m->n_variables : 0);
        put_text(w, m->label, w->layout.present[GBSI_GBM_LABEL] ? n_states : 0);
        break;
    case GBSI_GBM_NAME:
        put_offsets(w, m->name, m->n_variables, 0);
        break;
    case GBSI_GBM_LABEL:
        put_offsets(w, m->label, n_states, w->n_name_text);
        break;
    case GBSI_GBM_ARITY:
    case GBSI_GBM_STATE_OFFSET:
        if (w->alike != 0) {
            put_alike(w, section);
            break;
        } // fallthrough
    default:
        put(w, array[section], (size_t)w->layout.bytes[section]);
    }
}

/* Writes the whole file. w->counts must be set. */
static gbs_status write_all(gbm_writer *w, gbs_error *err)
{
    char text[GBSI_GBM_DIGEST_BYTES + 1];
    GBSI_PASS(gbsi_digest_new(&w->digest, err));
    if (!gbsi_gbm_lay_out(&w->counts, &w->layout)) {
        gbsi_digest_free(w->digest);
        return gbsi_fail(err, GBS_ERR_LIMIT, "more bytes than a gbm file can have");
    }
    put_header(w);
    for (unsigned s = 0; s < GBSI_GBM_N_SECTIONS; s++) {
        if (w->layout.present[s]) {
            put_zeros(w, w->layout.offset[s]);
            put_section(w, (gbsi_gbm_section)s);
        }
    }
    put_zeros(w, w->layout.digest_at);
    gbsi_digest_text(w->digest, text);
    gbsi_output_bytes(w->output, text, GBSI_GBM_DIGEST_BYTES);

    gbsi_digest_free(w->digest);
    return GBS_OK;
}

gbs_status gbsi_gbm_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbm_writer w = {.output = output, .model = model};
    const gbs_status status = gbsi_gbm_check_host("gbm", err);
    (void)options;
    if (status < 0) {
        return status;
    }
    count(&w);
    return write_all(&w, err);
}

gbs_status gbsi_gbm_write_alike(uint32_t n, uint32_t arity, const char *path, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    gbs_model *nothing = NULL;
    gbs_output *output = NULL;
    gbm_writer w = {.alike = arity};
    GBSI_TRY(gbsi_gbm_check_host("gbm", err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbs_builder_build(builder, &nothing, err));
    GBSI_TRY(gbs_output_open(path, &output, err));
    w.model = nothing;
    w.output = output;
    count(&w);
    w.counts.n_variables = n;
    w.counts.n_states = (uint64_t)n * arity;
    GBSI_TRY(write_all(&w, err));
    status = gbs_output_commit(output, err);
    output = NULL;

cleanup:
    gbs_output_discard(output);
    gbs_model_free(nothing);
    gbs_builder_free(builder);
    return status;
}

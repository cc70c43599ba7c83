/* SPDX-License-Identifier: Apache-2.0 */
/* Reads models whose arrays are used in place in the file, see docs/gbm.md. Everything in the file
 * is checked: first the size and the checksum, which show damage, then the header and the layout,
 * then the contents of all arrays. A malicious file is therefore refused, or it is a valid
 * model. */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "models/formats.h"
#include "models/gbm.h"
#include "store/builder.h"
#include "text/input.h"

typedef struct gbm_reader {
    const char *name;
    gbsi_mapping mapping; /* the mapped file */
    gbsi_gbm_counts counts;
    gbsi_gbm_layout layout;
    gbs_model *model;
} gbm_reader;

static const char *at(const gbm_reader *r, uint64_t offset)
{
    return r->mapping.bytes + offset;
}

static uint64_t u64_at(const gbm_reader *r, uint64_t offset)
{
    uint64_t value = 0;
    memcpy(&value, at(r, offset), sizeof value);
    return value;
}

static uint32_t u32_at(const gbm_reader *r, uint64_t offset)
{
    uint32_t value = 0;
    memcpy(&value, at(r, offset), sizeof value);
    return value;
}

/* ---- size and checksum --------------------------------------------------------------------- */

static gbs_status check_magic(const gbm_reader *r, gbs_error *err)
{
    const size_t n = r->mapping.n < sizeof gbsi_gbm_magic ? r->mapping.n : sizeof gbsi_gbm_magic;
    for (size_t i = 0; i < n; i++) {
        const unsigned char found = (unsigned char)r->mapping.bytes[i];
        if (found != gbsi_gbm_magic[i]) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "%s: byte %zu: found %02x, expected %02x as in every gbm file",
                             r->name, i, found, gbsi_gbm_magic[i]);
        }
    }
    return GBS_OK;
}

static gbs_status check_size(const gbm_reader *r, gbs_error *err)
{
    const size_t n = r->mapping.n;
    GBSI_PASS(check_magic(r, err));
    if (n < GBSI_GBM_HEADER_BYTES) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the file, expected a header of %u bytes",
                         r->name, n, GBSI_GBM_HEADER_BYTES);
    }
    const uint32_t version = u32_at(r, sizeof gbsi_gbm_magic);
    if (version < 1 || version > GBSI_GBM_VERSION) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "%s: byte %zu: found version %u, expected at most %u", r->name,
                         sizeof gbsi_gbm_magic, (unsigned)version, GBSI_GBM_VERSION);
    }
    const uint64_t expected = u64_at(r, GBSI_GBM_FILE_BYTES_AT);
    if (expected != n) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the file, expected %llu bytes by its "
                         "header",
                         r->name, n, (unsigned long long)expected);
    }
    if (n < GBSI_GBM_HEADER_BYTES + GBSI_GBM_DIGEST_BYTES) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the file, expected a checksum of %u bytes",
                         r->name, n, GBSI_GBM_DIGEST_BYTES);
    }
    return GBS_OK;
}

static gbs_status check_digest(const gbm_reader *r, gbs_error *err)
{
    const size_t n = r->mapping.n - GBSI_GBM_DIGEST_BYTES;
    char text[GBSI_GBM_DIGEST_BYTES + 1];
    gbsi_digest *digest = NULL;
    gbs_status status = gbsi_digest_new(&digest, err);
    if (status < 0) {
        return status;
    }
    gbsi_digest_bytes(digest, r->mapping.bytes, n);
    gbsi_digest_text(digest, text);
    gbsi_digest_free(digest);
    status = gbsi_watch_work(gbsi_watch_current(), 0, "reading the model", err);
    if (status < 0) {
        return status;
    }
    if (memcmp(at(r, n), text, GBSI_GBM_DIGEST_BYTES) != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found another checksum, expected %s: the file is damaged",
                         r->name, n, text);
    }
    return GBS_OK;
}

/* ---- header and layout --------------------------------------------------------------------- */

typedef struct count {
    const char *name;
    uint64_t *value;
    uint64_t most;
} count;

static gbs_status read_counts(gbm_reader *r, gbs_error *err)
{
    gbsi_gbm_counts *c = &r->counts;
    const count list[GBSI_GBM_N_COUNTS + 1] = {
        {"variables", &c->n_variables, GBS_MAX_VARIABLES},
        {"states", &c->n_states, SIZE_MAX},
        {"factors", &c->n_factors, SIZE_MAX},
        {"variables in scopes", &c->n_scope, SIZE_MAX},
        {"tables", &c->n_tables, GBSI_NONE},
        {"entries of tables", &c->n_entries, SIZE_MAX},
        {"logical descriptions", &c->n_logical, GBSI_NONE},
        {"names", &c->n_named, GBS_MAX_VARIABLES},
        {"bytes of text", &c->n_text, SIZE_MAX},
        {"tied weights", &c->n_weights, GBSI_NONE}, /* the file has this count only in version 2 */
    };
    c->flags = u32_at(r, GBSI_GBM_FLAGS_AT);
    if ((c->flags & ~(uint32_t)(GBSI_GBM_DIRECTED | GBSI_GBM_LABELS)) != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %u: found flags %x, expected at most 3",
                         r->name, GBSI_GBM_FLAGS_AT, (unsigned)c->flags);
    }
    for (unsigned i = 0; i <= GBSI_GBM_N_COUNTS; i++) {
        const unsigned place =
            i < GBSI_GBM_N_COUNTS ? GBSI_GBM_COUNTS_AT + 8 * i : GBSI_GBM_N_WEIGHTS_AT;
        *list[i].value = u64_at(r, place);
        if (*list[i].value > list[i].most) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "%s: byte %u: found %llu %s, expected at most %llu", r->name, place,
                             (unsigned long long)*list[i].value, list[i].name,
                             (unsigned long long)list[i].most);
        }
    }
    if (c->n_text > 0 && c->n_named == 0 && (c->flags & GBSI_GBM_LABELS) == 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %u: found %llu bytes of text, expected 0 without names and "
                         "labels",
                         r->name, GBSI_GBM_COUNTS_AT + 8 * (GBSI_GBM_N_COUNTS - 1),
                         (unsigned long long)c->n_text);
    }
    return GBS_OK;
}

static gbs_status check_zeros(const gbm_reader *r, uint64_t from, uint64_t to, gbs_error *err)
{
    for (uint64_t i = from; i < to; i++) {
        if (*at(r, i) != 0) {
            return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %llu: found %02x, expected 0", r->name,
                             (unsigned long long)i, (unsigned char)*at(r, i));
        }
    }
    return GBS_OK;
}

/* Checks that the table of sections has the positions that follow from the counts. */
static gbs_status check_layout(gbm_reader *r, gbs_error *err)
{
    const gbsi_gbm_layout *l = &r->layout;
    if (!gbsi_gbm_lay_out(&r->counts, &r->layout) || l->file_bytes != r->mapping.n) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %u: found counts that do not make a file of %zu bytes, expected "
                         "those of its content",
                         r->name, GBSI_GBM_COUNTS_AT, r->mapping.n);
    }
    if (u64_at(r, GBSI_GBM_N_SECTIONS_AT) != l->n_sections) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %u: found %llu sections, expected %llu",
                         r->name, GBSI_GBM_N_SECTIONS_AT,
                         (unsigned long long)u64_at(r, GBSI_GBM_N_SECTIONS_AT),
                         (unsigned long long)l->n_sections);
    }
    GBSI_PASS(check_zeros(r, GBSI_GBM_ZEROS_AT, GBSI_GBM_HEADER_BYTES, err));
    uint64_t place = GBSI_GBM_HEADER_BYTES;
    uint64_t end = place + l->n_sections * GBSI_GBM_ENTRY_BYTES;
    for (unsigned s = 0; s < GBSI_GBM_N_SECTIONS; s++) {
        unsigned char entry[GBSI_GBM_ENTRY_BYTES];
        if (!l->present[s]) {
            continue;
        }
        gbsi_gbm_entry(l, (gbsi_gbm_section)s, entry);
        if (memcmp(at(r, place), entry, sizeof entry) != 0) {
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "%s: byte %llu: found another entry, expected section %s of %llu "
                             "bytes at %llu",
                             r->name, (unsigned long long)place, (const char *)entry,
                             (unsigned long long)l->bytes[s], (unsigned long long)l->offset[s]);
        }
        place += GBSI_GBM_ENTRY_BYTES;
        GBSI_PASS(check_zeros(r, end, l->offset[s], err));
        end = l->offset[s] + l->bytes[s];
    }
    return check_zeros(r, end, l->digest_at, err);
}

/* ---- the model ----------------------------------------------------------------------------- */

/* @return an array of the file; NULL if the section is missing. The result is not const, but no
 *   function writes to the arrays of a complete model. */
static void *array(const gbm_reader *r, gbsi_gbm_section section)
{
    return r->layout.present[section] ? r->mapping.bytes + r->layout.offset[section] : NULL;
}

static void point_into_file(gbm_reader *r)
{
    gbs_model *m = r->model;
    gbsi_factors *f = &m->factors;
    const gbsi_gbm_counts *c = &r->counts;
    m->n_variables = (uint32_t)c->n_variables;
    m->n_named = (uint32_t)c->n_named;
    m->directed = (c->flags & GBSI_GBM_DIRECTED) != 0;
    m->arity = array(r, GBSI_GBM_ARITY);
    m->state_offset = array(r, GBSI_GBM_STATE_OFFSET);
    m->text = array(r, GBSI_GBM_TEXT);
    m->name = array(r, GBSI_GBM_NAME);
    m->label = array(r, GBSI_GBM_LABEL);
    m->by_name = array(r, GBSI_GBM_BY_NAME);
    f->n_factors = c->n_factors;
    f->n_tables = c->n_tables;
    f->n_logical = c->n_logical;
    f->kind = array(r, GBSI_GBM_KIND);
    f->scope_start = array(r, GBSI_GBM_SCOPE_START);
    f->scope = array(r, GBSI_GBM_SCOPE);
    f->literal = array(r, GBSI_GBM_LITERAL);
    f->weight = array(r, GBSI_GBM_WEIGHT);
    f->aux = array(r, GBSI_GBM_AUX);
    f->table_start = array(r, GBSI_GBM_TABLE_START);
    f->table = array(r, GBSI_GBM_TABLE);
    f->logical = array(r, GBSI_GBM_LOGICAL);
    m->tied = (gbsi_tied){.n_weights = (uint32_t)c->n_weights,
                          .value = array(r, GBSI_GBM_WEIGHT_VALUE),
                          .fixed = array(r, GBSI_GBM_WEIGHT_FIXED),
                          .n_ties = c->n_weights > 0 ? (size_t)c->n_factors : 0,
                          .number = array(r, GBSI_GBM_WEIGHT_NUMBER),
                          .feature = array(r, GBSI_GBM_FEATURE)};
}

/* Adds the place in the file to the beginning of the message of a function that does not know the
 * file. */
static gbs_status blame(const gbm_reader *r, uint64_t place, gbs_status status, gbs_error *err)
{
    if (status != GBS_ERR_ARGUMENT && status != GBS_ERR_LIMIT) {
        return status;
    }
    status = status == GBS_ERR_ARGUMENT ? GBS_ERR_FORMAT : status;
    if (err != NULL) {
        const gbs_error inner = *err;
        (void)gbsi_fail(err, status, "%s: byte %llu: %s", r->name, (unsigned long long)place,
                        inner.message);
    }
    return status;
}

static gbs_status make_model(gbm_reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_gbm_counts *c = &r->counts;
    const gbsi_extents extents = {.n_states = c->n_states,
                                  .n_scope = c->n_scope,
                                  .n_entries = c->n_entries,
                                  .n_text = c->n_text};
    const void *place = NULL;
    r->model = gbsi_alloc_zero(sizeof *r->model);
    GBSI_PASS(GBSI_HAVE(err, r->name, r->model));
    point_into_file(r);
    status = gbsi_model_check(r->model, &extents, &place, err);
    if (status < 0) {
        return blame(r, (uint64_t)((const char *)place - r->mapping.bytes), status, err);
    }
    const uint32_t needed = gbsi_gbm_version_of(r->model);
    const uint32_t version = u32_at(r, sizeof gbsi_gbm_magic);
    if (version != needed) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found version %u, expected %u for what the file holds",
                         r->name, sizeof gbsi_gbm_magic, (unsigned)version, (unsigned)needed);
    }
    /* fails only if the factors do not form a Bayesian network */
    status = gbsi_model_index(r->model, c->n_text, err);
    GBSI_TRY(blame(r, r->layout.offset[GBSI_GBM_SCOPE], status, err));

cleanup:
    return status;
}

static gbs_status check_options(const gbm_reader *r, const gbs_read_options *options,
                                gbs_error *err)
{
    if (options->normalize_cpts != 0 && (r->counts.flags & GBSI_GBM_DIRECTED) != 0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "%s: tables of gbm files are used as they are: give --normalize-cpts when "
                         "converting to gbm",
                         r->name);
    }
    return GBS_OK;
}

/* Reads a model from the input, and takes ownership of the input. */
static gbs_status read_input(gbsi_input *input, const gbs_read_options *options, gbs_model **model,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbm_reader r = {.name = input->name};
    GBSI_TRY(gbsi_input_take(input, &r.mapping, err));
    GBSI_TRY(gbsi_gbm_check_host(r.name, err));
    GBSI_TRY(check_size(&r, err));
    GBSI_TRY(check_digest(&r, err));
    GBSI_TRY(read_counts(&r, err));
    GBSI_TRY(check_layout(&r, err));
    GBSI_TRY(check_options(&r, options, err));
    GBSI_TRY(make_model(&r, err));
    if (r.counts.n_factors == 0) {
        /* a file without factors has the names for the shares of a model */
        gbsi_mapping_rest(&r.mapping);
    }
    r.model->mapping = r.mapping;
    *model = r.model;
    return GBS_OK;

cleanup:
    gbsi_free(r.model);
    gbsi_mapping_free(&r.mapping);
    return status;
}

bool gbsi_is_gbm(const gbsi_input *input)
{
    return input->n >= sizeof gbsi_gbm_magic &&
           memcmp(input->bytes, gbsi_gbm_magic, sizeof gbsi_gbm_magic) == 0;
}

gbs_status gbsi_gbm_read_file(const char *path, const gbs_read_options *options, gbs_model **model,
                              gbs_error *err)
{
    gbsi_input input;
    gbs_status status = gbsi_input_map(path, gbsi_is_gbm, options->private_copy != 0, &input, err);
    if (status == GBS_OK) {
        status = read_input(&input, options, model, err);
        gbsi_input_free(&input);
    }
    return status;
}

gbs_status gbsi_gbm_read(const gbsi_input *input, const gbs_read_options *options,
                         gbs_model **model, gbs_error *err)
{
    gbsi_input borrowed = {.name = input->name, .bytes = input->bytes, .n = input->n};
    return read_input(&borrowed, options, model, err);
}

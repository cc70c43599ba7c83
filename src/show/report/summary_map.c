/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the marginals of a grid as pictures with a pixel for each variable. One picture shows
 * the probability of state 1, or the most probable state if variables have more than two states.
 * Another picture shows the largest standard error. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "chart/chart_pen.h"
#include "config.h"
#include "pictures/image_file.h"
#include "report/summary.h"

#ifdef GBSI_HAVE_PNG
static const bool writes_png = true;
#else
static const bool writes_png = false;
#endif

enum {
    MOST_SIDE = 512, /* largest side in pixels; larger grids are reduced */
    LEAST_SIDE = 4,  /* least side of a grid that is recognised by its factors */
    MOST_LABELS = 8, /* number of colours that can be told apart */
    /* distances of neighbours: to the right, down, and across the two edges of a torus */
    N_DISTANCES = 4,
};

/* ---- finding the grid ------------------------------------------------------------------------ */

/* Finds the distances
 * u - v
 * of all pairs in factors of two variables.
 * @return the number of different distances; N_DISTANCES + 1 if there are more, or if a factor
 *   has more variables. */
static int find_distances(const gbs_model *model, uint32_t distance[N_DISTANCES])
{
    int n = 0;
    for (size_t f = 0; f < gbs_model_n_factors(model); f++) {
        const uint32_t *scope = NULL;
        uint32_t n_scope = 0;
        (void)gbs_model_factor(model, f, &n_scope, &scope);
        if (n_scope < 2) {
            continue;
        }
        const uint32_t d = scope[0] < scope[1] ? scope[1] - scope[0] : scope[0] - scope[1];
        int i = 0;
        while (i < n && distance[i] != d) {
            i++;
        }
        if (n_scope > 2 || (i == n && n == N_DISTANCES)) {
            return N_DISTANCES + 1;
        }
        distance[i] = d;
        n += i == n;
    }
    return n;
}

/* Whether all pairs are neighbours if each row has `columns` variables, with or without
 * neighbours across the edges. */
static bool fits(const gbs_model *model, uint32_t n, uint32_t columns)
{
    for (size_t f = 0; f < gbs_model_n_factors(model); f++) {
        const uint32_t *scope = NULL;
        uint32_t n_scope = 0;
        (void)gbs_model_factor(model, f, &n_scope, &scope);
        if (n_scope < 2) {
            continue;
        }
        const uint32_t u = scope[0] < scope[1] ? scope[0] : scope[1];
        const uint32_t d = scope[0] + scope[1] - 2 * u;
        const uint32_t at = u % columns;
        const bool beside = d == 1 && at + 1 < columns;
        const bool round = d == columns - 1 && at == 0;
        if (!beside && !round && d != columns && d != n - columns) {
            return false;
        }
    }
    return true;
}

/* Recognises variables that are numbered row by row, as in pictures and generated grids. */
static void find_grid(const gbs_model *model, uint32_t *rows, uint32_t *columns)
{
    uint32_t distance[N_DISTANCES];
    const uint32_t n = gbs_model_n_variables(model);
    const int n_distances = find_distances(model, distance);
    for (int i = 0; i < n_distances && n_distances <= N_DISTANCES; i++) {
        const uint32_t c = distance[i];
        if (c >= LEAST_SIDE && n % c == 0 && n / c >= LEAST_SIDE && fits(model, n, c)) {
            *rows = n / c;
            *columns = c;
            return;
        }
    }
}

/* ---- pixels ---------------------------------------------------------------------------------- */

typedef struct picture {
    const size_t *offset;
    const double *p, *mcse;
    uint32_t rows, columns, arity;
    uint32_t step; /* number of variables on a side of a pixel */
    uint32_t width, height;
    double most_error;
} picture;

static double error_of(const picture *m, size_t v)
{
    double most = 0.0;
    for (size_t i = m->offset[v]; i < m->offset[v + 1]; i++) {
        most = m->mcse[i] > most ? m->mcse[i] : most;
    }
    return most;
}

static uint32_t best_state(const picture *m, size_t v)
{
    const double *p = m->p + m->offset[v];
    uint32_t best = 0;
    for (uint32_t a = 1; a < m->arity; a++) {
        best = p[a] > p[best] ? a : best;
    }
    return best;
}

/* @return the level of a pixel that stands for several variables: their mean probability or
 *   largest error. */
static uint16_t level_of(const picture *m, uint32_t x, uint32_t y, bool errors)
{
    double sum = 0.0;
    double most = 0.0;
    uint32_t n = 0;
    for (uint32_t r = y * m->step; r < (y + 1) * m->step && r < m->rows; r++) {
        for (uint32_t c = x * m->step; c < (x + 1) * m->step && c < m->columns; c++) {
            const size_t v = (size_t)r * m->columns + c;
            const double error = errors ? error_of(m, v) : 0.0;
            most = error > most ? error : most;
            sum += errors ? 0.0 : m->p[m->offset[v] + 1];
            n++;
        }
    }
    const double share = errors ? (m->most_error > 0.0 ? most / m->most_error : 0.0) : sum / n;
    return (uint16_t)(share <= 0.0 ? 0.0 : share >= 1.0 ? 255.0 : share * 255.0 + 0.5);
}

/* Sets colours of one hue from light to dark, which can be read in grey and with any colour
 * vision. */
static void set_ramp(gbs_image *image, bool errors)
{
    static const uint8_t stop[2][4][3] = {
        {{246, 249, 252}, {158, 202, 232}, {0, 114, 178}, {0, 38, 66}},
        {{252, 248, 244}, {245, 190, 145}, {213, 94, 0}, {74, 30, 0}}};
    for (int i = 0; i < 256; i++) {
        const int part = i * 3 / 256;
        const int from = part * 256 / 3;
        const int width = (part + 1) * 256 / 3 - from;
        for (int c = 0; c < 3; c++) {
            const int a = stop[errors][part][c];
            const int b = stop[errors][part + 1][c];
            image->color[i][c] = (uint8_t)(a + (b - a) * (i - from) / width);
        }
    }
}

static gbs_status write_png(const gbs_image *image, gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *memory = NULL;
    char *bytes = NULL;
    size_t n = 0;
    GBSI_TRY(gbs_output_open_memory(&memory, err));
    GBSI_TRY(gbsi_png_write(image, "picture of marginals", memory, err));
    status = gbs_output_take(memory, &bytes, &n, err);
    memory = NULL;
    if (status >= 0) {
        gbsi_output_text(output, "\"");
        gbsi_put_base64(output, (const unsigned char *)bytes, n);
        gbsi_output_text(output, "\"");
    }

cleanup:
    gbs_output_discard(memory);
    gbs_free(bytes);
    return status;
}

static gbs_status write_levels(const picture *m, bool errors, gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_image image = {0};
    GBSI_TRY(gbs_image_new(GBS_IMAGE_PALETTE, m->width, m->height, 255, 256, &image, err));
    set_ramp(&image, errors);
    for (uint32_t y = 0; y < m->height; y++) {
        for (uint32_t x = 0; x < m->width; x++) {
            image.sample[(size_t)y * m->width + x] = level_of(m, x, y, errors);
        }
    }
    status = write_png(&image, output, err);

cleanup:
    gbs_image_free(&image);
    return status;
}

static gbs_status write_states(const picture *m, gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_image image = {0};
    uint32_t *state = gbsi_alloc_array((size_t)m->width * m->height, sizeof *state);
    GBSI_PASS(GBSI_HAVE(err, "picture of marginals", state));
    for (uint32_t y = 0; y < m->height; y++) {
        for (uint32_t x = 0; x < m->width; x++) {
            const size_t v = (size_t)y * m->step * m->columns + (size_t)x * m->step;
            state[(size_t)y * m->width + x] = best_state(m, v);
        }
    }
    GBSI_TRY(gbs_image_from_labels(state, m->width, m->height, m->arity, &image, err));
    status = write_png(&image, output, err);

cleanup:
    gbs_image_free(&image);
    gbsi_free(state);
    return status;
}

/* ---- the member "map" ------------------------------------------------------------------------ */

static bool is_picture(const gbs_model *model, picture *m)
{
    const uint32_t n = gbs_model_n_variables(model);
    if (n == 0 || m->rows == 0 || (uint64_t)m->rows * m->columns != n) {
        return false;
    }
    m->arity = gbs_model_arity(model, 0);
    for (uint32_t v = 0; v < n; v++) {
        if (gbs_model_arity(model, v) != m->arity || isnan(m->p[m->offset[v]])) {
            return false;
        }
        const double error = error_of(m, v);
        m->most_error = error > m->most_error ? error : m->most_error;
    }
    const uint32_t side = m->rows > m->columns ? m->rows : m->columns;
    m->step = (side + MOST_SIDE - 1) / MOST_SIDE;
    m->width = (m->columns + m->step - 1) / m->step;
    m->height = (m->rows + m->step - 1) / m->step;
    return m->arity >= 2 && m->arity <= MOST_LABELS;
}

static void write_names(const gbs_model *model, uint32_t arity, gbs_output *output)
{
    gbsi_output_text(output, ", \"states\": [");
    for (uint32_t a = 0; a < arity; a++) {
        const char *label = gbs_model_state_label(model, 0, a);
        const char number[2] = {(char)('0' + a), 0};
        gbsi_output_text(output, a > 0 ? ", " : "");
        gbsi_output_json_string(output, label == NULL ? number : label);
    }
    gbsi_output_text(output, "]");
}

gbs_status gbsi_summary_map(const gbs_model *model, uint32_t rows, uint32_t columns,
                            const double *p, const double *mcse, gbs_output *output, gbs_error *err)
{
    picture m = {.p = p, .mcse = mcse, .rows = rows, .columns = columns};
    m.offset = gbs_model_state_offsets(model);
    if (rows == 0) {
        find_grid(model, &m.rows, &m.columns);
    }
    if (!writes_png || !is_picture(model, &m)) {
        gbsi_output_text(output, "null");
        return GBS_OK;
    }
    gbsi_output_text(output, "{\"rows\": ");
    gbsi_output_uint(output, m.rows);
    gbsi_summary_uint(output, "columns", m.columns);
    gbsi_summary_uint(output, "variables_per_side", m.step);
    gbsi_summary_text(output, "shows", m.arity == 2 ? "probability" : "state");
    write_names(model, m.arity, output);
    gbsi_summary_real(output, "largest_error", m.most_error);
    gbsi_output_text(output, ",\n    \"png\": ");
    GBSI_PASS(m.arity == 2 ? write_levels(&m, false, output, err) : write_states(&m, output, err));
    gbsi_output_text(output, ",\n    \"errors_png\": ");
    if (m.most_error > 0.0) {
        GBSI_PASS(write_levels(&m, true, output, err));
    } else {
        gbsi_output_text(output, "null");
    }
    gbsi_output_text(output, "}");
    return GBS_OK;
}

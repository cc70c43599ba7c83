/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of updates under growth by coupling. */
#include "lab/update_counts.h"

#include <string.h>

#include "base/memory.h"
#include "gibbsite/generate.h"
#include "lab/pictures.h"
#include "lab/plot.h"

#define NOISE    1.0
#define WIDTH    5
#define SPLASHES 8u
#define SHARE    40u                /* a splash has at most this part of the pixels */
#define PASS     (SHARE / SPLASHES) /* rounds of a pass, or more */

static uint64_t rounds_of(const laboratory *lab)
{
    return lab->options->quick ? 120 : 200;
}

double lab_update_counts_updates(const laboratory *lab)
{
    const gbs_generate_potts_options picture = lab_grey_picture(lab, NOISE);
    const double n = (double)picture.rows * picture.columns;
    const uint64_t passes = rounds_of(lab) / PASS + 2; /* of each of two runs; the third has one */
    return n * (2.0 * (double)passes + 1.0);
}

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct listener {
    laboratory *lab;
    lab_tally *tally;
} listener;

static int on_progress(void *context, const gbs_progress *progress)
{
    const listener *l = context;
    return lab_tell(l->lab, (double)progress->updates);
}

static void see_splash(void *context, uint64_t round, uint32_t splash, uint32_t variable)
{
    const listener *l = context;
    lab_tally *t = l->tally;
    if (round >= t->first && round < t->last) {
        t->updates[variable]++;
    }
    if (round + 1 == t->last) {
        t->owner[variable] = splash + 1;
    }
}

static gbs_status see_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                           const uint32_t *state, gbs_error *err)
{
    const listener *l = context;
    (void)draw;
    (void)chain;
    (void)log_density;
    (void)err;
    memcpy(l->tally->state, state, l->tally->n * sizeof *state);
    return GBS_OK;
}

static bool at_edge(const lab_tally *t, uint32_t side, uint32_t i)
{
    const uint32_t row = i / side;
    const uint32_t column = i % side;
    const uint32_t x = t->state[i];
    return (row > 0 && t->state[i - side] != x) || (row + 1 < side && t->state[i + side] != x) ||
           (column > 0 && t->state[i - 1] != x) || (column + 1 < side && t->state[i + 1] != x);
}

static void compare(lab_tally *t, uint32_t side)
{
    uint64_t n[2] = {0, 0};
    uint64_t updates[2] = {0, 0};
    for (uint32_t i = 0; i < t->n; i++) {
        const unsigned where = at_edge(t, side, i);
        n[where]++;
        updates[where] += t->updates[i];
    }
    t->edge = (double)updates[1] / (double)n[1] / ((double)updates[0] / (double)n[0]);
}

/* One chain: what is adapted to is its state. */
static gbs_status count(laboratory *lab, const gbs_model *model, int grow, uint64_t first,
                        uint64_t last, uint32_t side, lab_tally *t, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbs_run_options options = lab_options(lab, 1, 1);
    listener l = {lab, t};
    const gbs_run_callbacks callbacks = {
        .context = &l, .progress = on_progress, .draw = see_draw, .splash = see_splash};
    *t = (lab_tally){.n = side * side, .first = first, .last = last};
    t->updates = gbsi_alloc_array_zero(t->n, sizeof *t->updates);
    t->owner = gbsi_alloc_array_zero(t->n, sizeof *t->owner);
    t->state = gbsi_alloc_array_zero(t->n, sizeof *t->state);
    if (t->updates == NULL || t->owner == NULL || t->state == NULL) {
        return gbsi_no_memory(err, "pixels", 3 * t->n * sizeof *t->state);
    }
    options.scan = GBS_SCAN_SPLASH;
    options.width = WIDTH;
    options.splashes = SPLASHES;
    options.splash_size = t->n / SHARE;
    options.grow = grow;
    options.adapt = grow == GBS_GROW_ADAPTIVE ? last : 0;
    options.burn_in = last / PASS + 1;
    lab->what = grow == GBS_GROW_ADAPTIVE ? "adaptive growth" : "growth";
    GBSI_TRY(gbs_run_new(model, NULL, &options, &run, err));
    LAB_TRY(gbs_run_execute(run, &callbacks, err));
    lab->done += (double)gbs_run_report(run)->updates;
    compare(t, side);
cleanup:
    gbs_run_free(run);
    return status;
}

/* What was seen: without couplings mean field is exact, and the likeliest level the one nearest to
 * the noisy value. */
static gbs_status find_noisy(const gbs_generate_potts_options *picture, gbs_image *image,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_generate_potts_options alone = *picture;
    gbs_run_options options = gbs_run_options_default();
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    const uint32_t n = picture->rows * picture->columns;
    double *p = gbsi_alloc_array(n, LAB_GREY_LEVELS * sizeof *p);
    uint32_t *level = gbsi_alloc_array_zero(n, sizeof *level);
    if (p == NULL || level == NULL) {
        status = gbsi_no_memory(err, "pixels", n * LAB_GREY_LEVELS * sizeof *p);
        goto cleanup;
    }
    alone.coupling = 0.0;
    options.method = GBS_METHOD_MEAN_FIELD;
    GBSI_TRY(gbs_generate_potts(&alone, &model, err));
    GBSI_TRY(gbs_run_new(model, NULL, &options, &run, err));
    GBSI_TRY(gbs_run_execute(run, NULL, err));
    GBSI_TRY(gbs_run_marginals(run, p, NULL, NULL, NULL, err));
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t a = 1; a < LAB_GREY_LEVELS; a++) {
            level[i] =
                p[i * LAB_GREY_LEVELS + a] > p[i * LAB_GREY_LEVELS + level[i]] ? a : level[i];
        }
    }
    GBSI_TRY(
        gbs_image_from_levels(level, picture->columns, picture->rows, LAB_GREY_LEVELS, image, err));
cleanup:
    gbsi_free(p);
    gbsi_free(level);
    gbs_run_free(run);
    gbs_model_free(model);
    return status;
}

gbs_status lab_update_counts_run(laboratory *lab, lab_update_counts *out, gbs_error *err)
{
    const uint64_t rounds = rounds_of(lab);
    const gbs_generate_potts_options picture = lab_grey_picture(lab, NOISE);
    const uint32_t side = picture.rows;
    gbs_status status = GBS_OK;
    gbs_model *model = NULL;
    out->side = side;
    GBSI_TRY(find_noisy(&picture, &out->noisy, err));
    GBSI_TRY(gbs_generate_potts(&picture, &model, err));
    LAB_TRY(count(lab, model, GBS_GROW_FIFO, 0, 1, side, &out->fifo, err));
    LAB_TRY(count(lab, model, GBS_GROW_RANDOM, rounds / 2, rounds, side, &out->random, err));
    LAB_TRY(count(lab, model, GBS_GROW_ADAPTIVE, rounds / 2, rounds, side, &out->adaptive, err));
cleanup:
    gbs_model_free(model);
    return status;
}

static void free_tally(lab_tally *t)
{
    gbsi_free(t->updates);
    gbsi_free(t->owner);
    gbsi_free(t->state);
    *t = (lab_tally){0};
}

void lab_update_counts_free(lab_update_counts *a)
{
    gbs_image_free(&a->noisy);
    free_tally(&a->fifo);
    free_tally(&a->random);
    free_tally(&a->adaptive);
}

/* ---- what is written ------------------------------------------------------------------------ */

/* White: two and a half times the mean or more. */
static gbs_status map_updates(const lab_tally *t, uint32_t side, gbs_image *image, gbs_error *err)
{
    double mean = 0.0;
    double *p = gbsi_alloc_array(t->n, sizeof *p);
    if (p == NULL) {
        return gbsi_no_memory(err, "pixels", t->n * sizeof *p);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        mean += t->updates[i];
    }
    mean /= t->n;
    for (uint32_t i = 0; i < t->n; i++) {
        p[i] = t->updates[i] / (2.5 * mean);
        p[i] = p[i] < 1.0 ? p[i] : 1.0;
    }
    const gbs_status status = gbs_image_from_probabilities(p, side, side, image, err);
    gbsi_free(p);
    return status;
}

static gbs_status write_table(const laboratory *lab, const lab_update_counts *a, gbs_error *err)
{
    lab_table table = lab_table_open(lab, "updates.csv",
                                     "row,column,state,edge,updates_adaptive,updates_random", err);
    for (uint32_t i = 0; i < a->adaptive.n; i++) {
        const uint32_t row = i / a->side;
        LAB_ROW(&table, NULL, NULL, row, i % a->side, a->adaptive.state[i],
                at_edge(&a->adaptive, a->side, i), a->adaptive.updates[i], a->random.updates[i]);
    }
    return lab_table_close(&table);
}

gbs_status lab_update_counts_draw(const laboratory *lab, const lab_update_counts *a, gbs_error *err)
{
    enum { FIFO, ADAPTIVE, STATE, UPDATES, RANDOM, N_IMAGES };
    static const char *const title[N_IMAGES] = {"splashes, first come", "splashes by coupling",
                                                "state of the chain", "updates, by coupling",
                                                "updates, at random"};
    lab_plot plot;
    gbs_status status = GBS_OK;
    gbs_image image[N_IMAGES] = {{0}};
    const uint32_t side = a->side;
    GBSI_TRY(write_table(lab, a, err));
    GBSI_TRY(gbs_image_from_labels(a->fifo.owner, side, side, SPLASHES + 1, &image[FIFO], err));
    GBSI_TRY(
        gbs_image_from_labels(a->adaptive.owner, side, side, SPLASHES + 1, &image[ADAPTIVE], err));
    GBSI_TRY(
        gbs_image_from_levels(a->adaptive.state, side, side, LAB_GREY_LEVELS, &image[STATE], err));
    GBSI_TRY(map_updates(&a->adaptive, side, &image[UPDATES], err));
    GBSI_TRY(map_updates(&a->random, side, &image[RANDOM], err));
    lab_plot_begin(&plot, LAB_PGS_ADAPTATION_PICTURES, 1);
    lab_plot_image(&plot, "noisy picture", &a->noisy);
    for (int i = 0; i < N_IMAGES; i++) {
        lab_plot_image(&plot, title[i], &image[i]);
    }
    GBSI_TRY(lab_plot_write(lab, &plot, err));
cleanup:
    for (int i = 0; i < N_IMAGES; i++) {
        gbs_image_free(&image[i]);
    }
    return status;
}

void lab_update_counts_judge(laboratory *lab, const lab_update_counts *a)
{
    lab_find(lab,
             LAB_JUDGE(adaptation_edges, .coupling = a->adaptive.edge, .random = a->random.edge),
             "pixels next to a pixel of another state are updated %.2f times as often as others by "
             "splashes that grow by coupling, %.2f times by splashes that grow at random (wanted "
             "above 1.1, and 0.9 to 1.1)",
             a->adaptive.edge, a->random.edge);
}

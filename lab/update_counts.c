/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the updates by splashes that grow by coupling, and by splashes that grow at random. */
#include "lab/update_counts.h"

#include <string.h>

#include "base/memory.h"
#include "gibbsite/generate.h"
#include "lab/pictures.h"
#include "lab/plot.h"

#define NOISE    1.0
#define WIDTH    5
#define SPLASHES 8u
#define SHARE    40u                /* a splash has at most 1 / SHARE of the pixels */
#define PASS     (SHARE / SPLASHES) /* largest number of rounds that make up a pass */
#define CROWD    160u               /* number of splashes of one round, which fill the picture */
#define ADAPTED  8u                 /* number of rounds before the splashes are recorded */
#define EARLY    PASS               /* number of rounds that count as early */
#define DETAIL   32u                /* side, in pixels, of the square that is shown enlarged */

static uint64_t rounds_of(const laboratory *lab)
{
    return lab->options->quick ? 120 : 200;
}

double lab_update_counts_updates(const laboratory *lab)
{
    const gbs_generate_potts_options picture = lab_grey_picture(lab, NOISE);
    const double n = (double)picture.rows * picture.columns;
    const uint64_t passes = rounds_of(lab) / PASS + 2; /* number of passes of each of two runs */
    return n * (2.0 * (double)passes + 2.0 * (ADAPTED + 1.0));
}

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct listener {
    laboratory *lab;
    lab_tally *tally;
    uint32_t splash, taken; /* number of the growing splash, from 1 on, and position of its last
                               pixel, from 0 on */
} listener;

static int on_progress(void *context, const gbs_progress *progress)
{
    const listener *l = context;
    return lab_tell(l->lab, (double)progress->updates);
}

static void see_splash(void *context, uint64_t round, uint32_t splash, uint32_t variable)
{
    listener *l = context;
    lab_tally *t = l->tally;
    l->taken = l->splash == splash + 1 ? l->taken + 1 : 0;
    l->splash = splash + 1;
    t->early[variable] += round < EARLY;
    if (round >= t->first && round < t->last) {
        t->updates[variable]++;
    }
    if (round + 1 == t->last) {
        t->owner[variable] = splash + 1;
        t->place[variable] = l->taken;
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

/* Mean of counts of pixels next to a pixel of another state, divided by the mean of the others. */
static double edge_of(const lab_tally *t, const uint32_t *count, uint32_t side)
{
    uint64_t n[2] = {0, 0};
    uint64_t sum[2] = {0, 0};
    for (uint32_t i = 0; i < t->n; i++) {
        const unsigned where = at_edge(t, side, i);
        n[where]++;
        sum[where] += count[i];
    }
    return (double)sum[1] / (double)n[1] / ((double)sum[0] / (double)n[0]);
}

/* Runs one chain with a scan that adapts to the states of this chain. */
static gbs_status count(laboratory *lab, const gbs_model *model, int grow, uint32_t splashes,
                        uint64_t first, uint64_t last, uint32_t side, lab_tally *t, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    gbs_run_options options = lab_options(lab, 1, 1);
    listener l = {.lab = lab, .tally = t};
    const gbs_run_callbacks callbacks = {
        .context = &l, .progress = on_progress, .draw = see_draw, .splash = see_splash};
    *t = (lab_tally){.n = side * side, .first = first, .last = last};
    t->updates = gbsi_alloc_array_zero(t->n, sizeof *t->updates);
    t->early = gbsi_alloc_array_zero(t->n, sizeof *t->early);
    t->owner = gbsi_alloc_array_zero(t->n, sizeof *t->owner);
    t->place = gbsi_alloc_array_zero(t->n, sizeof *t->place);
    t->state = gbsi_alloc_array_zero(t->n, sizeof *t->state);
    GBSI_PASS(GBSI_HAVE(err, "pixels", t->updates, t->early, t->owner, t->place, t->state));
    options.scan = GBS_SCAN_SPLASH;
    options.width = WIDTH;
    options.splashes = splashes;
    options.splash_size = t->n / SHARE;
    options.grow = grow;
    options.adapt = grow == GBS_GROW_ADAPTIVE ? last : 0;
    options.burn_in = splashes == SPLASHES ? last / PASS + 1 : last + 1;
    lab_begin(lab, grow == GBS_GROW_ADAPTIVE ? "adaptive growth" : "growth", lab->total);
    GBSI_TRY(gbs_run_new(model, NULL, &options, &run, err));
    LAB_TRY(gbs_run_execute(run, &callbacks, err));
    lab->done += (double)gbs_run_report(run)->updates;
    t->edge = edge_of(t, t->updates, side);
    t->early_edge = edge_of(t, t->early, side);
cleanup:
    gbs_run_free(run);
    return status;
}

/* Computes the noisy picture, rounded to levels. Without couplings mean field is exact, and the
 * most probable level is the level nearest to the noisy value. */
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
    GBSI_TRY(GBSI_HAVE(err, "pixels", p, level));
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
    GBSI_FREE(p, level);
    gbs_run_free(run);
    gbs_model_free(model);
    return status;
}

/* ---- the splashes of one round --------------------------------------------------------------- */

static uint32_t count_touching(const lab_tally *t, uint32_t side)
{
    uint32_t touching = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const uint32_t right = i % side + 1 < side ? t->owner[i + 1] : 0;
        const uint32_t below = i + side < t->n ? t->owner[i + side] : 0;
        touching += t->owner[i] != 0 && right != 0 && right != t->owner[i];
        touching += t->owner[i] != 0 && below != 0 && below != t->owner[i];
    }
    return touching;
}

/* Grows the trees of all splashes of a round again, from the order in which the splashes took
 * pixels.
 * @param largest out: tree of the largest splash. */
static gbs_status grow_trees(lab_update_counts *a, const lab_tally *t, lab_table *table,
                             lab_splash_tree *largest, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_splash_tree tree = {0};
    uint32_t size[CROWD + 1] = {0};
    uint32_t best = 1;
    uint32_t *pixel = gbsi_alloc_array(t->n, sizeof *pixel);
    GBSI_PASS(GBSI_HAVE(err, "pixels", pixel));
    for (uint32_t i = 0; i < t->n; i++) {
        size[t->owner[i]]++;
    }
    for (uint32_t splash = 1; splash <= CROWD; splash++) {
        best = size[splash] > size[best] ? splash : best;
    }
    for (uint32_t splash = 1; splash <= CROWD; splash++) {
        for (uint32_t i = 0; i < t->n; i++) {
            if (t->owner[i] == splash) {
                pixel[t->place[i]] = i;
            }
        }
        if (size[splash] > 0) {
            GBSI_TRY(lab_splash_tree_grow(pixel, size[splash], a->side,
                                          splash == best ? table : NULL, &tree, err));
            a->n_splashes++;
            a->widest = tree.widest > a->widest ? tree.widest : a->widest;
            a->differ += tree.differ;
        }
        if (splash == best) {
            *largest = tree;
            tree = (lab_splash_tree){0};
        }
        lab_splash_tree_free(&tree);
    }
cleanup:
    lab_splash_tree_free(&tree);
    gbsi_free(pixel);
    return status;
}

static gbs_status grow_all(const laboratory *lab, lab_update_counts *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    lab_table table = lab_table_open(lab, "tree.csv", LAB_SPLASH_TREE_HEADER, err);
    a->touching = count_touching(&a->fifo, a->side) + count_touching(&a->coupled, a->side);
    GBSI_TRY(grow_trees(a, &a->fifo, &table, &a->first_come, err));
    GBSI_TRY(grow_trees(a, &a->coupled, NULL, &a->by_coupling, err));
cleanup:
    if (status < 0) {
        gbs_output_discard(table.output);
        return status;
    }
    return lab_table_close(&table);
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
    LAB_TRY(count(lab, model, GBS_GROW_FIFO, CROWD, 0, 1, side, &out->fifo, err));
    LAB_TRY(count(lab, model, GBS_GROW_ADAPTIVE, CROWD, 0, ADAPTED, side, &out->coupled, err));
    LAB_TRY(
        count(lab, model, GBS_GROW_RANDOM, SPLASHES, rounds / 2, rounds, side, &out->random, err));
    LAB_TRY(count(lab, model, GBS_GROW_ADAPTIVE, SPLASHES, rounds / 2, rounds, side, &out->adaptive,
                  err));
    GBSI_TRY(grow_all(lab, out, err));
cleanup:
    gbs_model_free(model);
    return status;
}

static void free_tally(lab_tally *t)
{
    GBSI_FREE(t->updates, t->early, t->owner, t->place, t->state);
    *t = (lab_tally){0};
}

void lab_update_counts_free(lab_update_counts *a)
{
    gbs_image_free(&a->noisy);
    lab_splash_tree_free(&a->first_come);
    lab_splash_tree_free(&a->by_coupling);
    free_tally(&a->fifo);
    free_tally(&a->coupled);
    free_tally(&a->random);
    free_tally(&a->adaptive);
}

/* ---- writing results ------------------------------------------------------------------------ */

/* Draws a map of updates, in which white is at least two and a half times the mean. */
static gbs_status map_updates(const uint32_t *count, uint32_t side, gbs_image *image,
                              gbs_error *err)
{
    const uint32_t n = side * side;
    double mean = 0.0;
    double *p = gbsi_alloc_array(n, sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "pixels", p));
    for (uint32_t i = 0; i < n; i++) {
        mean += count[i];
    }
    mean /= n;
    for (uint32_t i = 0; i < n; i++) {
        p[i] = count[i] / (2.5 * mean);
        p[i] = p[i] < 1.0 ? p[i] : 1.0;
    }
    const gbs_status status = gbs_image_from_probabilities(p, side, side, image, err);
    gbsi_free(p);
    return status;
}

static gbs_status write_table(const laboratory *lab, const lab_update_counts *a, gbs_error *err)
{
    lab_table table =
        lab_table_open(lab, "updates.csv",
                       "row,column,state,edge,updates_early,updates_adaptive,updates_random", err);
    for (uint32_t i = 0; i < a->adaptive.n; i++) {
        const uint32_t row = i / a->side;
        LAB_ROW(&table, NULL, NULL, row, i % a->side, a->adaptive.state[i],
                at_edge(&a->adaptive, a->side, i), a->adaptive.early[i], a->adaptive.updates[i],
                a->random.updates[i]);
    }
    return lab_table_close(&table);
}

/* Finds the square in which most splashes meet. @return its first pixel. */
static uint32_t find_detail(const lab_tally *t, uint32_t side)
{
    uint32_t best = 0;
    uint32_t most = 0;
    for (uint32_t row = 0; row + DETAIL <= side; row += DETAIL / 4) {
        for (uint32_t column = 0; column + DETAIL <= side; column += DETAIL / 4) {
            bool seen[CROWD + 1] = {false};
            uint32_t n = 0;
            for (uint32_t i = 0; i < DETAIL * DETAIL; i++) {
                const uint32_t owner = t->owner[(row + i / DETAIL) * side + column + i % DETAIL];
                n += owner != 0 && !seen[owner];
                seen[owner] = true;
            }
            best = n > most ? row * side + column : best;
            most = n > most ? n : most;
        }
    }
    return best;
}

static gbs_status show_splashes(const lab_tally *t, uint32_t side, gbs_image image[2],
                                gbs_error *err)
{
    uint32_t part[DETAIL * DETAIL];
    const uint32_t first = find_detail(t, side);
    for (uint32_t i = 0; i < DETAIL * DETAIL; i++) {
        part[i] = t->owner[first + i / DETAIL * side + i % DETAIL];
    }
    const gbs_status status =
        gbs_image_from_labels(t->owner, side, side, CROWD + 1, &image[0], err);
    return status < 0 ? status
                      : gbs_image_from_labels(part, DETAIL, DETAIL, CROWD + 1, &image[1], err);
}

gbs_status lab_update_counts_draw(const laboratory *lab, const lab_update_counts *a, gbs_error *err)
{
    enum { FIFO, FIFO_PART, COUPLED, COUPLED_PART, STATE, EARLIEST, UPDATES, RANDOM, N_IMAGES };
    static const char *const title[N_IMAGES] = {
        "splashes, first come",       "a part of them",
        "splashes by coupling",       "a part of them",
        "state of the chain",         "early updates, by coupling",
        "later updates, by coupling", "updates, at random"};
    lab_plot plot;
    gbs_status status = GBS_OK;
    gbs_image image[N_IMAGES] = {{0}};
    const uint32_t side = a->side;
    GBSI_TRY(write_table(lab, a, err));
    GBSI_TRY(lab_splash_trees_draw(lab, &a->first_come, &a->by_coupling, err));
    GBSI_TRY(show_splashes(&a->fifo, side, &image[FIFO], err));
    GBSI_TRY(show_splashes(&a->coupled, side, &image[COUPLED], err));
    GBSI_TRY(
        gbs_image_from_levels(a->adaptive.state, side, side, LAB_GREY_LEVELS, &image[STATE], err));
    GBSI_TRY(map_updates(a->adaptive.early, side, &image[EARLIEST], err));
    GBSI_TRY(map_updates(a->adaptive.updates, side, &image[UPDATES], err));
    GBSI_TRY(map_updates(a->random.updates, side, &image[RANDOM], err));
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
    lab_find(
        lab,
        LAB_JUDGE(adaptation_early, .early = a->adaptive.early_edge, .later = a->adaptive.edge),
        "in the first %u rounds the same pixels are updated %.2f times as often as others by "
        "splashes that grow by coupling (wanted 0.8 to 1.25, and later at least 1.5 times as "
        "much)",
        EARLY, a->adaptive.early_edge);
    lab_find(lab,
             LAB_JUDGE(adaptation_splashes, .touching = a->touching, .widest = a->widest,
                       .differ = a->differ),
             "of %u splashes of two rounds %u pairs of neighbouring pixels touch (wanted none); "
             "their largest separator has %u variables (wanted at most %d); %u of their cliques, "
             "made variable by variable, differ from those of elimination (wanted none)",
             a->n_splashes, a->touching, a->widest, WIDTH, a->differ);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates the memory of splashes once, before the first round. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "rng/words.h"
#include "splash/splash_inside.h"

/* The splashes of a round may grow at the same time only if all of them together can hold at most
 * the fraction 1 / CROWDED of the slots. */
#define CROWDED 4u
/* Least number of variables to which the size of splashes is lowered, so that they grow side by
 * side. Splashes of fewer variables would hardly be blocks, so smaller models keep the size. */
#define LEAST_SIZE 10u

/* Largest number of variables of a splash, unless lower_size() lowers it. */
static uint32_t most_of(const gbs_run_options *options, uint32_t n)
{
    const uint64_t size = options->splash_size == 0 ? GBSI_SPLASH_SIZE : options->splash_size;
    return size < n ? (uint32_t)size : n;
}

uint64_t gbsi_splash_bytes(const gbsi_pass_setting *setting)
{
    const gbsi_plan *plan = setting->plan;
    const gbs_run_options *options = setting->options;
    const uint32_t n = plan->n_slots;
    const uint32_t most = most_of(options, n);
    const uint32_t width = (uint32_t)options->width;
    const gbsi_long_counts many = gbsi_count_long(plan);
    const uint64_t shares = 4 * most * (many.n_ends / n + 1);
    const uint64_t of_block =
        gbsi_growth_bytes(width, most) + sizeof(block) +
        (uint64_t)most * (sizeof(gbsi_splash_clique) + 2 * sizeof(uint32_t) +
                          4 * sizeof(gbsi_splash_operand) + 4 * sizeof(gbsi_splash_outer)) +
        (shares < many.n_ends ? shares : many.n_ends) * sizeof(gbsi_growth_share);
    return gbsi_potentials_bytes(plan) + (uint64_t)n * (4 + 8 + 17 + 4 + 9) + many.n * 4 +
           options->splashes * of_block +
           setting->n_threads *
               (gbsi_grower_bytes(plan, options->grow) + gbsi_splash_work_bytes(plan, width, most) +
                2 * GBSI_LANES * sizeof(float) + sizeof(float *));
}

/* The first root in the largest component; GBSI_NONE if there is none. */
static uint32_t root_of_largest(const gbsi_splash *s)
{
    const gbsi_roots *roots = &s->roots[GBSI_REACH_INTERIOR];
    uint32_t root = GBSI_NONE;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < roots->n; ++i) {
        const uint32_t size = s->wholes.size[s->wholes.of[roots->order[i]]];
        root = size > largest ? roots->order[i] : root;
        largest = size > largest ? size : largest;
    }
    return root;
}

/* Whether a splash of at most `most` variables holds the largest component, but for a sixteenth.
 * Such a splash draws the component almost independently of all earlier states, which no number of
 * smaller splashes does. Grows one splash to find out. */
static gbs_status find_whole(gbsi_splash *s, const gbs_run_options *options, uint32_t most,
                             bool *whole, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_grower grower = {0};
    gbsi_growth growth = {0};
    const uint32_t root = root_of_largest(s);
    const int order = options->grow == GBS_GROW_FIFO ? GBS_GROW_FIFO : GBS_GROW_RANDOM;
    const gbsi_growing job = {.potentials = s->potentials,
                              .own = &s->own,
                              .first_tag = 1,
                              .order = order,
                              .seed = options->seed,
                              .turns = &s->turns,
                              .reach = GBSI_REACH_INTERIOR};
    *whole = false;
    if (root == GBSI_NONE || s->wholes.size[s->wholes.of[root]] > most) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_growth_init(&growth, (uint32_t)options->width, most, err));
    GBSI_TRY(gbsi_grower_init(&grower, s->potentials, order, err));
    GBSI_TRY(gbsi_grow(&grower, &job, 1, root, &growth, err));
    *whole = 16 * (uint64_t)growth.n >= 15 * (uint64_t)s->wholes.size[s->wholes.of[root]];
cleanup:
    gbsi_grower_free(&grower);
    gbsi_growth_free(&growth);
    return status;
}

/* Lowers the size of splashes that is not given by the user, so that the splashes of a round grow
 * side by side and at once: the first splash of a round would otherwise take most of the model. The
 * size stays if it is large enough for the largest component, or if splashes must hold variables
 * that hard zeros join. */
static gbs_status lower_size(gbsi_splash *s, const gbs_run_options *options, uint32_t *most,
                             gbs_error *err)
{
    const uint32_t size = (uint32_t)(s->potentials->n / (CROWDED * options->splashes));
    bool whole = false;
    if (options->splash_size != 0 || size < LEAST_SIZE || size >= *most || s->zeros.n_open > 0) {
        return GBS_OK;
    }
    GBSI_PASS(find_whole(s, options, *most, &whole, err));
    *most = whole ? *most : size;
    return GBS_OK;
}

static gbs_status take_blocks(gbsi_splash *s, const gbs_run_options *options, gbs_error *err)
{
    const uint32_t n = s->potentials->n;
    uint32_t most = most_of(options, n);
    GBSI_PASS(lower_size(s, options, &most, err));
    s->most = most;
    s->most_blocks = (uint32_t)(options->splashes < n ? options->splashes : n);
    s->block = gbsi_alloc_array_zero(s->most_blocks, sizeof *s->block);
    s->fresh = gbsi_alloc_array_zero(s->most_blocks, 1);
    s->worker = gbsi_alloc_array_zero(s->n_workers, sizeof *s->worker);
    s->team = (gbsi_splash_team){
        .pool = s->setting.pool,
        .n = s->n_workers,
        .partial = gbsi_alloc_array_zero(s->n_workers, sizeof *s->team.partial),
        .extreme = gbsi_alloc_lanes((size_t)s->n_workers * 2 * GBSI_LANES, sizeof(float))};
    GBSI_PASS(
        GBSI_HAVE(err, "splash", s->block, s->fresh, s->worker, s->team.partial, s->team.extreme));
    for (uint32_t i = 0; i < s->most_blocks; ++i) {
        GBSI_PASS(gbsi_growth_init(&s->block[i].growth, (uint32_t)options->width, most, err));
    }
    for (uint32_t w = 0; w < s->n_workers; ++w) {
        GBSI_PASS(gbsi_grower_init(&s->worker[w].grower, s->potentials, options->grow, err));
        GBSI_PASS(gbsi_splash_work_init(&s->worker[w].work, s->potentials, (uint32_t)options->width,
                                        most, err));
        s->team.partial[w] = s->worker[w].work.partial;
        s->worker[w].loops = gbsi_splash_loops_of(s->setting.level);
        s->worker[w].words = gbsi_words_of(s->setting.level);
    }
    s->crowded = (uint64_t)s->most_blocks * most > n / CROWDED;
    return GBS_OK;
}

/* Makes a ring of roots for each reach, whose roots are the slots of this reach. */
static gbs_status take_roots(gbsi_splash *s, const gbs_run_options *options, gbs_error *err)
{
    const uint32_t most = (uint32_t)options->splashes;
    for (int reach = GBSI_REACH_INTERIOR; reach <= GBSI_REACH_BOUNDARY; ++reach) {
        GBSI_PASS(gbsi_roots_init(&s->roots[reach], s->potentials->n, &s->turns, (gbsi_reach)reach,
                                  most, options->seed, err));
    }
    return GBS_OK;
}

static gbs_status take_slots(gbsi_splash *s, const gbs_run_options *options, gbs_error *err)
{
    const uint32_t n = s->potentials->n;
    const uint32_t n_long = s->potentials->n_long;
    s->own.owner = gbsi_alloc_array_zero(n, sizeof *s->own.owner);
    s->own.of_long = gbsi_alloc_array_zero(n_long, sizeof *s->own.of_long);
    s->own.number = gbsi_alloc_array(n, sizeof *s->own.number);
    s->view = gbsi_alloc_array_zero(s->n_bundles, sizeof *s->view);
    GBSI_PASS(GBSI_HAVE(err, "splash", s->own.owner, s->own.of_long, s->own.number, s->view));
    if (options->locking == GBS_LOCKING_BLANKET) {
        s->lock = gbsi_alloc_array_zero((size_t)n + n_long, sizeof *s->lock);
        GBSI_PASS(GBSI_HAVE(err, "splash", s->lock));
    }
    GBSI_PASS(take_roots(s, options, err));
    GBSI_PASS(gbsi_zeros_init(&s->zeros, s->setting.plan, err));
    return gbsi_wholes_init(&s->wholes, s->setting.plan, err);
}

static void take_views(gbsi_splash *s)
{
    const gbsi_pass_setting *setting = &s->setting;
    for (uint32_t b = 0; b < s->n_bundles; ++b) {
        const uint32_t left = setting->n_chains - b * GBSI_LANES;
        gbsi_splash_view *view = &s->view[b];
        view->lanes = setting->lanes;
        view->n = left < GBSI_LANES ? left : GBSI_LANES;
        view->value_bytes = setting->plan->value_bytes;
        for (uint32_t g = 0; g < (setting->lanes == 1 ? view->n : 1); ++g) {
            view->state[g] = setting->group[b * (setting->lanes == 1 ? GBSI_LANES : 1) + g].state;
        }
    }
}

gbs_status gbsi_splash_prepare(const gbsi_pass_setting *setting, void **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run_options *options = setting->options;
    gbsi_splash *s = gbsi_alloc_zero(sizeof *s);
    GBSI_PASS(GBSI_HAVE(err, "splash", s));
    s->setting = *setting;
    s->setting.options = NULL;
    s->seed = options->seed;
    s->order = options->grow;
    s->score = options->score;
    s->adapt = options->adapt;
    s->next_tag = 1;
    s->turns = setting->turns != NULL ? *setting->turns : (gbsi_turns){.n_ranks = 1, .n = 1};
    s->n_workers = gbsi_pool_size(setting->pool);
    s->n_bundles = (setting->n_chains + GBSI_LANES - 1) / GBSI_LANES;
    GBSI_TRY(gbsi_potentials_new(setting->plan, &s->potentials, err));
    GBSI_TRY(take_slots(s, options, err));
    GBSI_TRY(take_blocks(s, options, err));
    take_views(s);
    *out = s;
    s = NULL;
cleanup:
    gbsi_splash_free(s);
    return status;
}

void gbsi_splash_free(void *state)
{
    gbsi_splash *s = state;
    if (s == NULL) {
        return;
    }
    for (uint32_t i = 0; s->block != NULL && i < s->most_blocks; ++i) {
        gbsi_growth_free(&s->block[i].growth);
        gbsi_splash_program_free(&s->block[i].program);
    }
    for (uint32_t w = 0; s->worker != NULL && w < s->n_workers; ++w) {
        gbsi_grower_free(&s->worker[w].grower);
        gbsi_splash_work_free(&s->worker[w].work);
    }
    GBSI_FREE(s->block, s->fresh, s->worker, s->view, s->own.owner, s->own.of_long, s->own.number,
              s->lock, s->team.partial, s->team.extreme);
    gbsi_roots_free(&s->roots[GBSI_REACH_INTERIOR]);
    gbsi_roots_free(&s->roots[GBSI_REACH_BOUNDARY]);
    gbsi_zeros_free(&s->zeros);
    gbsi_wholes_free(&s->wholes);
    gbsi_potentials_free(s->potentials);
    gbsi_free(s);
}

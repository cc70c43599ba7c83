/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of a run: its progress, every draw, and how to stop it. A noisy picture of
 * spins is sampled until 2000 draws were seen; the mean spin is averaged on the way.
 *
 *     cc callbacks.c $(pkg-config --cflags --libs gibbsite) -o callbacks && ./callbacks */
#include <stdio.h>
#include <stdlib.h>

#include <gibbsite/generate.h>
#include <gibbsite/gibbsite.h>

#define SIDE   24
#define ENOUGH 2000

typedef struct watcher {
    uint64_t n_draws;
    double spins; /* sum of the mean spins of all draws */
} watcher;

static void check(gbs_status status, const gbs_error *err)
{
    if (status < 0) {
        (void)fprintf(stderr, "%s\n", err->message);
        exit(1);
    }
}

/* From time to time. Nonzero stops the run: a real program would look at a flag here. */
static int progress(void *context, const gbs_progress *p)
{
    const watcher *w = context;
    if (!p->burning_in) {
        (void)fprintf(stderr, "pass %llu\r", (unsigned long long)p->pass);
    }
    return w->n_draws >= ENOUGH;
}

/* Every kept draw: state[v] is the state of variable v in this chain. */
static gbs_status draw(void *context, uint64_t number, uint32_t chain, double log_density,
                       const uint32_t *state, gbs_error *err)
{
    watcher *w = context;
    double sum = 0.0;
    (void)number, (void)chain, (void)log_density, (void)err;
    for (uint32_t v = 0; v < SIDE * SIDE; ++v) {
        sum += state[v] == 1 ? 1.0 : -1.0;
    }
    w->spins += sum / (SIDE * SIDE);
    w->n_draws++;
    return GBS_OK; /* a negative status would end the run with an error */
}

int main(void)
{
    const gbs_generate_ising_options grid = {
        .side = {SIDE, SIDE, 1}, .coupling = 0.3, .field = 0.05};
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    watcher w = {0, 0.0};
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &w, .progress = progress, .draw = draw};
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = 4;
    options.sweeps = 1000000; /* far more than are waited for */
    check(gbs_generate_ising(&grid, &model, &err), &err);
    check(gbs_run_new(model, NULL, &options, &run, &err), &err);
    const gbs_status status = gbs_run_execute(run, &callbacks, &err);
    check(status, &err);
    (void)printf("%s after %llu draws or more, mean spin %.2f\n",
                 status == GBS_STOPPED ? "stopped" : "finished", (unsigned long long)ENOUGH,
                 w.spins / (double)w.n_draws);
    gbs_run_free(run);
    gbs_model_free(model);
    return status != GBS_STOPPED || w.n_draws < ENOUGH;
}

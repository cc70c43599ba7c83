/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chains/run.h"
#include "gibbsite/denoise.h"
#include "timing.h"

static const struct {
    const char *name, *text;
    uint32_t side, levels, neighbours;
    bool has_model; /* whether the picture's model is compared too; a model takes about 500 bytes
                       for each pixel */
} cases[] = {
    {"levels/cache", "256 x 256 pixels of 8 levels", 256, 8, 4, true},
    {"levels/memory", "2048 x 2048 pixels of 8 levels", 2048, 8, 4, false},
    {"levels-diagonal/cache", "256 x 256 pixels of 8 levels, 8 neighbours", 256, 8, 8, true},
    {"levels-many/cache", "128 x 128 pixels of 64 levels", 128, 64, 4, true},
};

enum { LEVELS_ALONE, LEVELS_AVERAGED, MODEL, N_KINDS };

typedef struct subject {
    gbs_model *model[N_KINDS];
    gbs_run *run[N_KINDS]; /* NULL if this kind is not compared */
    uint64_t pass;
} subject;

static gbs_image picture_of(uint32_t side)
{
    gbs_error err = {0};
    gbs_image image = {0};
    uint64_t stream = 88172645463325252U;
    bench_must(gbs_image_new(GBS_IMAGE_GREY, side, side, 255, 0, &image, &err), &err);
    for (size_t i = 0; i < (size_t)side * side; ++i) {
        stream ^= stream << 13;
        stream ^= stream >> 7;
        stream ^= stream << 17;
        image.sample[i] = (uint16_t)(stream >> 56);
    }
    return image;
}

static void start(subject *s, size_t i, int kind)
{
    gbs_error err = {0};
    gbs_image image = picture_of(cases[i].side);
    gbs_denoise_options how = {.size = sizeof how,
                               .levels = cases[i].levels,
                               .noise = GBS_NOISE_GAUSS,
                               .noise_level = 0.125 * cases[i].levels,
                               .coupling = 0.5,
                               .neighbours = cases[i].neighbours};
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.lattice = kind == MODEL ? GBS_LATTICE_NEVER : GBS_LATTICE_ALWAYS;
    options.chains = kind == MODEL ? 16 : 4;
    options.threads = 1;
    options.burn_in = 0;
    options.sweeps = 1;
    bench_must(gbs_denoise_run(&image, &how, &options, &s->model[kind], &s->run[kind], &err), &err);
    bench_must(gbs_run_execute(s->run[kind], NULL, &err),
               &err); /* this call draws states and makes one pass */
    s->run[kind]->sampling.engine.executor.watch = NULL; /* the watch belonged to the call above */
    gbs_image_free(&image);
}

/* @return million levels of sites per second. */
static double time_passes(subject *s, int kind, double levels, uint64_t passes)
{
    gbs_error err = {0};
    gbs_run *run = s->run[kind];
    gbsi_estimate *estimate = kind == LEVELS_ALONE ? NULL : run->sampling.estimates.estimate;
    const double start_s = bench_now_s(1);
    for (uint64_t i = 0; i < passes; ++i) {
        bench_must(gbsi_executor_pass(&run->sampling.engine.executor,
                                      &run->sampling.engine.schedule, ++s->pass, estimate, true,
                                      &err),
                   &err);
    }
    return levels * run->sampling.engine.executor.n_chains * (double)passes /
           (bench_now_s(1) - start_s) / 1e6;
}

static void measure(const bench_report *report, size_t i, subject *s, double seconds)
{
    double rate[N_KINDS][BENCH_REPEATS] = {{0}};
    const double levels = (double)cases[i].side * cases[i].side * cases[i].levels;
    bench_spread spread[N_KINDS];
    for (int repeat = -1; repeat < BENCH_REPEATS; ++repeat) { /* repeat -1 is a warm-up */
        for (int kind = 0; kind < N_KINDS; ++kind) {
            if (s->run[kind] != NULL) {
                const double each = levels * s->run[kind]->sampling.engine.executor.n_chains;
                const uint64_t passes = 1 + (uint64_t)(seconds * 1e9 / each);
                rate[kind][repeat < 0 ? 0 : repeat] = time_passes(s, kind, levels, passes);
            }
        }
    }
    for (int kind = 0; kind < N_KINDS; ++kind) {
        spread[kind] = bench_spread_of(rate[kind]);
    }
    const bench_spread *averaged = &spread[LEVELS_AVERAGED];
    bench_tell(report, "%-24s %9.0f %9.0f %9.0f..%-9.0f %9.0f", cases[i].name,
               spread[LEVELS_ALONE].median, averaged->median, averaged->low, averaged->high,
               spread[MODEL].median);
    bench_record(report, "levels",
                 "\"case\":\"%s\",\"model\":\"%s\",\"levels\":%u,\"repeats\":%d,\"none\":%.1f,"
                 "\"averaged\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f},\"of_model\":%.1f",
                 cases[i].name, cases[i].text, cases[i].levels, BENCH_REPEATS,
                 spread[LEVELS_ALONE].median, averaged->median, averaged->low, averaged->high,
                 spread[MODEL].median);
}

static bool wanted(size_t i, bool quick, const char *only)
{
    return strstr(cases[i].name, only) != NULL && !(quick && !cases[i].has_model);
}

void bench_levels(const bench_report *report, bool quick, const char *only)
{
    bool headed = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        subject s = {.pass = 1};
        if (!wanted(i, quick, only)) {
            continue;
        }
        if (!headed) {
            bench_tell(report, "\nPictures level by level: million levels of sites a second, four "
                               "chains; of the model, sixteen");
            bench_tell(report, "%-24s %9s %9s %20s %9s", "case", "alone", "averaged", "range",
                       "model");
            headed = true;
        }
        for (int kind = 0; kind < N_KINDS; ++kind) {
            if (kind != MODEL || cases[i].has_model) {
                start(&s, i, kind);
            }
        }
        measure(report, i, &s, quick ? 0.02 : 0.15);
        for (int kind = 0; kind < N_KINDS; ++kind) {
            gbs_run_free(s.run[kind]);
            gbs_model_free(s.model[kind]);
        }
    }
}

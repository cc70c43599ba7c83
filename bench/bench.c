/* SPDX-License-Identifier: Apache-2.0 */
/* How many variable updates a second does each class do, against a plain scalar loop over the same
 * packed model?
 *
 *     bench [--quick] [--json] [--case TEXT] [MODEL]
 *
 * One line per case: median and range of five or more repeats after a warm-up, and the ratio to the
 * scalar loop, timed in turn with it so that a noisy machine disturbs both. --json prints one
 * object per line instead. The case "load" is another question, see load.c. What is timed was
 * checked: the suites hold the same kernels to exact answers. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gibbsite/gibbsite.h"
#include "load.h"
#include "sampler/run.h"

#define REPEATS        5
#define WARM_UP_PASSES 256 /* past the short first batches of the estimator */

typedef struct bench_case {
    const char *name;
    gbs_model *(*make)(void);
    uint32_t chains;
    gbs_estimator_kind estimator;
} bench_case;

static void must(gbs_status status, const gbs_error *err)
{
    if (status < 0) {
        (void)fprintf(stderr, "bench: %s\n", err->message);
        exit(1);
    }
}

/* ---- models ---------------------------------------------------------------------------------- */

static gbs_model *grid(uint32_t side)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_ising_options options = {.side = {side, side, 1},
                                                .torus = 1,
                                                .coupling = 0.2,
                                                .coupling_spread = 0.1,
                                                .random_field = 0.2,
                                                .seed = 1};
    must(gbs_generate_ising(&options, &model, &err), &err);
    return model;
}

static gbs_model *grid_512(void)
{
    return grid(512);
}

static gbs_model *grid_64(void)
{
    return grid(64);
}

static gbs_model *potts_200(void)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_potts_options options = {
        .rows = 200, .columns = 200, .states = 5, .coupling = 1.0, .noise = 1.0, .seed = 1};
    must(gbs_generate_potts(&options, &model, &err), &err);
    return model;
}

/* The size of ALARM: 37 variables of 2 to 4 states with up to 3 parents. */
static gbs_model *bayes_37(void)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_bayes_options options = {
        .variables = 37, .parents = 3, .min_states = 2, .max_states = 4, .seed = 1};
    must(gbs_generate_bayes(&options, &model, &err), &err);
    return model;
}

static const char *model_path;

static gbs_model *from_file(void)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    must(gbs_model_read(model_path, NULL, &model, &err), &err);
    return model;
}

/* ---- the scalar loop ------------------------------------------------------------------------- */

typedef struct scalar {
    const gbsi_plan *plan;
    uint16_t *x; /* by slot */
    uint64_t rng;
    float *weight; /* [max_arity] */
    uint64_t *count;
} scalar;

static float next_uniform(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (float)(*s >> 40) * 0x1p-24F;
}

/* Log-weights of one slot, the straightforward way. */
static void scalar_logw(scalar *m, uint32_t slot)
{
    const gbsi_plan *p = m->plan;
    const uint32_t k = (gbsi_plan_form(p, slot) & GBSI_ODDS) != 0 ? 1 : gbsi_plan_arity(p, slot);
    const float *field = p->field + gbsi_offset(&p->field_start, slot);
    const gbsi_row row = gbsi_plan_row(p, slot);
    const size_t term_end = p->term == NULL ? 0 : gbsi_offset(&p->term_start, slot + (size_t)1);
    for (uint32_t a = 0; a < k; ++a) {
        m->weight[a] = field[a];
    }
    for (size_t e = 0; e < row.n; ++e) {
        const uint32_t x = m->x[row.slot[e]];
        if (gbsi_plan_class(p, slot) == GBSI_CLASS_PAIRWISE) {
            for (uint32_t a = 0; a < k; ++a) {
                m->weight[a] += p->pool[row.base[e] + (size_t)x * k + a];
            }
        } else { /* one coupling for all: the first entry of its table */
            const uint32_t table = gbsi_plan_by_count(p, slot);
            const float w = table == GBSI_NONE ? row.coupling[e]
                                               : p->pool[table + 1] - p->pool[table];
            m->weight[k == 1 ? 0 : x] += k == 1 ? w * (float)x : w;
        }
    }
    for (size_t t = p->term == NULL ? 0 : gbsi_offset(&p->term_start, slot); t < term_end; ++t) {
        size_t index = p->term[t].base;
        for (uint32_t i = 0; i < p->term[t].n; ++i) {
            const gbsi_link *link = &p->link[p->term[t].first + i];
            index += (size_t)link->aux * m->x[link->slot];
        }
        for (uint32_t a = 0; a < k; ++a) {
            m->weight[a] += p->pool[index + a];
        }
    }
}

static void scalar_pass(scalar *m)
{
    const gbsi_plan *p = m->plan;
    for (uint32_t slot = 0; slot < p->n_slots; ++slot) {
        scalar_logw(m, slot);
        const float u = next_uniform(&m->rng);
        uint32_t value = 0;
        if ((gbsi_plan_form(p, slot) & GBSI_ODDS) != 0) {
            value = u * (1.0F + expf(-m->weight[0])) < 1.0F;
        } else {
            float total = 0.0F;
            for (uint32_t a = 0; a < gbsi_plan_arity(p, slot); ++a) {
                total += expf(m->weight[a]);
                m->weight[a] = total;
            }
            while (value + 1 < gbsi_plan_arity(p, slot) && m->weight[value] <= u * total) {
                ++value;
            }
        }
        m->x[slot] = (uint16_t)value;
        m->count[slot] += value;
    }
}

/* The loop reads logarithms: a plan without linear slots, otherwise the same. */
static gbsi_plan *plan_of_logs(const gbs_run *run)
{
    gbs_error err = {0};
    gbsi_plan *plan = NULL;
    uint32_t *sequence = calloc(run->plan->n_slots, sizeof *sequence);
    for (uint32_t slot = 0; sequence != NULL && slot < run->plan->n_slots; ++slot) {
        sequence[slot] = run->plan->variable_of[slot];
    }
    must(sequence == NULL
             ? GBS_ERR_MEMORY
             : gbsi_plan_new(run->part, run->graph, sequence, run->plan->n_slots,
                             (gbsi_plan_options){.repeats = true, .heated = true}, &plan, &err),
         &err);
    free(sequence);
    return plan;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct figures {
    double ours[REPEATS], scalar[REPEATS]; /* million updates a second, sorted */
    uint32_t n_variables;
    const char *class_name;
} figures;

static double time_ours(gbs_run *run, uint64_t passes, uint64_t *pass)
{
    gbs_error err = {0};
    const double start_s = gbsi_clock_s();
    for (uint64_t i = 0; i < passes; ++i) {
        must(gbsi_executor_pass(&run->executor, &run->schedule, (*pass)++, run->estimate,
                                run->rao_blackwell, &err),
             &err);
    }
    const double updates = (double)(run->schedule.n_places * run->executor.n_chains * passes);
    return updates / (gbsi_clock_s() - start_s) / 1e6;
}

static double time_scalar(scalar *m, uint64_t passes)
{
    const double start_s = gbsi_clock_s();
    for (uint64_t i = 0; i < passes; ++i) {
        scalar_pass(m);
    }
    return (double)m->plan->n_slots * (double)passes / (gbsi_clock_s() - start_s) / 1e6;
}

static uint64_t passes_for(double seconds, double million_per_s, double updates_per_pass)
{
    const double passes = seconds * million_per_s * 1e6 / updates_per_pass;
    return passes < 1.0 ? 1 : (uint64_t)passes;
}

static figures measure(const bench_case *c, bool quick)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    figures found = {0};
    const double seconds = quick ? 0.05 : 0.4;
    gbs_model *model = c->make();
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = c->chains;
    options.estimator = (int)c->estimator;
    options.threads = 1;
    options.burn_in = 0;
    options.sweeps = 1;
    must(gbs_run_new(model, NULL, &options, &run, &err), &err);
    must(gbs_run_execute(run, NULL, &err), &err);
    gbsi_plan *logs = plan_of_logs(run);
    scalar m = {.plan = logs, .rng = 88172645463325252U};
    m.x = calloc(run->plan->n_slots, sizeof *m.x);
    m.count = calloc(run->plan->n_slots, sizeof *m.count);
    m.weight = calloc(run->plan->max_arity, sizeof *m.weight);
    if (m.x == NULL || m.count == NULL || m.weight == NULL) {
        exit(1);
    }
    uint64_t pass = 1;
    (void)time_ours(run, quick ? 1 : WARM_UP_PASSES, &pass);
    const double per_pass = (double)run->schedule.n_places;
    const uint64_t n_ours = passes_for(seconds, time_ours(run, 2, &pass), per_pass * c->chains);
    const uint64_t n_scalar = passes_for(seconds / 2, time_scalar(&m, 2), per_pass);
    for (int i = 0; i < REPEATS; ++i) {
        found.ours[i] = time_ours(run, n_ours, &pass);
        found.scalar[i] = time_scalar(&m, n_scalar);
    }
    qsort(found.ours, REPEATS, sizeof(double), by_value);
    qsort(found.scalar, REPEATS, sizeof(double), by_value);
    found.n_variables = run->plan->n_slots;
    unsigned most = 0;
    for (unsigned k = 1; k < GBSI_N_CLASSES; ++k) {
        most = run->plan->n_of_class[k] > run->plan->n_of_class[most] ? k : most;
    }
    found.class_name = gbs_class_name(most);
    free(m.x);
    free(m.count);
    free(m.weight);
    gbsi_plan_free(logs);
    gbs_run_free(run);
    gbs_model_free(model);
    return found;
}

static void print(const bench_case *c, const figures *f, bool json)
{
    const double ours = f->ours[REPEATS / 2];
    const double plain = f->scalar[REPEATS / 2];
    const char *estimator = c->estimator == GBS_ESTIMATOR_COUNT ? "count" : "rao-blackwell";
    if (json) {
        (void)printf("{\"case\":\"%s\",\"class\":\"%s\",\"variables\":%u,\"chains\":%u,"
                     "\"estimator\":\"%s\",\"simd\":\"%s\",\"threads\":1,\"seed\":1,"
                     "\"million_updates_per_s\":%.1f,\"min\":%.1f,\"max\":%.1f,"
                     "\"scalar_million_updates_per_s\":%.1f,\"ratio\":%.2f,\"repeats\":%d,"
                     "\"compiler\":\"%s\",\"version\":\"%s\"}\n",
                     c->name, f->class_name, f->n_variables, c->chains, estimator, gbs_simd_name(),
                     ours, f->ours[0], f->ours[REPEATS - 1], plain, ours / plain, REPEATS,
                     __VERSION__, gbs_version());
    } else {
        (void)printf("%-22s %-9s %6u %-14s %9.1f  %8.1f .. %-8.1f %8.1f %7.1fx\n", c->name,
                     f->class_name, c->chains, estimator, ours, f->ours[0], f->ours[REPEATS - 1],
                     plain, ours / plain);
    }
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const bench_case cases[] = {
        {"grid 512x512", grid_512, 16, GBS_ESTIMATOR_COUNT},
        {"grid 512x512", grid_512, 16, GBS_ESTIMATOR_RAO_BLACKWELL},
        {"grid 64x64", grid_64, 16, GBS_ESTIMATOR_COUNT},
        {"grid 512x512", grid_512, 1, GBS_ESTIMATOR_COUNT},
        {"potts 200x200, 5", potts_200, 16, GBS_ESTIMATOR_COUNT},
        {"potts 200x200, 5", potts_200, 16, GBS_ESTIMATOR_RAO_BLACKWELL},
        {"bayes 37", bayes_37, 16, GBS_ESTIMATOR_COUNT},
        {"bayes 37", bayes_37, 16, GBS_ESTIMATOR_RAO_BLACKWELL},
    };
    const char *only = "";
    bool quick = false;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--case") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (argv[i][0] != '-') {
            model_path = argv[i];
        } else {
            (void)fprintf(stderr, "usage: bench [--quick] [--json] [--case TEXT] [MODEL]\n");
            return 2;
        }
    }
    if (!json) {
        (void)printf("million updates a second on one core, %s; median of %d, range, plain scalar "
                     "loop, ratio\n",
                     gbs_simd_name(), REPEATS);
    }
    for (size_t i = 0; model_path == NULL && i < sizeof cases / sizeof cases[0]; ++i) {
        if (strstr(cases[i].name, only) != NULL) {
            const figures f = measure(&cases[i], quick);
            print(&cases[i], &f, json);
        }
    }
    if (model_path == NULL && strstr("load", only) != NULL) {
        bench_load(quick, json);
    }
    for (int e = 0; model_path != NULL && e < 2; ++e) {
        const bench_case c = {model_path, from_file, 16,
                              e == 0 ? GBS_ESTIMATOR_COUNT : GBS_ESTIMATOR_RAO_BLACKWELL};
        const figures f = measure(&c, quick);
        print(&c, &f, json);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "scale.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_models.h"
#include "chains/run.h"
#include "gibbsite/info.h"
#include "timing.h"

#define SWEEPS 4

typedef struct scale_case {
    const char *name, *text;
    bool graph; /* true: a random graph; false: a square torus with one coupling */
    int lattice;
} scale_case;

static const scale_case cases[] = {
    {"scale/graph", "random graph of degree 4, a coupling of its own on every edge", true,
     GBS_LATTICE_NEVER},
    {"scale/grid", "torus, one coupling", false, GBS_LATTICE_NEVER},
    {"scale/lattice", "torus, one coupling, bit by bit", false, GBS_LATTICE_ALWAYS},
};

/* Figures of a child process: seconds of processor time, and sizes in bytes. */
typedef struct outcome {
    int status;
    uint32_t n_variables;
    double generate_s, write_s, load_s, info_s, compile_s, run_s;
    double updates;
    uint64_t file, model, plan, states, estimators, predicted, peak;
} outcome;

typedef struct job {
    const scale_case *c;
    const char *path;
    uint32_t n_variables, chains;
    int estimator;
    outcome *out; /* memory that the child shares with its parent */
} job;

static double lap(double *since)
{
    const double now = bench_now_s(1);
    const double seconds = now - *since;
    *since = now;
    return seconds;
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* ---- steps, each in an own process ----------------------------------------------------------- */

static gbs_model *make(const job *j)
{
    return bench_model(j->c->graph ? BENCH_REGULAR : BENCH_UNIFORM,
                       j->c->graph ? j->n_variables : (uint32_t)sqrt(j->n_variables) / 2 * 2);
}

static void generate(const job *j)
{
    gbs_error err = {0};
    double at = bench_now_s(1);
    gbs_model *model = make(j);
    j->out->generate_s = lap(&at);
    bench_must(gbs_model_write(model, j->path, NULL, &err), &err);
    j->out->write_s = lap(&at);
    j->out->n_variables = gbs_model_n_variables(model);
    gbs_model_free(model);
}

static gbs_run_options options_of(const job *j)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.estimator = j->estimator;
    options.lattice = j->c->lattice;
    options.chains = j->chains;
    options.threads = 1;
    options.burn_in = 0;
    options.sweeps = SWEEPS;
    return options;
}

static void look(const job *j)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_info info = {.size = sizeof info};
    const gbs_run_options options = options_of(j);
    double at = bench_now_s(1);
    bench_must(gbs_model_read(j->path, NULL, &model, &err), &err);
    j->out->load_s = lap(&at);
    j->out->peak = peak_bytes();
    bench_must(gbs_model_info(model, NULL, &options, &info, &err), &err);
    j->out->info_s = lap(&at);
    j->out->model = info.model_bytes;
    gbs_model_free(model);
}

/* Reads all marginals, as a program would. The predicted memory includes them. */
static void take_marginals(const gbs_model *model, const gbs_run *run)
{
    gbs_error err = {0};
    const size_t n = gbs_model_state_offsets(model)[gbs_model_n_variables(model)];
    double *p = bench_alloc(n, 4 * sizeof *p);
    bench_must(gbs_run_marginals(run, p, p + n, p + 2 * n, p + 3 * n, &err), &err);
    free(p);
}

static void sample(const job *j)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_run *run = NULL;
    const gbs_run_options options = options_of(j);
    double at = bench_now_s(1);
    bench_must(gbs_model_read(j->path, NULL, &model, &err), &err);
    j->out->load_s = lap(&at);
    j->out->status = gbs_run_new(model, NULL, &options, &run, &err);
    if (j->out->status == GBS_ERR_LIMIT) {
        gbs_model_free(model);
        return;
    }
    bench_must(j->out->status, &err);
    j->out->compile_s = lap(&at);
    bench_must(gbs_run_execute(run, NULL, &err), &err);
    j->out->run_s = lap(&at);
    if (j->estimator != GBS_ESTIMATOR_TRACES) {
        take_marginals(model, run);
    }
    j->out->updates = (double)gbs_run_report(run)->updates;
    j->out->plan = run->memory.plan;
    j->out->states = run->memory.states;
    j->out->estimators = run->memory.estimators;
    j->out->predicted = gbs_run_report(run)->predicted_bytes;
    j->out->peak = peak_bytes();
    gbs_run_free(run);
    gbs_model_free(model);
}

static outcome in_a_process(job *j, void (*step)(const job *))
{
    int status = 0;
    memset(j->out, 0, sizeof *j->out);
    (void)fflush(NULL);
    const pid_t child = fork();
    bench_check(child >= 0, "no process could be made");
    if (child == 0) {
#ifdef M_MMAP_THRESHOLD
        /* the program has this setting too: freed memory returns to the system */
        (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
        step(j);
        _exit(0);
    }
    bench_check(waitpid(child, &status, 0) == child && status == 0, "%s failed", j->c->name);
    return *j->out;
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void tell_load(const bench_report *report, const job *j, const outcome *made,
                      const outcome *read)
{
    const double n = made->n_variables;
    bench_tell(report,
               "%-24s %9.0f variables: generated in %.1f s, written in %.1f s, read in %.2f s, "
               "info %.2f s; model %.0f bytes each",
               j->c->name, n, made->generate_s, made->write_s, read->load_s, read->info_s,
               (double)read->model / n);
    bench_record(report, "scale-load",
                 "\"case\":\"%s\",\"model\":\"%s\",\"variables\":%u,\"threads\":1,"
                 "\"repeats\":1,\"generate_s\":%.3f,\"write_s\":%.3f,\"load_s\":%.3f,"
                 "\"info_s\":%.3f,\"model_bytes\":%llu,\"load_peak_bytes\":%llu",
                 j->c->name, j->c->text, made->n_variables, made->generate_s, made->write_s,
                 read->load_s, read->info_s, (unsigned long long)read->model,
                 (unsigned long long)read->peak);
}

static void tell_run(const bench_report *report, const job *j, uint32_t n_variables,
                     const outcome *o)
{
    static const char *const estimator[] = {[GBS_ESTIMATOR_RAO_BLACKWELL] = "rao-blackwell",
                                            [GBS_ESTIMATOR_COUNT] = "count",
                                            [GBS_ESTIMATOR_TRACES] = "traces"};
    const double n = n_variables;
    if (o->status == GBS_ERR_LIMIT) {
        bench_tell(report, "  %2u chains, %-14s refused: memory limit", j->chains,
                   estimator[j->estimator]);
        return;
    }
    bench_tell(report,
               "  %2u chains, %-14s read + compiled in %5.1f s; plan %5.1f, states %5.1f, "
               "estimators %5.1f bytes each; peak %6.0f MiB, predicted %6.0f",
               j->chains, estimator[j->estimator], o->load_s + o->compile_s, (double)o->plan / n,
               (double)o->states / n, (double)o->estimators / n, (double)o->peak / 1048576,
               (double)o->predicted / 1048576);
    bench_record(report, "scale-run",
                 "\"case\":\"%s\",\"model\":\"%s\",\"estimator\":\"%s\",\"variables\":%u,"
                 "\"chains\":%u,\"threads\":1,\"repeats\":1,\"sweeps\":%d,\"load_s\":%.3f,"
                 "\"compile_s\":%.3f,\"run_s\":%.3f,\"updates\":%.0f,\"plan_bytes\":%llu,"
                 "\"state_bytes\":%llu,\"estimator_bytes\":%llu,\"predicted_bytes\":%llu,"
                 "\"peak_bytes\":%llu",
                 j->c->name, j->c->text, estimator[j->estimator], n_variables, j->chains, SWEEPS,
                 o->load_s, o->compile_s, o->run_s, o->updates, (unsigned long long)o->plan,
                 (unsigned long long)o->states, (unsigned long long)o->estimators,
                 (unsigned long long)o->predicted, (unsigned long long)o->peak);
}

static void one_case(const bench_report *report, job *j)
{
    static const uint32_t chains[] = {1, 16};
    const bool bits = j->c->lattice == GBS_LATTICE_ALWAYS;
    const int estimators[] = {bits ? GBS_ESTIMATOR_TRACES : GBS_ESTIMATOR_RAO_BLACKWELL,
                              GBS_ESTIMATOR_COUNT};
    j->chains = 16;
    j->estimator = estimators[0];
    const outcome made = in_a_process(j, generate);
    const outcome read = in_a_process(j, look);
    tell_load(report, j, &made, &read);
    for (size_t i = 0; i < 2; ++i) {
        for (size_t e = 0; e < 2; ++e) {
            j->chains = chains[i];
            j->estimator = estimators[e];
            const outcome ran = in_a_process(j, sample);
            tell_run(report, j, made.n_variables, &ran);
        }
    }
    (void)remove(j->path);
}

void bench_scale(const bench_report *report, uint32_t n_variables, const char *only)
{
    const char *base = getenv("TMPDIR");
    bool headed = false;
    char folder[512];
    char path[600];
    outcome *out =
        mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_check(out != MAP_FAILED, "no memory");
    (void)snprintf(folder, sizeof folder, "%s/gibbsite-bench-XXXXXX", base == NULL ? "/tmp" : base);
    bench_check(mkdtemp(folder) != NULL, "%s cannot be made", folder);
    (void)snprintf(path, sizeof path, "%s/model.gbm", folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (strstr(cases[i].name, only) == NULL) {
            continue;
        }
        if (!headed) {
            bench_tell(report, "\nMany variables: seconds of processor time, and memory");
            headed = true;
        }
        job j = {.c = &cases[i], .path = path, .n_variables = n_variables, .out = out};
        one_case(report, &j);
    }
    (void)rmdir(folder);
    (void)munmap(out, sizeof *out);
}

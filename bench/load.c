/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_models.h"
#include "check.h"

/* ---- reading --------------------------------------------------------------------------------- */

static gbs_model *read_model(const char *path, double *seconds)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const double start_s = bench_now_s(1);
    const gbs_status status = gbs_model_read(path, NULL, &model, &err);
    *seconds = bench_now_s(1) - start_s;
    bench_must(status, &err);
    return model;
}

static void time_file(const bench_report *report, const char *name, const char *path,
                      const gbs_model *written)
{
    double rate[BENCH_REPEATS];
    double seconds = 0;
    struct stat info;
    bench_check(stat(path, &info) == 0, "%s is not there", path);
    const double megabytes = (double)info.st_size / 1e6;
    for (int i = -1; i < BENCH_REPEATS; i++) { /* -1 is a warm-up */
        gbs_model *model = read_model(path, &seconds);
        bench_check(strcmp(gbs_model_digest(model), gbs_model_digest(written)) == 0,
                    "%s: another model came back", name);
        gbs_model_free(model);
        rate[i < 0 ? 0 : i] = megabytes / seconds;
    }
    const bench_spread s = bench_spread_of(rate);
    bench_tell(report, "%-24s %8.1f MB %12.0f  %8.0f..%-8.0f MB/s", name, megabytes, s.median,
               s.low, s.high);
    bench_record(report, "load",
                 "\"case\":\"%s\",\"threads\":1,\"megabytes\":%.1f,\"repeats\":%d,"
                 "\"megabytes_per_s\":{\"median\":%.1f,\"low\":%.1f,\"high\":%.1f}",
                 name, megabytes, BENCH_REPEATS, s.median, s.low, s.high);
}

void bench_load(const bench_report *report, bool quick, const char *only)
{
    const char *base = getenv("TMPDIR");
    gbs_error err = {0};
    char folder[512];
    char text[600];
    char native[600];
    double unused = 0;
    if (strstr("load/uai", only) == NULL && strstr("load/gbm", only) == NULL) {
        return;
    }
    bench_tell(report, "\nReading a model");
    (void)snprintf(folder, sizeof folder, "%s/gibbsite-bench-XXXXXX", base == NULL ? "/tmp" : base);
    bench_check(mkdtemp(folder) != NULL, "%s cannot be made", folder);
    (void)snprintf(text, sizeof text, "%s/grid.uai", folder);
    (void)snprintf(native, sizeof native, "%s/grid.gbm", folder);
    gbs_model *grid = bench_model(BENCH_ISING, quick ? 128 : 512);
    bench_must(gbs_model_write(grid, text, NULL, &err), &err);
    gbs_model_free(grid);
    /* the model whose tables either reader must give */
    gbs_model *tables = read_model(text, &unused);
    bench_must(gbs_model_write(tables, native, NULL, &err), &err);
    time_file(report, "load/uai", text, tables);
    time_file(report, "load/gbm", native, tables);
    gbs_model_free(tables);
    (void)remove(text);
    (void)remove(native);
    (void)rmdir(folder);
}

/* ---- compiling ------------------------------------------------------------------------------- */

typedef struct compile_case {
    const char *name;
    bench_family family;
    uint32_t size, chains;
} compile_case;

static void time_compile(const bench_report *report, const compile_case *c)
{
    gbs_model *model = bench_model(c->family, c->size);
    const gbs_run_options options = bench_engine_options(c->chains);
    double rate[BENCH_REPEATS];
    double bytes = 0.0;
    char text[128];
    bench_model_text(c->family, c->size, text, sizeof text);
    for (int i = -1; i < BENCH_REPEATS; ++i) { /* -1 is a warm-up, whose result is checked */
        bench_engine engine;
        const double start_s = bench_now_s(1);
        bench_engine_new(&engine, model, &options);
        const double seconds = bench_now_s(1) - start_s;
        rate[i < 0 ? 0 : i] = engine.run->task.problem.part->n_variables / seconds / 1e6;
        bytes = (double)engine.run->sampling.engine.plan->bytes /
                engine.run->task.problem.part->n_variables;
        if (i < 0) {
            bench_engine_start(&engine, 1);
            bench_check_engine(&engine, NULL);
        }
        bench_engine_free(&engine);
    }
    const bench_spread s = bench_spread_of(rate);
    bench_tell(report, "%-24s %9.2f  %8.2f..%-8.2f million variables a second, %.0f bytes each",
               c->name, s.median, s.low, s.high, bytes);
    bench_record(report, "compile",
                 "\"case\":\"%s\",\"model\":\"%s\",\"chains\":%u,\"threads\":1,\"repeats\":%d,"
                 "\"million_variables_per_s\":{\"median\":%.3f,\"low\":%.3f,\"high\":%.3f},"
                 "\"plan_bytes_per_variable\":%.1f",
                 c->name, text, c->chains, BENCH_REPEATS, s.median, s.low, s.high, bytes);
    gbs_model_free(model);
}

void bench_compile(const bench_report *report, bool quick, const char *only)
{
    const uint32_t less = quick ? 4 : 1; /* divisor of a side */
    const compile_case cases[] = {
        {"compile/ising/16c", BENCH_ISING, 1024 / less, 16},
        {"compile/ising/1c", BENCH_ISING, 1024 / less, 1},
        {"compile/potts/16c", BENCH_POTTS, 512 / less, 16},
        {"compile/pairwise/16c", BENCH_PAIRWISE, 512 / less, 16},
        {"compile/table/16c", BENCH_TABLE, 100000 / less / less, 16},
        {"compile/logical/16c", BENCH_LOGICAL, 300000 / less / less, 16},
    };
    bool headed = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (strstr(cases[i].name, only) != NULL) {
            if (!headed) {
                bench_tell(report,
                           "\nCompiling a model: conditioning, graph, colours, plan, schedule");
                headed = true;
            }
            time_compile(report, &cases[i]);
        }
    }
}

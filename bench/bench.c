/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast each part is, and how far from the limits of the machine.
 *
 *     bench [--quick] [--json FILE] [--case TEXT] [--variables N] [MODEL]
 *
 * The output is a table. --json also writes one JSON object in each line of FILE; if FILE is "-",
 * the objects go to standard output and no table is printed. --case selects cases by a part of
 * their names, such as "ising/", "memory/16c" or "/1t". A MODEL is timed in place of the generated
 * models. --variables sets the size of the "scale/" cases; the default is ten million. --quick
 * leaves out models larger than the cache and times briefly. It shows whether the benchmarks still
 * work, and its figures must not be quoted. tools/bench_report.py makes the tables and the picture
 * of docs/performance.md from the JSON lines. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_herded.h"
#include "bench_levels.h"
#include "bench_spins.h"
#include "bench_splash.h"
#include "bench_turns.h"
#include "ess.h"
#include "load.h"
#include "scale.h"
#include "throughput.h"
#include "timing.h"

/* Cases of bench_throughput(). Models of the class `lattice` have no tiles and their own table
 * in bench_spins.c. */
static const struct {
    const char *name;
    bench_family family;
    const char *size;
    uint32_t chains, model_size;
} cases[] = {
    {"ising", BENCH_ISING, "cache", 1, 512},
    {"ising", BENCH_ISING, "cache", 16, 512},
    {"ising", BENCH_ISING, "cache", 64, 256},
    {"ising", BENCH_ISING, "memory", 1, 4096},
    {"ising", BENCH_ISING, "memory", 16, 2048},
    {"ising", BENCH_ISING, "memory", 64, 1024},
    {"ising-random", BENCH_REGULAR, "memory", 1, 1000000},
    {"ising-random", BENCH_REGULAR, "memory", 16, 1000000},
    {"pairwise", BENCH_PAIRWISE, "cache", 1, 256},
    {"pairwise", BENCH_PAIRWISE, "cache", 16, 128},
    {"pairwise", BENCH_PAIRWISE, "cache", 64, 64},
    {"pairwise", BENCH_PAIRWISE, "memory", 1, 2048},
    {"pairwise", BENCH_PAIRWISE, "memory", 16, 1024},
    {"pairwise", BENCH_PAIRWISE, "memory", 64, 512},
    {"potts", BENCH_POTTS, "cache", 1, 200},
    {"potts", BENCH_POTTS, "cache", 16, 200},
    {"potts", BENCH_POTTS, "cache", 64, 100},
    {"potts", BENCH_POTTS, "memory", 1, 2048},
    {"potts", BENCH_POTTS, "memory", 16, 1024},
    {"potts", BENCH_POTTS, "memory", 64, 512},
    {"table", BENCH_TABLE, "cache", 1, 1000},
    {"table", BENCH_TABLE, "cache", 16, 37},
    {"table", BENCH_TABLE, "cache", 64, 37},
    {"table", BENCH_TABLE, "memory", 1, 1000000},
    {"table", BENCH_TABLE, "memory", 16, 300000},
    {"table", BENCH_TABLE, "memory", 64, 100000},
    {"logical", BENCH_LOGICAL, "cache", 1, 10000},
    {"logical", BENCH_LOGICAL, "cache", 16, 10000},
    {"logical", BENCH_LOGICAL, "cache", 64, 2000},
    {"logical", BENCH_LOGICAL, "memory", 1, 1000000},
    {"logical", BENCH_LOGICAL, "memory", 16, 500000},
    {"logical", BENCH_LOGICAL, "memory", 64, 200000},
    {"precise", BENCH_PRECISE, "cache", 1, 64},
    {"precise", BENCH_PRECISE, "cache", 16, 64},
    {"precise", BENCH_PRECISE, "cache", 64, 32},
    {"precise", BENCH_PRECISE, "memory", 1, 1024},
    {"precise", BENCH_PRECISE, "memory", 16, 512},
    {"precise", BENCH_PRECISE, "memory", 64, 256},
};

static void all_cases(const bench_report *report, bool quick, const char *only)
{
    bool headed = false;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[128];
        const bench_case c = {cases[i].name, cases[i].size, text, cases[i].chains};
        if (!bench_throughput_wanted(&c, only) || (quick && strcmp(c.size, "memory") == 0)) {
            continue;
        }
        if (!headed) {
            bench_throughput_heading(report);
            headed = true;
        }
        bench_model_text(cases[i].family, cases[i].model_size, text, sizeof text);
        gbs_model *model = bench_model(cases[i].family, cases[i].model_size);
        bench_throughput(report, &c, model, quick ? 0.02 : 0.15, only);
        gbs_model_free(model);
    }
}

static void one_file(const bench_report *report, const char *path, bool quick, const char *only)
{
    static const uint32_t chains[] = {1, 16, 64};
    gbs_error err = {0};
    gbs_model *model = NULL;
    bench_must(gbs_model_read(path, NULL, &model, &err), &err);
    bench_throughput_heading(report);
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; ++i) {
        const bench_case c = {"file", "as-is", path, chains[i]};
        if (bench_throughput_wanted(&c, only)) {
            bench_throughput(report, &c, model, quick ? 0.02 : 0.15, only);
        }
    }
    gbs_model_free(model);
}

static int usage(void)
{
    (void)fprintf(stderr,
                  "usage: bench [--quick] [--json FILE] [--case TEXT] [--variables N] [MODEL]\n");
    return 2;
}

int main(int argc, char **argv)
{
    bench_report report = {.table = stdout};
    const char *only = "";
    const char *json = NULL;
    const char *path = NULL;
    bool quick = false;
    uint32_t n_variables = BENCH_SCALE_VARIABLES;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--case") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--variables") == 0 && i + 1 < argc) {
            n_variables = (uint32_t)strtoul(argv[++i], NULL, 10);
        } else if (argv[i][0] != '-' && path == NULL) {
            path = argv[i];
        } else {
            return usage();
        }
    }
    if (json != NULL && strcmp(json, "-") == 0) {
        report = (bench_report){.json = stdout};
    } else if (json != NULL) {
        report.json = fopen(json, "w");
        bench_check(report.json != NULL, "%s cannot be written", json);
    }
    if (path != NULL) {
        one_file(&report, path, quick, only);
    } else {
        all_cases(&report, quick, only);
        bench_spins(&report, quick, only);
        bench_levels(&report, quick, only);
        bench_herded(&report, quick, only);
        bench_splash(&report, quick, only);
        bench_turns(&report, quick, only);
        bench_compile(&report, quick, only);
        bench_load(&report, quick, only);
        bench_ess(&report, quick, only);
        bench_scale(&report, quick ? n_variables / 100 : n_variables, only);
    }
    if (report.json != NULL) {
        bench_check(fclose(report.json) == 0, "%s could not be written", json);
    }
    return 0;
}

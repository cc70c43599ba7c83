/* SPDX-License-Identifier: Apache-2.0 */
/* How many megabytes of a model file are read in a second of processor time, as text and as the
 * native format? The file is in memory (the page cache), and what came in has the digest of what
 * went out. */
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gibbsite/gibbsite.h"

#define REPEATS 5

static void must(bool fine, const char *message)
{
    if (!fine) {
        (void)fprintf(stderr, "bench: %s\n", message);
        exit(1);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static gbs_model *read_model(const char *path, double *cpu_s)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const clock_t start = clock();
    const gbs_status status = gbs_model_read(path, NULL, &model, &err);
    *cpu_s = (double)(clock() - start) / CLOCKS_PER_SEC;
    must(status == GBS_OK, err.message);
    return model;
}

static void time_file(const char *name, const char *path, const char *digest, bool json)
{
    double rate[REPEATS];
    struct stat info;
    must(stat(path, &info) == 0, path);
    const double megabytes = (double)info.st_size / 1e6;
    for (int i = -1; i < REPEATS; i++) { /* -1: warm-up */
        double cpu_s = 0;
        gbs_model *model = read_model(path, &cpu_s);
        must(strcmp(gbs_model_digest(model), digest) == 0, "another model came back");
        gbs_model_free(model);
        rate[i < 0 ? 0 : i] = megabytes / cpu_s;
    }
    qsort(rate, REPEATS, sizeof *rate, by_value);
    if (json) {
        (void)printf("{\"case\":\"%s\",\"megabytes\":%.1f,\"megabytes_per_s\":%.0f,\"min\":%.0f,"
                     "\"max\":%.0f,\"simd\":\"%s\",\"threads\":1,\"seed\":1,\"repeats\":%d,"
                     "\"compiler\":\"%s\",\"version\":\"%s\"}\n",
                     name, megabytes, rate[REPEATS / 2], rate[0], rate[REPEATS - 1],
                     gbs_simd_name(), REPEATS, __VERSION__, gbs_version());
    } else {
        (void)printf("%-22s %6.1f MB %21.0f  %8.0f .. %-8.0f MB/s\n", name, megabytes,
                     rate[REPEATS / 2], rate[0], rate[REPEATS - 1]);
    }
    (void)fflush(stdout);
}

void bench_load(bool quick, bool json)
{
    const uint32_t side = quick ? 100 : 512;
    const gbs_generate_ising_options options = {.side = {side, side, 1},
                                                .coupling = 0.2,
                                                .coupling_spread = 0.1,
                                                .random_field = 0.2,
                                                .seed = 1};
    const char *base = getenv("TMPDIR");
    gbs_error err = {0};
    gbs_model *grid = NULL;
    gbs_model *tables = NULL;
    char folder[512];
    char text[600];
    char native[600];
    double unused = 0;
    (void)snprintf(folder, sizeof folder, "%s/gibbsite-bench-XXXXXX", base == NULL ? "/tmp" : base);
    must(mkdtemp(folder) != NULL, folder);
    (void)snprintf(text, sizeof text, "%s/grid.uai", folder);
    (void)snprintf(native, sizeof native, "%s/grid.gbm", folder);
    must(gbs_generate_ising(&options, &grid, &err) == GBS_OK, err.message);
    must(gbs_model_write(grid, text, NULL, &err) == GBS_OK, err.message);
    gbs_model_free(grid);
    tables = read_model(text, &unused); /* the same as tables: what both files are to hold */
    must(gbs_model_write(tables, native, NULL, &err) == GBS_OK, err.message);
    time_file("load uai", text, gbs_model_digest(tables), json);
    time_file("load gbm", native, gbs_model_digest(tables), json);
    gbs_model_free(tables);
    (void)remove(text);
    (void)remove(native);
    (void)rmdir(folder);
}
